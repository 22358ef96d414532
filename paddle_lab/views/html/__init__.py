"""HTML: the saved page, and the output that is shown where a widget cannot be shown."""
