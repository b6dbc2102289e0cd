"""A model's columns, and the way between their values in Python and the numbers that the library has for them."""
from __future__ import annotations

import ctypes
import datetime
import numbers
import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _library as c
from ._context import as_text
from ._errors import BadCall
from ._library import library

_TRUE, _FALSE = ("true", "1", "1.0", "yes"), ("false", "0", "0.0", "no")


@dataclass(frozen=True)
class Column:
    """What a model knows of a column.

    >>> [(column.name, column.type) for column in m.columns]
    [('season', 'binary'), ('temperature', 'real'), ('rain', 'binary'), ('visitors', 'real')]
    """

    name: str
    type: str  #: "binary", "real", "categorical", "count", "ordered" or "date"
    numeric: bool  #: its values are numbers or dates, in an order
    labels: tuple[str, ...] | None  #: what value 0, 1, … means; None: its values are numbers
    kind: str  #: what it is in words
    form: str | None  #: how dates are written
    step: float  #: what its numbers are multiples of; 0: nothing was found

    @property
    def choices(self) -> tuple[str, ...]:
        """Its labels, "0" and "1" for a column of these two numbers; empty for columns of numbers."""
        return self.labels if self.labels else () if self.numeric else ("0", "1")

    def encode(self, value: Any) -> float:
        """The library's number for a value of the column; refuses one that it can't have."""
        found = self._find(value)
        if found is None:
            raise BadCall(f"column '{self.name}': found {value!r}, expected {self._expected()}")
        return found

    def _find(self, value: Any) -> float | None:
        if self.type == "date":
            return _seconds(value, in_utc=(self.form or "").endswith("Z"))
        if self.labels:
            return self._find_label(value)
        number = _number(value)
        if number is None or not np.isfinite(number):
            return None
        if self.type == "binary":
            return number if number in (0, 1) else None
        return number

    def _find_label(self, value: Any) -> float | None:
        assert self.labels is not None
        text = str(value)
        if text in self.labels:
            return float(self.labels.index(text))
        if isinstance(value, (bool, np.bool_)):
            same = [i for i, label in enumerate(self.labels) if label.lower() in (_TRUE if value else _FALSE)]
        else:
            number = _number(value)
            same = [] if number is None else [i for i, label in enumerate(self.labels) if _number(label) == number]
        return float(same[0]) if len(same) == 1 else None

    def _expected(self) -> str:
        if self.type == "date":
            return "a date"
        if self.labels:
            return "one of " + ", ".join(self.labels[:10]) + (", …" if len(self.labels) > 10 else "")
        return "a number" if self.numeric else "0 or 1"

    def encode_all(self, values: Any) -> np.ndarray:
        """The same of an array, any shape; missing values are NaN."""
        array = np.asarray(values)
        if isinstance(values, np.ma.MaskedArray):
            found = self.encode_all(array)
            found[np.ma.getmaskarray(values)] = np.nan
            return found
        if array.dtype.kind == "m":
            array = array / np.timedelta64(1, "s")
        if array.dtype.kind in "fiu" and not self.labels and self.type != "date":
            return np.array(array, dtype=np.float64)
        if array.dtype.kind == "M" and self.type == "date":  # of which lists make numbers, in units that differ
            return (array.astype("datetime64[us]") - _EPOCH) / np.timedelta64(1, "s")
        flat = [np.nan if is_missing(value) else self.encode(value) for value in array.ravel().tolist()]
        return np.array(flat, dtype=np.float64).reshape(array.shape)

    def number_of_labels(self) -> np.ndarray | None:
        """The numbers that the labels are, NaN for absence; None where one is no number."""
        found = [np.nan if label == "" else _number(label) for label in self.choices]
        return None if any(number is None for number in found) else np.array(found, dtype=np.float64)

    def _labels_are_numbers(self) -> bool:
        """Whether each label is how its number is plainly written, so that the number says all that the text does: of
        "007", "+5" and "1.10" it does not, nor of "5" and "5.0" together."""
        there = [label for label in self.choices if label]
        return all(_is_plain(label) for label in there) and len(set(map(float, there))) == len(there)

    def decode(self, values: np.ndarray, wanted: str | None = None) -> np.ndarray:
        """Values as the column's user knows them; wanted is "bool", "int", "float", "text", "datetime" or "duration",
        None: what fits best.  Missing ones are NaN, NaT or None; whole numbers with missing ones are floats."""
        missing = np.isnan(values)
        if self.type == "date" and wanted in (None, "datetime"):
            return _datetimes(values)
        if wanted == "text" or (wanted is None and self.labels and not self._labels_are_numbers()):
            return self._texts(values, missing)
        found = self._numbers(values, missing)
        if wanted == "duration":
            return _timedeltas(found)
        if wanted is None and not missing.any() and self._whole() and np.array_equal(found, np.rint(found)):
            wanted = "int"  # prices that all end in .99 have steps of 1, too
        if wanted in ("int", "bool") and not missing.any():
            found = np.rint(found)
            return found.astype(bool) if wanted == "bool" else found.astype(np.int64)
        return found

    def decode_ends(self, values: np.ndarray) -> np.ndarray:
        """Means, quantiles and ends of intervals, which need not be values of the column: dates, else floats."""
        return self.decode(values, None if self.type == "date" else "float")

    def _whole(self) -> bool:
        numbers_ = self.number_of_labels()
        if not self.numeric:
            return numbers_ is not None and bool((numbers_ == np.rint(numbers_)).all())
        return self.type == "count" or (self.step >= 1 and self.step == int(self.step))

    def _numbers(self, values: np.ndarray, missing: np.ndarray) -> np.ndarray:
        if self.type == "date" and self.form == "epoch ms":
            return values * 1000
        if not self.labels:
            return values
        of_labels = np.array([_label_number(label) for label in self.labels])
        found = np.full(values.shape, np.nan)
        found[~missing] = of_labels[values[~missing].astype(np.intp)]
        return found

    def _texts(self, values: np.ndarray, missing: np.ndarray) -> np.ndarray:
        found = np.full(values.shape, None, dtype=object)
        if self.labels:
            of_labels = np.array([label if label else None for label in self.labels], dtype=object)
            found[~missing] = of_labels[values[~missing].astype(np.intp)]
        elif self.type == "date":
            found[~missing] = [_write_date(self.form or "YYYY-MM-DD", day) for day in values[~missing].tolist()]
        else:
            found[~missing] = [repr(int(v)) if v == int(v) else repr(v) for v in values[~missing].tolist()]
        return found


