"""From runs to claims: statistics, audits, tables, figures and the report."""
