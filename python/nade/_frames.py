"""Frames in, the same kind of frame out.

A Frame is one kind of table that users have: it hands its rows to the library, and makes results of its own kind,
with its names, types and index.  frame_of() finds the class; none of the packages is imported unless its frames are
met.
"""
from __future__ import annotations

import importlib.util
import os
from typing import Any, Iterator, Mapping

import numpy as np

from . import _tables
from ._arrow import ArrowBatch, ArrowColumn, coded_column, numpy_column
from ._columns import Column
from ._errors import BadCall
from ._objects import decode_objects, unmasked
from ._tables import Table

PART_ROWS = 65536


class Frame:
    """What all kinds have."""

    kind = ""
    names: list[str] | None = None  # None: columns are known by their places
    rows = 0
    types: list[Any] | None = None  # of the columns, in the terms of the kind

    @property
    def empty(self) -> bool:
        """Whether it is known to have no rows, as a part of a table may: what is asked of each row has no answers
        then."""
        return self.types is not None and self.rows == 0

    def table(self, options: Any = None, learn: bool = False) -> Table:
        """The rows as a table of the library's. With learn it is to be trained on, and types are looked for as in a
        file; without it the model's count, and a quicker way may be taken."""
        raise NotImplementedError

    def parts(self, options: Any = None) -> Iterator[Table]:
        """The same in parts, where the frame can be larger than memory."""
        yield self.table(options=options)

    def filled(self, cells: dict[int, tuple[np.ndarray, np.ndarray]], columns: dict[int, Column]) -> Any:
        """A copy with other values: by place of the column, the rows and their values in the library's numbers."""
        raise NotImplementedError

    def vector(self, name: str, values: np.ndarray) -> Any:
        """One number for each row."""
        return values

    def results(self, columns: dict[str, np.ndarray]) -> Any:
        """Columns of results, for the same rows."""
        return columns


def as_doubles(array: np.ndarray) -> np.ndarray:
    """C-contiguous doubles, themselves where they are. Smaller floats become the decimals with the fewest digits that
    they may have been written as, 0.1 and not 0.10000000149, as Arrow's and those of files do."""
    found = np.ascontiguousarray(array, dtype=np.float64)
    if array.dtype.kind != "f" or array.dtype.itemsize >= 8:
        return found
    small = np.ascontiguousarray(array)
    open_ = np.isfinite(found)
    for digits in range(10):
        rounded = np.round(found, digits)
        same = open_ & (rounded.astype(small.dtype) == small)
        found[same] = rounded[same]
        open_ &= ~same
        if not open_.any():
            break
    return found


def wanted_of(dtype: np.dtype) -> str | None:
    """What Column.decode is to give for a type of NumPy's."""
    return {"b": "bool", "i": "int", "u": "int", "f": "float", "M": "datetime", "m": "duration", "U": "text",
            "S": "text"}.get(dtype.kind)


# ---- files and streams -----------------------------------------------------------------------------------------------


class _Unframed(Frame):
    """Rows without a frame of their own."""

    def results(self, columns: dict[str, np.ndarray]) -> Any:
        return pandas().DataFrame(columns) if importlib.util.find_spec("pandas") else columns


class FileFrame(_Unframed):
    """A file that the library reads itself."""

    kind = "file"

    def __init__(self, path: Any) -> None:
        self.path = path

    def table(self, options: Any = None, learn: bool = False) -> Table:
        return _tables.table_of_file(self.path, options)

    def parts(self, options: Any = None) -> Iterator[Table]:
        return _tables.reader_of_file(self.path, options).parts(PART_ROWS)


class StreamFrame(_Unframed):
    """Anything with Arrow's stream or array that is none of the frames below: a reader of Parquet, a query's result."""

    kind = "stream"

    def __init__(self, data: Any) -> None:
        self.data = data

    def table(self, options: Any = None, learn: bool = False) -> Table:
        return _tables.table_of_arrow(self.data, options)

    def parts(self, options: Any = None) -> Iterator[Table]:
        if hasattr(self.data, "__arrow_c_stream__"):
            return _tables.reader_of_stream(self.data, options).parts(PART_ROWS)
        return super().parts(options)


