"""``python -m constraint_first`` is ``cfr``."""

from constraint_first.cli import main

main()
