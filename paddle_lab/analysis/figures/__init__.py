"""Answers as Bokeh figures, for a report or a dashboard of the user's."""
