"""What is said in text: summaries, reports, findings, checks and lines."""
