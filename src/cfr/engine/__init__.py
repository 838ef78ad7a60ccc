"""Everything that performs calls."""
