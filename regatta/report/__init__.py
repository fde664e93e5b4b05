"""From an analysis to what a person sees: tables, charts, a page and files."""
