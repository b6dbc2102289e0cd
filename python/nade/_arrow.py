"""Columns of NumPy as Arrow's C data interface has them, without pyarrow.

The structures point into the arrays, which stay the caller's: the library copies what it wants before its call
returns, and calls `release`, which here has nothing to do but to say that it was called.
"""
from __future__ import annotations

import ctypes
import datetime
import decimal
import numbers
from typing import Any, Sequence

import numpy as np

from ._columns import is_missing
from ._context import text_bytes
from ._errors import BadCall
from ._library import RELEASE_ARRAY, RELEASE_SCHEMA, ArrowArray, ArrowArrayStream, ArrowSchema

_NULLABLE = 2
_FORMATS = {"f4": b"f", "f8": b"g", "i1": b"c", "i2": b"s", "i4": b"i", "i8": b"l", "u1": b"C", "u2": b"S",
            "u4": b"I", "u8": b"L"}
_UNITS = {"s": b"tss:", "ms": b"tsm:", "us": b"tsu:", "ns": b"tsn:"}
_NO_SCHEMA, _NO_ARRAY = RELEASE_SCHEMA(), RELEASE_ARRAY()


@RELEASE_SCHEMA
def _released_schema(schema: Any) -> None:
    schema.contents.release = _NO_SCHEMA


@RELEASE_ARRAY
def _released_array(array: Any) -> None:
    array.contents.release = _NO_ARRAY


class ArrowColumn:
    """One column: a schema, an array, and what keeps their memory alive."""

    def __init__(self, name: str, format_: bytes, length: int, buffers: Sequence[np.ndarray | None],
                 nulls: int = 0, dictionary: ArrowColumn | None = None) -> None:
        self.buffers, self.dictionary, self.name = list(buffers), dictionary, text_bytes(name)
        self.pointers = (ctypes.c_void_p * len(self.buffers))(
            *(None if buffer is None else buffer.ctypes.data for buffer in self.buffers))
        self.schema = ArrowSchema(format=format_, name=self.name, flags=_NULLABLE, release=_released_schema)
        self.array = ArrowArray(length=length, null_count=nulls, n_buffers=len(self.buffers), buffers=self.pointers,
                                release=_released_array)
        if dictionary is not None:
            self.schema.dictionary = ctypes.pointer(dictionary.schema)
            self.array.dictionary = ctypes.pointer(dictionary.array)


class ArrowBatch:
    """Several columns of the same length as one struct."""

    def __init__(self, columns: Sequence[ArrowColumn], rows: int) -> None:
        count = len(columns)
        self.columns = columns
        self.no_validity = (ctypes.c_void_p * 1)(None)
        self.schemas = (ctypes.POINTER(ArrowSchema) * count)(*(ctypes.pointer(column.schema) for column in columns))
        self.arrays = (ctypes.POINTER(ArrowArray) * count)(*(ctypes.pointer(column.array) for column in columns))
        self.schema = ArrowSchema(format=b"+s", name=b"", n_children=count, children=self.schemas,
                                  release=_released_schema)
        self.array = ArrowArray(length=rows, n_buffers=1, buffers=self.no_validity, n_children=count,
                                children=self.arrays, release=_released_array)


def _validity(missing: np.ndarray) -> tuple[np.ndarray | None, int]:
    """A bit for each cell that is there; None where all are."""
    nulls = int(np.count_nonzero(missing))
    return (np.packbits(~missing, bitorder="little"), nulls) if nulls else (None, 0)


def _texts(texts: Sequence[str]) -> ArrowColumn:
    """The values of a dictionary, as large utf8."""
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
    np.cumsum([len(text) for text in encoded], out=offsets[1:])
    data = np.frombuffer(b"".join(encoded) or b"\0", dtype=np.uint8)
    return ArrowColumn("", b"U", len(encoded), [None, offsets, data])


def coded_column(name: str, codes: np.ndarray, texts: Sequence[str]) -> ArrowColumn:
    """A column of texts by their places in a list; a negative code is a missing cell."""
    codes = np.ascontiguousarray(codes, dtype=np.int32)
    missing = codes < 0
    bits, nulls = _validity(missing)
    codes = np.where(missing, np.int32(0), codes) if nulls else codes
    return ArrowColumn(name, b"i", len(codes), [bits, codes], nulls, _texts(texts))


