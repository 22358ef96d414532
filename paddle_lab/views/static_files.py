"""The built front end inside the package."""

from __future__ import annotations

from pathlib import Path

_FOLDER = Path(__file__).parents[1] / "static"


def static_file(name: str) -> Path:
    """Return the path of a built front-end file.

    Raises
    ------
    FileNotFoundError
        If this installation lacks it, with what to do.
    """
    path = _FOLDER / name
    if not path.is_file():
        raise FileNotFoundError(
            f"this installation of paddle_lab lacks its front end ({name}): install the wheel, or "
            "run `npm install && npm run build` in the js folder of a source checkout"
        )
    return path
