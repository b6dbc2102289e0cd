"""A frame with one more column: a target, or what is said of its rows."""
from __future__ import annotations

from typing import Any

import numpy as np

from ._errors import BadCall
from ._frames import ArrayFrame, ArrowFrame, DictFrame, Frame, PandasFrame, PolarsFrame, as_doubles


def with_column(frame: Frame, name: str, values: np.ndarray) -> tuple[Frame, str | int]:
    """The frame with one more column behind the others, and that column's name, or its number where there are none."""
    if frame.kind in ("file", "stream"):
        raise BadCall(f"{name}: found an array for the rows of a file or stream, expected the name of a column")
    if len(values) != frame.rows or values.ndim != 1:
        raise BadCall(f"{name}: found {values.shape} values, expected one for each of {frame.rows} rows")
    if frame.names is not None and name in frame.names:
        raise BadCall(f"the table has a column '{name}', expected none of this name, which is used for what is added "
                      "to it")
    data: Any = getattr(frame, "data", None)
    if frame.kind == "array":
        numbers = data.dtype.kind in "fiub" and values.dtype.kind in "fiub"
        old, new = (as_doubles(data), values) if numbers else (data.astype(object), values.astype(object))
        return ArrayFrame(np.column_stack([old, new])), data.shape[1]
    if frame.kind == "pandas":
        place: str | int = data.shape[1] if frame.names is None else name
        return PandasFrame(data.assign(**{name: values}).rename(columns={name: place})), place
    if frame.kind == "polars":
        import polars

        return PolarsFrame(data.with_columns(polars.Series(name, values))), name
    if frame.kind == "pyarrow":
        import pyarrow

        return ArrowFrame(data.append_column(name, pyarrow.array(values))), name
    assert isinstance(frame, DictFrame)
    return DictFrame({**dict(zip(frame.names or (), frame._columns())), name: values}), name
