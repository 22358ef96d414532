"""The one door to what Paddle does not document: its names, and what is off without them."""

from paddle_lab.capture.door.door import DOOR, Door

__all__ = ["DOOR", "Door"]
