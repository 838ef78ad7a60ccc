"""The numbers, the table and the figure of one thing in one file."""