def numpy_column(name: str, values: np.ndarray, missing: np.ndarray | None = None, zone: str = "") -> ArrowColumn:
    """A one-dimensional array; NaN, NaT and None are missing cells, and those where `missing` is true. Dates may have a
    time zone, and then are UTC."""
    kind = values.dtype.kind
    if kind == "O":
        return _object_column(name, values)
    if kind in "US":
        distinct, codes = np.unique(values, return_inverse=True)
        return coded_column(name, codes, [str(text) for text in distinct.tolist()])
    if kind == "M":
        return _date_column(name, values, missing, zone)
    if kind == "m":
        values = values / np.timedelta64(1, "s")
    if values.dtype == np.float16 or (kind == "f" and values.dtype.itemsize > 8):
        values = values.astype(np.float32 if values.dtype == np.float16 else np.float64)
    bits, nulls = (None, 0) if missing is None else _validity(missing)
    if kind == "b":
        return ArrowColumn(name, b"b", len(values), [bits, np.packbits(values, bitorder="little")], nulls)
    values = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("="))
    format_ = _FORMATS.get(values.dtype.str[1:])
    if format_ is None:
        raise BadCall(f"column '{name}': arrays of {values.dtype} are not known, expected numbers, text, "
                        "truth values or dates")
    return ArrowColumn(name, format_, len(values), [bits, values], nulls)


def _date_column(name: str, values: np.ndarray, missing: np.ndarray | None, zone: str) -> ArrowColumn:
    unit = np.datetime_data(values.dtype)[0]
    if unit not in _UNITS or np.datetime_data(values.dtype)[1] != 1:
        unit = "s" if unit in ("Y", "M", "W", "D", "h", "m") else "ns"
        values = values.astype(f"datetime64[{unit}]")
    bits, nulls = _validity(np.isnat(values) if missing is None else missing | np.isnat(values))
    ticks = np.ascontiguousarray(values).view(np.int64)
    return ArrowColumn(name, _UNITS[unit] + zone.encode(), len(values), [bits, ticks], nulls)


def _double(name: str, cell: Any) -> float:
    try:
        return float(cell)
    except (TypeError, OverflowError):
        raise BadCall(f"column '{name}': found {cell!r:.60}, expected a number that a double can be") from None


def _object_column(name: str, values: np.ndarray) -> ArrowColumn:
    """Python objects: numbers, dates or texts, whichever all cells that are there are."""
    cells = values.tolist()
    missing = np.array([is_missing(cell) for cell in cells], dtype=bool)
    there = [cell for cell, gone in zip(cells, missing) if not gone]
    if there and all(isinstance(cell, (bool, np.bool_)) for cell in there):
        found = np.array([not gone and bool(cell) for cell, gone in zip(cells, missing)], dtype=bool)
        return numpy_column(name, found, missing)
    if there and all(isinstance(cell, (datetime.timedelta, np.timedelta64)) for cell in there):
        lengths = [np.timedelta64("NaT") if gone else cell for cell, gone in zip(cells, missing)]
        return numpy_column(name, np.array(lengths, dtype="timedelta64[us]"))
    if all(isinstance(cell, (numbers.Number, np.number, decimal.Decimal)) for cell in there):
        return numpy_column(name, np.array([np.nan if gone else _double(name, cell)
                                            for cell, gone in zip(cells, missing)]))
    if there and all(isinstance(cell, (datetime.date, np.datetime64)) for cell in there):
        aware = all(isinstance(cell, datetime.datetime) and cell.tzinfo is not None for cell in there)
        plain = [cell.astimezone(datetime.timezone.utc) if aware else cell for cell in there]
        plain = [cell.replace(tzinfo=None) if isinstance(cell, datetime.datetime) else cell for cell in plain]
        found = np.full(len(cells), np.datetime64("NaT", "us"))
        found[~missing] = np.array(plain, dtype="datetime64[us]")
        return numpy_column(name, found, zone="UTC" if aware else "")
    places: dict[str, int] = {}
    codes = np.full(len(cells), -1, dtype=np.int32)
    codes[~missing] = [places.setdefault(cell if isinstance(cell, str) else str(cell), len(places)) for cell in there]
    return coded_column(name, codes, list(places))


# ---- capsules of others ----------------------------------------------------------------------------------------------

_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype, _pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


def stream_of(capsule: Any) -> Any:
    """The ArrowArrayStream in a capsule, which its taker moves out of it."""
    return ctypes.cast(_pointer_of(capsule, b"arrow_array_stream"), ctypes.POINTER(ArrowArrayStream))


def batch_of(capsules: tuple[Any, Any]) -> tuple[Any, Any]:
    """The ArrowSchema and the ArrowArray in a pair of capsules."""
    schema, array = capsules
    return (ctypes.cast(_pointer_of(schema, b"arrow_schema"), ctypes.POINTER(ArrowSchema)),
            ctypes.cast(_pointer_of(array, b"arrow_array"), ctypes.POINTER(ArrowArray)))
