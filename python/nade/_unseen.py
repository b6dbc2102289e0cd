"""Cells as the library's numbers, and values among them that training has not seen."""
from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np

from ._context import as_text, call, column_list, doubles, warn
from ._errors import BadCall, BadInput
from ._library import library
from ._tables import Table

if TYPE_CHECKING:
    from ._model import Model


def allows_unseen(unseen: str) -> bool:
    """Whether such values count as missing cells."""
    if unseen not in ("error", "missing"):
        raise BadCall(f"unseen: found {unseen!r}, expected 'error' or 'missing'")
    return unseen == "missing"


def warn_of_unseen(count: int, first: str) -> None:
    """Says how many there are, and where the first is."""
    cells = "cell has a value" if count == 1 else "cells have values"
    warn(f"{count} {cells} that training has not seen and count as missing, the first: {first}")


def read_values(model: Model, table: Table, may_lack: Any, allowed: bool) -> tuple[np.ndarray, np.ndarray, str]:
    """nade_table_values: the cells, infinite where a value was not seen; which of the table's columns each of the
    model's is; and the first value that was not seen, "" where all were."""
    values = np.empty((table.rows, len(model.columns)))
    source = (ctypes.c_size_t * len(model.columns))()
    count, first = ctypes.c_size_t(), ctypes.create_string_buffer(256)
    call(library.nade_table_values, model._pointer, table.pointer, column_list(may_lack), doubles(values), source,
         ctypes.byref(count) if allowed else None, first if allowed else None)
    return values, np.array(source, dtype=np.uint64), as_text(first.value) if count.value else ""


def known_values(model: Model, table: Table, may_lack: list[str], known: list[int], unseen: str) -> np.ndarray:
    """Cells of the columns `known`; those of the others count as missing, whatever they hold."""
    allowed = allows_unseen(unseen)
    values, _, first = read_values(model, table, may_lack, True)
    hidden = np.ones(len(model.columns), dtype=bool)
    hidden[known] = False
    if np.isinf(values[:, hidden]).any():
        first = ""  # it may be one of those
    values[:, hidden] = np.nan
    odd = np.isinf(values)
    if odd.any():
        row, place = np.argwhere(odd)[0].tolist()
        where = f"row {row}, column '{model.names[place]}'"
        if not allowed:
            if first:
                read_values(model, table, may_lack, False)  # fails with the library's sentence
            raise BadInput(f"{where}: found a value that training has not seen, expected one that it has (or "
                           'unseen="missing", which makes it a missing cell)')
        warn_of_unseen(int(odd.sum()), first or where)
        values[odd] = np.nan
    return values