def _is_plain(label: str) -> bool:
    number = _number(label)
    if number is None or not abs(number) < 2 ** 53:
        return False
    return label == (repr(number) if "." in label else str(int(number)))


def _label_number(label: str) -> float:
    """The number that a label is; those of truth values are 1 and 0."""
    number = _number(label)
    if number is not None:
        return number
    return 1.0 if label.lower() in _TRUE else 0.0 if label.lower() in _FALSE else np.nan


def model_columns(pointer: Any) -> tuple[Column, ...]:
    """The columns of a nade_model."""
    found = []
    for i in range(library.nade_model_columns(pointer)):
        filled = c.Column(size=ctypes.sizeof(c.Column))
        library.nade_model_column(pointer, i, ctypes.byref(filled))
        labels = tuple(as_text(filled.labels[k]) for k in range(filled.label_count)) if filled.label_count else None
        found.append(Column(as_text(filled.name), as_text(library.nade_type_name(filled.type)), bool(filled.numeric),
                            labels, as_text(filled.kind), as_text(filled.form) or None, filled.step))
    return tuple(found)


def is_missing(value: Any) -> bool:
    """True for None, NaN, NaT and pandas' NA."""
    if value is None or value is np.ma.masked:
        return True
    if isinstance(value, str):
        return False
    try:
        return bool(value != value)
    except TypeError:  # pandas' NA is neither true nor false
        return type(value).__name__ == "NAType"
    except ArithmeticError:  # a Decimal that is a signaling NaN
        return True


def _number(value: Any) -> float | None:
    if isinstance(value, (datetime.timedelta, np.timedelta64)):
        return float(np.timedelta64(value) / np.timedelta64(1, "s"))
    if isinstance(value, numbers.Complex) and not isinstance(value, numbers.Real):
        return None
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None


# ---- dates -----------------------------------------------------------------------------------------------------------

_EPOCH = np.datetime64(0, "us")


def _seconds(value: Any, in_utc: bool) -> float | None:
    """Seconds since 1970 by the clock that the dates are written with."""
    if isinstance(value, (int, float, np.number)) and not isinstance(value, bool):
        number = _number(value)
        return number if number is not None and np.isfinite(number) else None
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        value = (value.astimezone(datetime.timezone.utc) if in_utc else value).replace(tzinfo=None)
    try:
        moment = np.datetime64(value, "us")
    except (TypeError, ValueError):
        return None
    return None if np.isnat(moment) else float((moment - _EPOCH) / np.timedelta64(1, "s"))


def _datetimes(values: np.ndarray) -> np.ndarray:
    found = np.full(values.shape, np.datetime64("NaT", "us"))
    there = ~np.isnan(values)
    found[there] = np.rint(values[there] * 1e6).astype(np.int64).astype("datetime64[us]")
    return found


def _timedeltas(seconds: np.ndarray) -> np.ndarray:
    found = np.full(seconds.shape, np.timedelta64("NaT", "us"))
    there = ~np.isnan(seconds)
    found[there] = np.rint(seconds[there] * 1e6).astype(np.int64).astype("timedelta64[us]")
    return found


_PIECES = re.compile(r"YYYY|YY|MMMM|MMM|MM|DD|hh|mm|ss|f+|PM|pm|M|D|h")
# Not the calendar module's, which follow the locale.
_MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
           "December")


def _write_date(form: str, seconds: float) -> str:
    if form == "epoch":
        return str(int(round(seconds)))
    if form == "epoch ms":
        return str(int(round(seconds * 1000)))
    day = datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=round(seconds * 1e6))
    half_day = "PM" in form or "pm" in form
    hour = (day.hour - 1) % 12 + 1 if half_day else day.hour
    month = _MONTHS[day.month - 1]
    pieces = {"YYYY": f"{day.year:04}", "YY": f"{day.year % 100:02}", "MMMM": month, "MMM": month[:3],
              "MM": f"{day.month:02}", "DD": f"{day.day:02}", "hh": f"{hour:02}",
              "mm": f"{day.minute:02}", "ss": f"{day.second:02}", "M": str(day.month), "D": str(day.day),
              "h": str(hour), "PM": "PM" if day.hour >= 12 else "AM", "pm": "pm" if day.hour >= 12 else "am"}
    fraction = f"{day.microsecond:06}"
    return _PIECES.sub(lambda piece: pieces.get(piece.group()) or fraction[:len(piece.group())], form)
