"""One report of a study: a page, Markdown, LaTeX tables, figures."""
