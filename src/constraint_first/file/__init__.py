"""Reading and writing: JSON lines, CSV, whole-or-nothing writes, text that is safe to print."""
