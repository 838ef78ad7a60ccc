"""Figures of the report, each from plain numbers and words (paper: its five figures, and more)."""
