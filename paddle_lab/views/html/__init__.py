"""Pages and outputs in HTML: the saved page, and what stands where no widget is shown."""