# ---- NumPy and plain Python ------------------------------------------------------------------------------------------


class ArrayFrame(Frame):
    """A two-dimensional array."""

    kind = "array"

    def __init__(self, data: np.ndarray, lists: bool = False) -> None:
        if data.ndim != 2:
            raise BadCall(f"found an array of {data.ndim} dimensions, expected two: rows and columns. "
                          "Reshape your data with array.reshape(1, -1) for one row")
        if data.dtype.kind == "c":
            raise BadCall("Complex data not supported: expected numbers, text or dates")
        self.data, self.rows, self.lists = data, len(data), lists
        self.types = [data.dtype] * data.shape[1]

    def table(self, options: Any = None, learn: bool = False) -> Table:
        if self.data.dtype.kind in "fiub" and options is None:
            return _tables.table_of_array(as_doubles(self.data))
        columns = [numpy_column("", self.data[:, i]) for i in range(self.data.shape[1])]
        return _tables.table_of_batch(ArrowBatch(columns, self.rows), options)

    def filled(self, cells: dict[int, tuple[np.ndarray, np.ndarray]], columns: dict[int, Column]) -> Any:
        copy = self.data.copy()
        for place, (rows, values) in cells.items():
            copy[rows, place] = _decode_for_numpy(copy[:, place], columns[place], values)
        return copy.tolist() if self.lists else copy


class DictFrame(Frame):
    """Arrays, or single values for one row, by the names of their columns."""

    kind = "dict"

    def __init__(self, data: Mapping[str, Any], records: bool = False) -> None:
        self.records, self.data = records, data
        self.names = [str(name) for name in data]
        self.scalar = all(isinstance(value, str) or np.ndim(value) == 0 for value in data.values())
        self.one_row: np.ndarray | None = None
        if self.scalar and all(type(value) in (float, int, np.float64) for value in data.values()):
            self.one_row = _doubles_of(data)
            self.arrays, self.rows = [], 1
            return
        self.arrays = [_one_dimension(name, [value] if self.scalar else value) for name, value in data.items()]
        lengths = sorted({len(array) for array in self.arrays})
        if len(lengths) != 1:
            raise BadCall(f"found columns of {' and '.join(map(str, lengths))} rows, expected all of the same length")
        self.rows = lengths[0]
        self.types = [array.dtype for array in self.arrays]

    def table(self, options: Any = None, learn: bool = False) -> Table:
        assert self.names is not None
        if self.one_row is not None and options is None:
            return _tables.table_of_array(self.one_row, self.names)
        columns = [numpy_column(name, array) for name, array in zip(self.names, self._columns())]
        return _tables.table_of_batch(ArrowBatch(columns, self.rows), options)

    def completed(self, names: list[str]) -> DictFrame:
        """The columns of these names in their order, for a model that knows its columns by their places; those that
        are not there are all missing."""
        arrays = dict(zip(self.names or (), self._columns()))
        unknown = [name for name in arrays if name not in names]
        if unknown:
            raise BadCall(f"found the column '{unknown[0]}', expected one of {', '.join(names[:20])}")
        whole = DictFrame({name: arrays.get(name, np.full(self.rows, np.nan)) for name in names}, self.records)
        whole.scalar = self.scalar
        return whole

    def _columns(self) -> list[np.ndarray]:
        return self.arrays if self.one_row is None else list(self.one_row.T)

    def filled(self, cells: dict[int, tuple[np.ndarray, np.ndarray]], columns: dict[int, Column]) -> Any:
        assert self.names is not None
        found = [array.copy() for array in self._columns()]
        for place, (rows, values) in cells.items():
            found[place][rows] = _decode_for_numpy(found[place], columns[place], values)
        if self.records:
            return [dict(zip(self.names, row)) for row in zip(*(array.tolist() for array in found))]
        if self.scalar:
            new = {place: found[place].tolist()[0] for place in cells}
            return {name: new.get(place, value) for place, (name, value) in enumerate(self.data.items())}
        return dict(zip(self.names, found))


def _doubles_of(row: Mapping[str, Any]) -> np.ndarray:
    try:
        return np.array([list(row.values())], dtype=np.float64)
    except OverflowError:
        raise BadCall("found a whole number beyond all doubles, expected numbers that a double can be") from None


