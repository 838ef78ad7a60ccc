"""Run a grid of methods and benchmarks: here, in batches, or on several machines."""
