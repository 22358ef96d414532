# The twins in Python say what each part is for and what it takes.
from typing import Any

def __getattr__(name: str) -> Any: ...