def _objects(values: Any) -> np.ndarray:
    listed = list(values)
    array = np.empty(len(listed), dtype=object)
    array[:] = listed
    return array


def _one_dimension(name: str, values: Any) -> np.ndarray:
    array = np.asarray(unmasked(values))
    if array.dtype.kind in "US" and not isinstance(values, np.ndarray):
        array = np.asarray(values, dtype=object)  # a list such as ["a", None] has its cells as they are
    if array.ndim != 1:
        raise BadCall(f"column '{name}': found an array of {array.ndim} dimensions, expected one")
    return array


def _decode_for_numpy(like: np.ndarray, column: Column, values: np.ndarray) -> np.ndarray:
    if like.dtype.kind == "O":
        return decode_objects(column, values, like)
    return column.decode(values, wanted_of(like.dtype))


# ---- pandas ----------------------------------------------------------------------------------------------------------


class PandasFrame(Frame):
    """A pandas.DataFrame."""

    kind = "pandas"

    def __init__(self, data: Any) -> None:
        self.data, self.rows = data, len(data)
        plain = list(data.columns) == list(range(data.shape[1]))
        self.names = None if plain else [str(name) for name in data.columns]
        self.types = list(data.dtypes)

    def table(self, options: Any = None, learn: bool = False) -> Table:
        # Without names it is an array in a frame's clothes, and types are found as those of arrays are.
        quick = options is None and (not learn or self.names is None) and bool(self.types)
        if quick and all(isinstance(dtype, np.dtype) and (dtype.kind in "iu" or dtype == np.float64)
                         for dtype in self.types or ()):
            return _tables.table_of_array(np.ascontiguousarray(self.data.to_numpy(dtype=np.float64)), self.names)
        names = self.names or [""] * self.data.shape[1]
        columns = [pandas_column(name, self.data.iloc[:, i]) for i, name in enumerate(names)]
        return _tables.table_of_batch(ArrowBatch(columns, self.rows), options)

    def filled(self, cells: dict[int, tuple[np.ndarray, np.ndarray]], columns: dict[int, Column]) -> Any:
        copy = self.data.copy()
        for place, (rows, values) in cells.items():
            if len(rows):
                copy.isetitem(place, fill_series(copy.iloc[:, place], rows, columns[place], values))
        return copy

    def vector(self, name: str, values: np.ndarray) -> Any:
        return pandas().Series(values, index=self.data.index, name=name)

    def results(self, columns: dict[str, np.ndarray]) -> Any:
        return pandas().DataFrame(columns, index=self.data.index)


def pandas() -> Any:
    import pandas as module

    return module


def pandas_column(name: str, series: Any) -> ArrowColumn:
    """A pandas.Series, with or without pyarrow behind it."""
    dtype = series.dtype
    if isinstance(dtype, np.dtype):
        return numpy_column(name, series.to_numpy())
    if hasattr(series, "cat"):
        return coded_column(name, series.cat.codes.to_numpy(), [str(label) for label in series.cat.categories])
    if getattr(dtype, "tz", None) is not None:
        return numpy_column(name, series.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy(), zone="UTC")
    kind = getattr(dtype, "kind", "O")
    missing = series.isna().to_numpy()
    if kind in "iub":  # nullable: whole numbers and truth values
        filled = series.fillna(False if kind == "b" else 0)
        return numpy_column(name, filled.to_numpy(dtype=bool if kind == "b" else np.dtype(f"{kind}8")),
                            missing if missing.any() else None)
    if kind == "f":
        return numpy_column(name, series.to_numpy(dtype=np.float64, na_value=np.nan))
    if kind in "Mm":
        return numpy_column(name, series.to_numpy(dtype="datetime64[ns]" if kind == "M" else "timedelta64[ns]"))
    codes, values = pandas().factorize(series)
    if all(isinstance(value, str) for value in values):
        return coded_column(name, codes, list(values))
    return numpy_column(name, series.to_numpy(dtype=object))


