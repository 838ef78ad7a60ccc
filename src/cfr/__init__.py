"""Constraint-First: make language models respect what a problem demands of its answer."""
