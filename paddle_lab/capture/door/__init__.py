"""The only access to names that Paddle does not document, and to the features that need them."""

from paddle_lab.capture.door.door import DOOR, Door

__all__ = ["DOOR", "Door"]
