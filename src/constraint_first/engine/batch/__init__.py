"""Calls in batches: files of requests, files of results, and the API that takes and gives them."""
