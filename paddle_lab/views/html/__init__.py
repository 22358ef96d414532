"""Pages and outputs in HTML: the saved page, and the output that replaces a missing widget."""
