"""Tables of the library's, made of files, arrays and Arrow's columns."""
from __future__ import annotations

import ctypes
import os
from typing import Any, Iterator, Sequence

import numpy as np

from . import _library as c
from ._arrow import ArrowBatch, batch_of, stream_of
from ._context import Handle, as_bytes, call, column_list, doubles, path_bytes, text_bytes
from ._errors import BadCall
from ._library import library
from ._numbers import checked

WHOLE = ctypes.c_size_t(-1).value  # as many rows as there are

# What may be said about text files, with their types: a character, a text, a flag or a list of columns.
READ_OPTIONS = ("delimiter", "header", "columns", "drop", "rows", "missing", "missing_only", "decimal", "thousands",
                "array", "map")


class Table(Handle):
    """A nade_table."""

    _free = library.nade_table_free

    @property
    def rows(self) -> int:
        return library.nade_table_rows(self.pointer)

    @property
    def columns(self) -> int:
        return library.nade_table_columns(self.pointer)


class Reader(Handle):
    """A nade_reader: a table in parts."""

    _free = library.nade_reader_free

    def parts(self, most: int) -> Iterator[Table]:
        while True:
            part = Table()
            call(library.nade_reader_next, self.pointer, most, ctypes.byref(part.pointer))
            if not part.pointer:
                return
            yield part


def read_options(given: dict[str, Any]) -> Any:
    """A nade_read_options by the names of its members; None where nothing is given."""
    given = {name: value for name, value in given.items() if value is not None}
    if not given:
        return None
    options = c.ReadOptions()
    library.nade_read_options_init(ctypes.byref(options), ctypes.sizeof(options))
    for name, value in given.items():
        if name in ("columns", "drop"):
            value = column_list(value)
        elif name == "missing" and not isinstance(value, str):
            value = ",".join('"' + str(text).replace('"', '""') + '"' for text in value)
            value = text_bytes(value)
        elif name in ("header", "missing_only", "map"):
            value = checked(name, value, ctypes.c_int)
        elif name in READ_OPTIONS:
            value = as_bytes(value)
        else:
            raise BadCall(f"found the option {name}, expected one of {', '.join(READ_OPTIONS)}")
        setattr(options, name, value)
    return ctypes.byref(options)


def table_of_file(path: str | os.PathLike[str], options: Any = None) -> Table:
    table = Table()
    call(library.nade_table_read, path_bytes(path), options, ctypes.byref(table.pointer))
    return table


def reader_of_file(path: str | os.PathLike[str], options: Any = None) -> Reader:
    reader = Reader()
    call(library.nade_reader_open, path_bytes(path), options, ctypes.byref(reader.pointer))
    return reader


def table_of_array(values: np.ndarray, names: Sequence[str] | None = None) -> Table:
    """Of a C-contiguous array of doubles (rows, columns), which is read as it is."""
    rows, columns = values.shape
    encoded = None if names is None else (ctypes.c_char_p * columns)(*(text_bytes(name) for name in names))
    table = Table()
    call(library.nade_table_from_array, doubles(values), rows, columns, encoded, ctypes.byref(table.pointer))
    return table


def table_of_batch(batch: ArrowBatch, options: Any = None) -> Table:
    table = Table()
    call(library.nade_table_from_arrow, ctypes.byref(batch.schema), ctypes.byref(batch.array), options,
         ctypes.byref(table.pointer))
    return table


def reader_of_stream(data: Any, options: Any = None) -> Reader:
    """Of any object with Arrow's stream, whose batches are read as they are asked for."""
    reader = Reader()
    capsule = data.__arrow_c_stream__(None)
    call(library.nade_reader_from_arrow, stream_of(capsule), options, ctypes.byref(reader.pointer))
    return reader


def table_of_arrow(data: Any, options: Any = None) -> Table:
    """Of any object with Arrow's stream or array, whole."""
    if hasattr(data, "__arrow_c_stream__"):
        reader = reader_of_stream(data, options)
        for table in reader.parts(WHOLE):
            return table
        raise BadCall("the stream holds no rows, expected some")
    capsules = data.__arrow_c_array__(None)
    schema, array = batch_of(capsules)
    table = Table()
    call(library.nade_table_from_arrow, schema, array, options, ctypes.byref(table.pointer))
    return table
