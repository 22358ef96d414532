"""What Paddle prints of compiled programs from level 2 on: not to the output, but into the log.

Paddle prints it with ``std::cout``, which the C++ library writes with C's buffered ``stdout``. For
the time of a log it writes with a file of ours instead: only ``std::cout`` does, not Python, not
``printf``, and no other process. Only one pointer changes, and threads may print meanwhile.
"""

from __future__ import annotations

import ctypes
import os
from ctypes import CDLL, c_char_p, c_int, c_size_t, c_void_p
from pathlib import Path
from typing import Any, Final

_BUFFER_KIND: Final = "_ZTVN9__gnu_cxx18stdio_sync_filebufIcSt11char_traitsIcEEE"
_FILE_AT: Final = 64
"""Where a ``stdio_sync_filebuf`` has its file: after the vtable, six pointers and a locale."""
_ON_FLUSH: Final = 0
_BUFFER_BYTES: Final = 1 << 20


class ProgramText:
    """The file that ``std::cout`` writes with.

    Parameters
    ----------
    library
        Paddle's library.

    Raises
    ------
    OSError, ValueError, AttributeError
        If the C++ library is another one.
    """

    def __init__(self, library: CDLL) -> None:
        self._flush, self._reopen = library.fflush, library.freopen
        self._flush.argtypes = [c_void_p]
        self._reopen.argtypes, self._reopen.restype = [c_char_p, c_char_p, c_void_p], c_void_p
        cout = _address(library, "_ZSt4cout")
        get: Any = library["_ZNKSt9basic_iosIcSt11char_traitsIcEE5rdbufEv"]
        get.argtypes, get.restype = [c_void_p], c_void_p
        to_ios = ctypes.c_ssize_t.from_address((c_void_p.from_address(cout).value or 0) - 24).value
        buffer = get(cout + to_ios)
        self._used = c_void_p.from_address(buffer + _FILE_AT)
        self._own = c_void_p.in_dll(library, "stdout").value
        kind = _address(library, _BUFFER_KIND) + 16
        if c_void_p.from_address(buffer).value != kind or self._used.value != self._own:
            raise ValueError("std::cout")
        # One file for the whole process: a thread may still write with it when a log ends.
        open_file, buffered = library.fopen, library.setvbuf
        open_file.argtypes, open_file.restype = [c_char_p, c_char_p], c_void_p
        buffered.argtypes = [c_void_p, c_void_p, c_int, c_size_t]
        self._file: int = open_file(os.devnull.encode(), b"a")
        # Whole lines are written at once, between entries of the log.
        buffered(self._file, None, _ON_FLUSH, _BUFFER_BYTES)

    def keep_in(self, path: Path | None) -> None:
        """Let ``std::cout`` write to the end of a file; without one, to where it wrote before."""
        if path is not None and self._used.value == self._own:
            self._flush(self._own)
            self._reopen(os.fsencode(path), b"a", self._file)
            self._used.value = self._file
        elif path is None and self._used.value == self._file:
            self._used.value = self._own
            self._reopen(os.devnull.encode(), b"a", self._file)


def _address(library: CDLL, name: str) -> int:
    return ctypes.addressof(ctypes.c_char.in_dll(library, name))
