"""Figures: values in, drawings out."""
