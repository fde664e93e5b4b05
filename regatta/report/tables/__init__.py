"""The tables that the terminal, the page and summary.md share."""
