"""Signals while the library works.

Python runs the handlers of signals when it enters a function, so in a long call of the library at the start of the
functions that the library calls back. What a handler raises there never reaches their own code: ctypes drops it, and
hands the library a result that means nothing. So it is caught where Python puts exceptions that no one can take.
"""
from __future__ import annotations

import signal
import sys
import threading
import types
from typing import Any

from . import _library as c

_LONG_WORK = 4096  # rows times passes over them from which on a call can be interrupted


class Escapes:
    """While it is open: the first exception that left a callback for nowhere, in `failure`."""

    _open: list[Escapes] = []
    _lock = threading.RLock()
    _before: Any = None

    def __init__(self, callback: Any) -> None:
        self.callback = callback
        self.failure: BaseException | None = None

    def __enter__(self) -> Escapes:
        with Escapes._lock:
            if not Escapes._open:
                Escapes._before, sys.unraisablehook = sys.unraisablehook, _take
            Escapes._open.append(self)
        return self

    def __exit__(self, *_failed: Any) -> None:
        with Escapes._lock:
            Escapes._open.remove(self)
            if not Escapes._open:
                sys.unraisablehook = Escapes._before

    def is_of(self, unraisable: Any) -> bool:
        """Python 3.13 has the callback in the message only."""
        same = isinstance(unraisable.object, types.MethodType) and unraisable.object == self.callback
        return same or repr(self.callback) in (unraisable.err_msg or "")


def _take(unraisable: Any) -> None:
    """Python's hook for exceptions that no one can take."""
    for escapes in Escapes._open:
        if escapes.is_of(unraisable):
            escapes.failure = escapes.failure or unraisable.exc_value
            return
    Escapes._before(unraisable)


class Interruptible:
    """Lets Ctrl-C, and what any signal's handler raises, end a long call of the library that tells its progress."""

    def __init__(self, options: Any, work: int) -> None:
        self.options = options
        self.interrupted = False
        self.active = work >= _LONG_WORK and threading.current_thread() is threading.main_thread()
        # A handler of the user's own decides itself whether to raise.
        self.takes_interrupts = self.active and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        self.report = self._report  # the one object that the library calls and that its escapes are known by
        self.escapes = Escapes(self.report)

    def _report(self, _user: Any, _share: float) -> int:
        return int(self.interrupted or self.escapes.failure is not None)

    def _interrupt(self, _number: int, _frame: Any) -> None:
        if self.interrupted:  # a second one never waits, whatever has become of the call
            signal.signal(signal.SIGINT, signal.default_int_handler)
            raise KeyboardInterrupt
        self.interrupted = True

    def __enter__(self) -> None:
        if not self.active:
            return
        self.function = c.SHARE_DONE(self.report)
        self.options.progress = self.function
        self.escapes.__enter__()
        if self.takes_interrupts:
            signal.signal(signal.SIGINT, self._interrupt)

    def __exit__(self, *_failed: Any) -> None:
        if not self.active:
            return
        if self.takes_interrupts:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        self.escapes.__exit__()
        self.options.progress = c.SHARE_DONE()
        if self.escapes.failure is not None:
            raise self.escapes.failure
        if self.interrupted:
            raise KeyboardInterrupt
