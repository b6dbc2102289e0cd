"""Columns of Python's objects: what they hold, and new values of the same classes."""
from __future__ import annotations

import datetime
import decimal
import numbers
from typing import Any

import numpy as np

from ._columns import Column, is_missing


def unmasked(array: Any, whole: bool = False) -> Any:
    """A masked array with missing values in the place of what is masked: NaN, NaT or None; all else as it is. Of whole
    numbers and truth values there are objects then, or floats where `whole` says that the array is a table."""
    if not isinstance(array, np.ma.MaskedArray):
        return array
    if not np.ma.getmaskarray(array).any():
        return np.asarray(array.data)
    if array.dtype.kind in "fcM":
        return np.asarray(array.filled(np.datetime64("NaT") if array.dtype.kind == "M" else np.nan))
    if whole and array.dtype.kind in "iub":
        return np.ma.filled(array.astype(np.float64), np.nan)
    found = np.asarray(array.data).astype(object)
    found[np.ma.getmaskarray(array)] = None
    return found


def decode_objects(column: Column, values: np.ndarray, like: np.ndarray) -> np.ndarray:
    """Values of a model's column as objects of the classes that an array of objects has."""
    cells = [cell for cell in like.tolist() if not is_missing(cell)]
    if np.isnan(values).any() or not cells:
        return column.decode(values)
    if all(isinstance(cell, (datetime.date, np.datetime64)) for cell in cells):
        return _as_objects(_dates(column, values, cells[0]))
    if all(isinstance(cell, (datetime.timedelta, np.timedelta64)) for cell in cells):
        return _as_objects(_durations(column, values, cells[0]))
    if all(isinstance(cell, decimal.Decimal) for cell in cells):
        return _as_objects([decimal.Decimal(repr(value)) for value in column.decode(values, "float").tolist()])
    found = column.decode(values, _wanted(cells))
    return found if found.dtype == object else _as_objects(found.tolist())


def _wanted(cells: list[Any]) -> str | None:
    for word, classes in (("bool", (bool, np.bool_)), ("int", numbers.Integral), ("float", numbers.Real)):
        if all(isinstance(cell, classes) for cell in cells):  # type: ignore[arg-type]
            return word
    return "text" if isinstance(cells[0], str) else None


def _dates(column: Column, values: np.ndarray, like: Any) -> list[Any]:
    moments = column.decode(values, "datetime")
    if isinstance(like, np.datetime64):
        return list(moments.astype(like.dtype))
    plain = moments.tolist()
    if not isinstance(like, datetime.datetime):
        return [moment.date() for moment in plain]
    if like.tzinfo is not None:
        plain = [moment.replace(tzinfo=datetime.timezone.utc).astimezone(like.tzinfo) for moment in plain]
    own: Any = type(like)  # such as pandas.Timestamp
    return plain if own is datetime.datetime else [own(moment) for moment in plain]


def _durations(column: Column, values: np.ndarray, like: Any) -> list[Any]:
    lengths = column.decode(values, "duration")
    if isinstance(like, np.timedelta64):
        return list(lengths.astype(like.dtype))
    own: Any = type(like)  # such as pandas.Timedelta
    return lengths.tolist() if own is datetime.timedelta else [own(length) for length in lengths.tolist()]


def _as_objects(values: list[Any]) -> np.ndarray:
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found
