"""Arguments that are numbers, checked before ctypes would cut them to fit."""
from __future__ import annotations

import ctypes
from typing import Any

from ._errors import BadCall


def checked(name: str, value: Any, wanted: Any, least: int = 0) -> Any:
    """A number for a member of this type of ctypes: a float, or a whole number that fits."""
    try:
        converted = float(value) if wanted is ctypes.c_double else int(value)
        same = wanted is ctypes.c_double or bool(converted == value)
    except (TypeError, ValueError, OverflowError):
        raise BadCall(f"{name}: found {value!r}, expected a number") from None
    if wanted is ctypes.c_double:
        return converted
    if not same:
        raise BadCall(f"{name}: found {value!r}, expected a whole number")
    if converted < least and wanted is not ctypes.c_int:
        raise BadCall(f"{name}: found {value!r}, expected {least} or more")
    if wanted(converted).value != converted:
        raise BadCall(f"{name}: found {value!r}, expected a number below {2 ** (8 * ctypes.sizeof(wanted))}")
    return converted


def seed_of(seed: Any) -> int:
    return checked("seed", seed, ctypes.c_uint32)


def count_of(name: str, count: Any, least: int = 0) -> int:
    return checked(name, count, ctypes.c_size_t, least)


def share_of(name: str, share: Any) -> float:
    """A probability that is neither 0 nor 1."""
    found = checked(name, share, ctypes.c_double)
    if not 0 < found < 1:
        raise BadCall(f"{name}: found {share!r}, expected a probability between 0 and 1")
    return found
