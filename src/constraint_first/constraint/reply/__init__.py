"""Demands on a whole reply: predicates over texts, and the reader that finds them in a request."""
