"""Checks of axes that were mixed up, and of results that nothing used."""
