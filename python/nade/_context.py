"""A context for each thread, and how a call of the library becomes a result, warnings or an exception.

A context serves one thread at a time, so each thread has its own, made when it first calls.  After a fork the child
makes its own too: the parent's threads do not exist there, so what the parent opened is neither used nor freed.
"""
from __future__ import annotations

import ctypes
import os
import threading
import warnings
from typing import Any, Callable, Iterator

import numpy as np

from . import _library as c
from ._errors import BY_STATUS, Warning
from ._library import library
from ._numbers import checked
from ._wording import in_python

_local = threading.local()
_threads = 0

_PART_ROWS = 512  # of one call on the CPU
_DEVICE_CELLS = 1 << 22  # of one call on a CUDA device


class Context:
    """A nade_context of one thread, and the warnings that its calls gave."""

    def __init__(self, threads: int) -> None:
        self.pid = os.getpid()
        self.threads = threads
        self.warnings: list[str] = []
        self.pointer = ctypes.c_void_p()
        options = c.ContextOptions()
        library.nade_context_options_init(ctypes.byref(options), ctypes.sizeof(options))
        self._warn = c.WARN(self._take_warning)  # kept alive as long as the context
        options.warn = self._warn
        options.threads = threads
        status = library.nade_context_create(ctypes.byref(options), ctypes.byref(self.pointer))
        if status:
            raise BY_STATUS[status]("a context could not be created")

    def _take_warning(self, _user: Any, sentence: bytes) -> None:
        self.warnings.append(in_python(as_text(sentence)))

    def __del__(self) -> None:
        if getattr(self, "pointer", None) and self.pid == os.getpid():
            library.nade_context_free(self.pointer)


def set_threads(count: int) -> None:
    """Let each call from here on use so many threads; 0, the default: one for each processor. Never changes a result.

    Where many processes or threads call at once (Dask, Spark, a web server), 1 is best.

    >>> nade.set_threads(1)
    >>> nade.set_threads(0)
    """
    global _threads
    _threads = checked("threads", count, ctypes.c_uint)


def context() -> Context:
    """The context of this thread."""
    kept = getattr(_local, "context", None)
    if kept is None or kept.pid != os.getpid() or kept.threads != _threads:
        kept = _local.context = Context(_threads)
    return kept


def call(function: Callable[..., int], *arguments: Any) -> None:
    """Calls a function of the library that returns a status, with this thread's context as its first argument."""
    on = context()
    status = function(on.pointer, *arguments)
    if on.warnings:
        give_warnings(on)
    if status:
        raise BY_STATUS.get(status, BY_STATUS[1])(in_python(as_text(library.nade_last_error(on.pointer))))


def give_warnings(on: Context) -> None:
    """Hands the library's warnings to Python's, as coming from the caller of this package."""
    sentences, on.warnings = on.warnings, []
    for sentence in sentences:
        warn(sentence)


def warn(sentence: str) -> None:
    """A warning that comes from the caller of this package."""
    warnings.warn(sentence, Warning, stacklevel=_outside())


def _outside() -> int:
    """How many frames up the first one outside of this package is."""
    import sys

    package, level, frame = os.path.dirname(__file__), 2, sys._getframe(2)
    while frame.f_back is not None and os.path.dirname(frame.f_code.co_filename) == package:
        frame, level = frame.f_back, level + 1
    return level


class Handle:
    """Something of the library's that is freed with this object."""

    _free: Callable[[Any], None]

    def __init__(self) -> None:
        self.pointer = ctypes.c_void_p()

    def __del__(self) -> None:
        if getattr(self, "pointer", None):
            type(self)._free(self.pointer)


class Session(Handle):
    """A model at work on a device, for one thread of one process."""

    _free = library.nade_session_free

    def __init__(self, model: Handle, device: str, precision: str) -> None:
        super().__init__()
        self.pid = os.getpid()
        self.model = model  # a session may not outlive it
        self.device, self.precision = number_of("device", device), number_of("precision", precision)
        self._most_rows = 0
        call(library.nade_session_open, model.pointer, self.device, self.precision, ctypes.byref(self.pointer))

    def parts(self, rows: int, calls_per_row: int = 1) -> Iterator[slice]:
        """The rows of a long call in parts, between which Python sees Ctrl-C. Many at once on a CUDA device, which
        is quicker with them."""
        if rows * calls_per_row <= _PART_ROWS:
            yield slice(0, rows)
            return
        if not self._most_rows:
            device, precision = c.Device(self.device), c.Precision(self.precision)
            call(library.nade_choose_device, None, self.model.pointer, ctypes.byref(device), ctypes.byref(precision),
                 None, 0)
            on_device = device.value == c.WORDS["device"].index("cuda")
            cells = max(1, library.nade_model_columns(self.model.pointer))
            self._most_rows = max(_PART_ROWS, _DEVICE_CELLS // cells) if on_device else _PART_ROWS
        part = max(1, self._most_rows // calls_per_row)
        for first in range(0, rows, part):
            yield slice(first, min(rows, first + part))

    def __del__(self) -> None:
        # In a forked child its threads are not there, so that it can't be freed.
        if self.pid == os.getpid():
            super().__del__()


# ---- small conversions -----------------------------------------------------------------------------------------------


def as_text(bytes_: bytes | None) -> str:
    """A text of the library's, which may hold any bytes."""
    return "" if bytes_ is None else bytes_.decode("utf-8", "replace")


def text_bytes(text: str) -> bytes:
    """A text for the library, which ends at a NUL and is UTF-8."""
    try:
        return _whole(text, text.encode())
    except UnicodeEncodeError:
        raise BY_STATUS[1](f"found the text {text!r}, expected characters that UTF-8 has") from None


def path_bytes(path: str | bytes | os.PathLike[str]) -> bytes:
    """A path for the library."""
    return _whole(path, os.fsencode(path))


def _whole(given: Any, encoded: bytes) -> bytes:
    if b"\0" in encoded:
        raise BY_STATUS[1](f"found {given!r}, expected a text without the character NUL")
    return encoded


def as_bytes(text: str | os.PathLike[str] | None) -> bytes | None:
    """A text or a path for the library."""
    return None if text is None else path_bytes(text) if isinstance(text, os.PathLike) else text_bytes(text)


def number_of(member: str, word: str | int) -> int:
    """The number of a word such as "cuda" for a member of an option structure."""
    words = c.WORDS[member]
    if isinstance(word, str) and word in words:
        return words.index(word)
    raise BY_STATUS[1](f"{member}: found {word!r}, expected one of {', '.join(words)}")


def doubles(array: Any) -> Any:
    """The address of a C-contiguous array of doubles; None stays None."""
    return None if array is None else array.ctypes.data_as(ctypes.POINTER(ctypes.c_double))


def column_list(columns: Any) -> bytes | None:
    """Columns, a name or number or several, as the list that the library reads."""
    if columns is None:
        return None
    if isinstance(columns, (str, int, np.integer)):
        columns = [columns]
    try:
        listed = list(columns)
    except TypeError:
        raise BY_STATUS[1](f"found the columns {columns!r}, expected names or numbers of columns") from None
    entries = [str(entry) if isinstance(entry, (int, np.integer)) else "'" + str(entry).replace("'", "''") + "'"
               for entry in listed]
    return text_bytes(",".join(entries))
