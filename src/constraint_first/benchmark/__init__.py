"""Sets of problems: ConstraintBench, public benchmarks by name, and files of one's own."""

from constraint_first.benchmark.registry import Benchmark, load, names

__all__ = ["Benchmark", "load", "names"]
