"""Tables and plots for a paper or a lab report, as Markdown, CSV, LaTeX and PDF."""
