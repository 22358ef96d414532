"""Traces in formats of other tools: Chrome's trace format, PyTorch's memory viewer, CSV."""
