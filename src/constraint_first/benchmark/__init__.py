"""Sets of problems: ConstraintBench, public benchmarks by name, and the user's own files."""

from constraint_first.benchmark.registry import Benchmark, load, names

__all__ = ["Benchmark", "load", "names"]
