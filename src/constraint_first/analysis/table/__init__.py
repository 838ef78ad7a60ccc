"""Tables: values in, rows out; and the numbers that the paper printed."""
