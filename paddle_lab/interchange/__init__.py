"""Traces for other tools: Chrome's trace format, PyTorch's memory viewer, CSV."""