def _wanted_of_pandas(series: Any) -> str | None:
    dtype = series.dtype
    if hasattr(series, "cat"):
        series = series.cat.categories.to_series()
        dtype = series.dtype
    if isinstance(dtype, np.dtype):
        return wanted_of(dtype)
    if getattr(dtype, "tz", None) is not None:
        return "datetime"
    kinds = {"b": "bool", "i": "int", "u": "int", "f": "float", "M": "datetime", "m": "duration"}
    return kinds.get(getattr(dtype, "kind", "O"), "text")


def fill_series(series: Any, rows: np.ndarray, column: Column, values: np.ndarray) -> Any:
    """A copy of a series with values of a model's column in some rows, of the same type."""
    series = series.copy()
    series.iloc[rows] = decode_for_pandas(series, column, values)
    return series


def decode_for_pandas(like: Any, column: Column, values: np.ndarray) -> Any:
    """Values of a model's column as an array that fits a series."""
    held = like.cat.categories if hasattr(like, "cat") else like
    found = (decode_objects(column, values, held.to_numpy()) if held.dtype == object
             else column.decode(values, _wanted_of_pandas(like)))
    if getattr(like.dtype, "tz", None) is not None:
        return pandas().Series(found).dt.tz_localize("UTC").array.astype(like.dtype)
    if hasattr(like, "cat"):
        return pandas().Categorical(found, dtype=like.dtype)
    if isinstance(like.dtype, np.dtype) and (like.dtype.kind in "iub") and found.dtype.kind == "f":
        return found  # holes: whole numbers have no place for them
    return pandas().array(found, dtype=like.dtype) if like.dtype != object else found


# ---- polars and pyarrow ----------------------------------------------------------------------------------------------


class PolarsFrame(Frame):
    """A polars.DataFrame."""

    kind = "polars"

    def __init__(self, data: Any) -> None:
        self.data, self.rows, self.names = data, data.height, list(data.columns)
        self.types = list(data.dtypes)

    def table(self, options: Any = None, learn: bool = False) -> Table:
        return _tables.table_of_arrow(self.data, options)

    def filled(self, cells: dict[int, tuple[np.ndarray, np.ndarray]], columns: dict[int, Column]) -> Any:
        copy = self.data
        for place, (rows, values) in cells.items():
            if not len(rows):
                continue
            series = copy.to_series(place)
            new = decode_for_polars(series.name, series.dtype, columns[place], values)
            every = new.gather(np.searchsorted(rows, np.arange(self.rows)).clip(0, len(rows) - 1))
            here = np.zeros(self.rows, dtype=bool)
            here[rows] = True
            copy = copy.with_columns(every.zip_with(type(new)(here), series).alias(series.name))
        return copy

    def vector(self, name: str, values: np.ndarray) -> Any:
        import polars

        return polars.Series(name, values)

    def results(self, columns: dict[str, np.ndarray]) -> Any:
        import polars

        return polars.DataFrame({name: _listed(values) for name, values in columns.items()})


def _listed(values: np.ndarray) -> Any:
    return values.tolist() if values.dtype == object else values


def decode_for_polars(name: str, dtype: Any, column: Column, values: np.ndarray) -> Any:
    import polars

    if dtype.is_integer():
        wanted = "int"
    elif dtype.is_float() or dtype.is_decimal():
        wanted = "float"
    elif dtype.is_temporal():
        wanted = "duration" if dtype == polars.Duration else "datetime"
    else:
        wanted = "bool" if dtype == polars.Boolean else "text"
    found = polars.Series(name, _listed(column.decode(values, wanted)))
    if getattr(dtype, "time_zone", None):
        return found.dt.replace_time_zone("UTC").cast(dtype)
    return found.fill_nan(None).cast(dtype) if found.dtype.is_float() and not dtype.is_float() else found.cast(dtype)


