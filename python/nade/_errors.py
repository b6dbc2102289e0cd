"""What can go wrong, as exceptions: each carries the library's sentence, in the words of _wording.py."""
from __future__ import annotations


class Error(Exception):
    """Something could not be done; its text is one sentence: what was found, where, and what was expected."""


class BadCall(Error, ValueError):
    """An argument or option is wrong."""


class BadInput(Error, ValueError):
    """A file or the data themselves are wrong."""


class NoOutput(Error, OSError):
    """A file could not be written."""


class NoMemory(Error, MemoryError):
    """There is not enough memory."""


class NoDevice(Error, RuntimeError):
    """The requested device is not available."""


class NotFinite(Error, ArithmeticError):
    """Training diverged, or a model's weights give no finite output."""


class Interrupted(Error, KeyboardInterrupt):
    """The work was stopped before there was anything to return."""


class Warning(UserWarning):  # noqa: A001  (nade.Warning, as nade.Error)
    """What the library warns of; the text is one sentence."""


# By nade_status.
BY_STATUS = {1: BadCall, 2: BadInput, 3: NoOutput, 4: NoMemory, 5: NoDevice, 6: NotFinite, 7: Interrupted}
