"""The only access to undocumented names of Paddle, and the features that need such names."""

from paddle_lab.capture.door.door import DOOR, Door

__all__ = ["DOOR", "Door"]
