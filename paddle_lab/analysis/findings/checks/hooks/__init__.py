"""Checks of hooks and wrappers that were bypassed."""
