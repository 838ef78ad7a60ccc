"""Paired tests, intervals, corrections, scores and agreement."""
