"""Methods on benchmarks, at scale: the grid, the store that loses nothing, the runner."""
