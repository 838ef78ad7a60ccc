"""ConstraintBench: problem families, the generator, gold constraints, verification."""
