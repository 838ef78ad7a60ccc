"""From stored runs to claims: study, statistics, exhibits and the report."""
