"""Views as text: summaries, reports, findings, checks and lines."""
