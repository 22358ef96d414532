"""Which Paddle Lab this is, as ``pyproject.toml`` says too."""

__version__ = "0.1.0"
