"""The web pages of a server: a playground, stored runs, comparisons, audits, the report."""
