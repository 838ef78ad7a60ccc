"""Sets of problems: reading them from files, and ConstraintBench, which is drawn from families."""
