"""Trace files: written completely or not at all. Each kind of damage has its own message."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from paddle_lab.trace.kept_values import take_value_tables, with_value_tables
from paddle_lab.trace.pack import pack
from paddle_lab.trace.record import Record, TraceFileError
from paddle_lab.trace.unpack import unpack
from paddle_lab.words import say

_LARGEST_FILE_BYTES = 2 << 30
_KINDS = {
    b"\x89PNG": "png",
    b"PK\x03\x04": "zip",
    b"\x80\x02": "pickle",
    b"\x80\x04": "pickle",
    b"\x93NUMPY": "numpy",
    b"%PDF": "pdf",
    b"\x1f\x8b": "gzip",
    b"<!DO": "html",
    b"<svg": "svg",
}


def save(record: Record, path: str | os.PathLike[str]) -> Path:
    """Write a record to ``path`` and return the path.

    Raises
    ------
    OSError
        If the file cannot be written. An older file of that name is then unchanged.
    """
    return write_atomically(path, pack(with_value_tables(record), level=6))


def load(path: str | os.PathLike[str]) -> Record:
    """Read a record from the file that :func:`save` wrote.

    Raises
    ------
    TraceFileError
        If the file is empty, not a trace, of another format, truncated, or altered. The message
        names the file and says what to do.
    OSError
        If there is no such file, or the file cannot be read.
    """
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(say("errors.is_folder", path=path))
    if not path.exists():
        raise FileNotFoundError(say("errors.no_file", path=path))
    if path.stat().st_size > _LARGEST_FILE_BYTES:
        raise TraceFileError(say("errors.file.too_large", path=path))
    data = path.read_bytes()
    try:
        record = unpack(data)
        take_value_tables(record)
    except TraceFileError as error:
        raise TraceFileError(
            say("errors.in_file", path=path, error=_explain(data, str(error)))
        ) from None
    return record


def write_atomically(path: str | os.PathLike[str], data: bytes) -> Path:
    """Write ``data`` to a temporary file, rename it to ``path``, and return the path.

    Raises
    ------
    OSError
        If the file cannot be written.
    """
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(say("errors.is_folder_to_save", path=path))
    # If the path is a symbolic link, write to its target, as open() does.
    target = Path(os.path.realpath(path))
    try:
        # Use only a part of the target's name, because the name may already have the maximum
        # length.
        handle, draft = tempfile.mkstemp(prefix=f".{target.name[:32]}.", dir=target.parent)
    except FileNotFoundError as error:
        raise FileNotFoundError(say("errors.no_folder", path=target.parent)) from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(draft).chmod(_mode_of_new_file(target))
        Path(draft).replace(target)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise
    return path


def _mode_of_new_file(target: Path) -> int:
    """Return the permissions that ``open()`` gives to a new file. mkstemp gives fewer."""
    try:
        return target.stat().st_mode & 0o777
    except OSError:
        umask = os.umask(0)
        os.umask(umask)
        return 0o666 & ~umask


def _explain(data: bytes, message: str) -> str:
    if not data:
        return say("errors.file.empty")
    for start, kind in _KINDS.items():
        if data.startswith(start):
            return say("errors.file.other", kind=say(f"errors.file_kind.{kind}"))
    return message
