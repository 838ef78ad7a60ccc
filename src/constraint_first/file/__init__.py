"""Reading and writing: JSON Lines, CSV and Parquet, atomic writes, text that is safe to print."""
