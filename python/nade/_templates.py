"""What rows that a model draws are to look like: the kind of frame that it was fitted to, with its types."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Sequence

import numpy as np

from ._columns import Column
from ._errors import BadCall
from ._frames import Frame, decode_for_arrow, decode_for_pandas, decode_for_polars, pandas, wanted_of

KINDS = ("pandas", "polars", "pyarrow", "dict", "array")


@dataclass
class Template:
    """A kind of frame and, where they are known, the types of its columns by name."""

    kind: str
    types: dict[str, Any]


def template_of(frame: Frame) -> Template | None:
    """None for files and streams, which have no frame of their own."""
    if frame.kind not in KINDS or frame.types is None:
        return None
    names = frame.names or [str(i) for i in range(len(frame.types))]
    return Template(frame.kind, dict(zip(names, frame.types)))


def kind_for(template: Template | None, asked: str | None, named: bool) -> str:
    """Which kind of frame to make: as asked for, as in training, or a pandas.DataFrame where pandas is installed."""
    if asked is not None:
        if asked not in KINDS:
            raise BadCall(f"found the kind {asked!r}, expected one of {', '.join(KINDS)}")
        return asked
    if template is not None:
        return template.kind
    import importlib.util

    if not named:
        return "array"
    return "pandas" if importlib.util.find_spec("pandas") else "dict"


def make_frame(kind: str, template: Template | None, columns: Sequence[Column], values: np.ndarray) -> Any:
    """Rows of the library's numbers (rows, columns) as a frame."""
    types = template.types if template is not None and template.kind == kind else {}
    makers = {"pandas": _make_pandas, "polars": _make_polars, "pyarrow": _make_arrow, "dict": _make_dict,
              "array": _make_array}
    return makers[kind](types, columns, values)


def _make_pandas(types: dict[str, Any], columns: Sequence[Column], values: np.ndarray) -> Any:
    found = {}
    for i, column in enumerate(columns):
        dtype = types.get(column.name)
        if dtype is None:
            found[column.name] = column.decode(values[:, i])
        elif isinstance(dtype, np.dtype) and dtype.kind == "O":
            found[column.name] = column.decode(values[:, i], "text" if column.labels else None)
        else:
            found[column.name] = decode_for_pandas(pandas().Series([], dtype=dtype), column, values[:, i])
    return pandas().DataFrame(found)


def _make_polars(types: dict[str, Any], columns: Sequence[Column], values: np.ndarray) -> Any:
    import polars

    return polars.DataFrame([
        decode_for_polars(column.name, types[column.name], column, values[:, i]) if column.name in types
        else _plain_polars(column, values[:, i]) for i, column in enumerate(columns)])


def _plain_polars(column: Column, values: np.ndarray) -> Any:
    import polars

    found = column.decode(values)
    return polars.Series(column.name, found.tolist() if found.dtype == object else found)


def _make_arrow(types: dict[str, Any], columns: Sequence[Column], values: np.ndarray) -> Any:
    import pyarrow
    from pyarrow import types as kinds

    arrays = []
    for i, column in enumerate(columns):
        type_ = types.get(column.name)
        if type_ is None:
            arrays.append(pyarrow.array(column.decode(values[:, i]), from_pandas=True))
        elif kinds.is_dictionary(type_):
            plain = decode_for_arrow(type_.value_type, column, values[:, i])
            arrays.append(plain.dictionary_encode().cast(type_))
        else:
            arrays.append(decode_for_arrow(type_, column, values[:, i]))
    return pyarrow.table(arrays, names=[column.name for column in columns])


def _make_dict(types: dict[str, Any], columns: Sequence[Column], values: np.ndarray) -> Any:
    found = {}
    for i, column in enumerate(columns):
        dtype = types.get(column.name)
        array = column.decode(values[:, i], None if dtype is None else wanted_of(dtype))
        keeps = dtype is not None and dtype.kind in "fiubMm" and array.dtype.kind == dtype.kind
        found[column.name] = array.astype(dtype) if keeps else array
    return found


def _make_array(types: dict[str, Any], columns: Sequence[Column], values: np.ndarray) -> Any:
    dtype = next(iter(types.values()), np.dtype(np.float64))
    decoded = [column.decode(values[:, i], wanted_of(dtype)) for i, column in enumerate(columns)]
    if any(array.dtype == object for array in decoded):
        return np.array(decoded, dtype=object).T.copy()
    array = np.stack(decoded, axis=1) if decoded else values
    return array if np.isnan(array.astype(np.float64)).any() else array.astype(dtype)
