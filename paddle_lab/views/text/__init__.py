"""Views as text: summaries, reports, findings, the list of checks, and lines of code."""
