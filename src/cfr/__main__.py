"""``python -m cfr`` is ``cfr``."""

from cfr.cli import main

main()