class ArrowFrame(Frame):
    """A pyarrow.Table or pyarrow.RecordBatch."""

    kind = "pyarrow"

    def __init__(self, data: Any) -> None:
        import pyarrow

        self.batch = isinstance(data, pyarrow.RecordBatch)
        self.data = pyarrow.Table.from_batches([data]) if self.batch else data
        self.rows, self.names = data.num_rows, list(data.schema.names)
        self.types = list(data.schema.types)

    def table(self, options: Any = None, learn: bool = False) -> Table:
        return _tables.table_of_arrow(self.data, options)

    def filled(self, cells: dict[int, tuple[np.ndarray, np.ndarray]], columns: dict[int, Column]) -> Any:
        import pyarrow
        import pyarrow.compute

        copy = self.data
        for place, (rows, values) in cells.items():
            if not len(rows):
                continue
            here = np.zeros(self.rows, dtype=bool)
            here[rows] = True
            field = copy.schema.field(place)
            old = copy.column(place).combine_chunks()
            plain = old.dictionary_decode() if pyarrow.types.is_dictionary(field.type) else old
            new = decode_for_arrow(plain.type, columns[place], values)
            if pyarrow.types.is_duration(plain.type):  # which the function below does not know
                plain, new = plain.cast(pyarrow.int64()), new.cast(pyarrow.int64())
            mixed = pyarrow.compute.replace_with_mask(plain, pyarrow.array(here), new)
            mixed = mixed.dictionary_encode() if pyarrow.types.is_dictionary(field.type) else mixed
            mixed = mixed.cast(field.type)
            copy = copy.set_column(place, field, mixed)
        if not self.batch:
            return copy
        return pyarrow.RecordBatch.from_arrays([copy.column(i).combine_chunks() for i in range(copy.num_columns)],
                                               schema=copy.schema)

    def vector(self, name: str, values: np.ndarray) -> Any:
        import pyarrow

        return pyarrow.array(values)

    def results(self, columns: dict[str, np.ndarray]) -> Any:
        import pyarrow

        return pyarrow.table({name: pyarrow.array(values.tolist() if values.dtype == object else values)
                              for name, values in columns.items()})


def decode_for_arrow(type_: Any, column: Column, values: np.ndarray) -> Any:
    import pyarrow
    from pyarrow import types

    if types.is_integer(type_):
        wanted = "int"
    elif types.is_floating(type_) or types.is_decimal(type_):
        wanted = "float"
    elif types.is_temporal(type_):
        wanted = "duration" if types.is_duration(type_) else "datetime"
    else:
        wanted = "bool" if types.is_boolean(type_) else "text"
    found = column.decode(values, wanted)
    array = pyarrow.array(found, from_pandas=True)
    if types.is_timestamp(type_) and type_.tz:
        return array.cast(pyarrow.timestamp("us", "UTC")).cast(type_)
    return array.cast(type_, safe=False)


# ---- which it is -----------------------------------------------------------------------------------------------------


def frame_of(data: Any) -> Frame:
    """The Frame for what a user has."""
    if isinstance(data, Frame):
        return data
    if isinstance(data, np.ndarray):
        return ArrayFrame(unmasked(data, whole=True))
    if isinstance(data, (str, os.PathLike)):
        return FileFrame(data)
    if isinstance(data, Mapping):
        return DictFrame(data)
    package = type(data).__module__.split(".")[0]
    name = type(data).__name__
    if package == "pandas":
        return PandasFrame(data.to_frame().T.infer_objects() if name == "Series" else data)
    if package == "polars":
        return PolarsFrame(data.collect() if name == "LazyFrame" else data)
    if package == "pyarrow" and name in ("Table", "RecordBatch"):
        return ArrowFrame(data)
    if package == "scipy":
        raise TypeError("Sparse data was passed, expected a dense table: sparse.toarray() makes one")
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        return StreamFrame(data)
    return _frame_of_rows(data)


def _frame_of_rows(data: Any) -> Frame:
    """Lists of rows, each a list or a dict."""
    if isinstance(data, (list, tuple)) and data and all(isinstance(row, Mapping) for row in data):
        names = list(dict.fromkeys(name for row in data for name in row))
        return DictFrame({name: _objects(row.get(name) for row in data) for name in names}, records=True)
    try:
        array = np.asarray(data)
        if array.dtype.kind not in "fiub":
            array = np.array(data, dtype=object)
    except ValueError:
        raise BadCall("found rows of different lengths, expected all of the same") from None
    if array.ndim == 0:
        raise BadCall(f"found {data!r:.60}, expected a table: a frame, an array, a dict of columns, rows, or the path "
                      "of a file")
    return ArrayFrame(array, lists=isinstance(data, list))
