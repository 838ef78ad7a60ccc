"""Evaluation on a Ray cluster: it places workers and replaces them; the store remembers."""
