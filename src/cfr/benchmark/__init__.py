"""Sets of problems: reading them from files."""
