"""The SQL store of series and attempts: schema, writer, queries."""
