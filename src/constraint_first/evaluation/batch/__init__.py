"""Evaluation in batches: waves of requests that are sent, waited for and collected."""
