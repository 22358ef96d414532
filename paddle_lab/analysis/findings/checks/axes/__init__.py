"""Checks of axes that were mixed up, and results that were lost."""
