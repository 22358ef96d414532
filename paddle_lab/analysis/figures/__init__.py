"""Bokeh figures of a trace, for the user's reports and dashboards."""
