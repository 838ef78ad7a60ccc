"""Outcomes of runs as one value, whatever file or store they came from."""
