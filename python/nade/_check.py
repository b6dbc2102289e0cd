"""How far a model can be trusted on rows, best those that it was not fitted to."""
from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ._columns import Column
from ._density import ask
from ._frames import frame_of

if TYPE_CHECKING:
    from ._model import Model, Summary

_ODD = 1.63  # of a Kolmogorov–Smirnov distance times the root of the rows: 1 in 100 by chance
_ODD_SHARE = 2.58  # of a share, in its standard errors: likewise


@dataclass(frozen=True)
class ColumnCheck:
    """One column given the rest of its rows.

    For numbers inside_50 and inside_90 are the shares of cells within the central intervals of that probability, and
    distance is how far the cells' places in their distributions are from even (Kolmogorov–Smirnov; ties are broken at
    random). For labels accuracy is the share of likeliest labels that are right, expected what the model thinks it is.
    """

    name: str
    cells: int
    calibrated: bool
    inside_50: float = float("nan")
    inside_90: float = float("nan")
    distance: float = float("nan")
    accuracy: float = float("nan")
    expected: float = float("nan")


@dataclass(frozen=True)
class Check:
    """What Model.check returns."""

    summary: Summary
    columns: tuple[ColumnCheck, ...]

    @property
    def verdict(self) -> str:
        """It in a sentence."""
        odd = [column.name for column in self.columns if not column.calibrated]
        gain = f"{self.summary.gain:.3g} nats a row better than independent columns"
        if self.summary.gain <= 0:
            gain = "no better than independent columns"
        if not odd:
            return f"The model is {gain}; all {len(self.columns)} columns are calibrated as far as these rows tell."
        return f"The model is {gain}; not calibrated: {', '.join(odd)}."

    def __repr__(self) -> str:
        lines = [self.verdict]
        for column in self.columns:
            mark = " " if column.calibrated else "!"
            if np.isnan(column.accuracy):
                lines.append(f"{mark} {column.name}: {column.inside_50:.0%} within 50 %, {column.inside_90:.0%} within "
                             f"90 %, distance {column.distance:.3f}, {column.cells} cells")
            else:
                lines.append(f"{mark} {column.name}: {column.accuracy:.1%} right, {column.expected:.1%} expected, "
                             f"{column.cells} cells")
        return "\n".join(lines)


def check_model(model: Model, data: Any, orderings: int, seed: int) -> Check:
    """Model.check."""
    frame = frame_of(data)
    table = frame.table()
    options = model._score_options(None, None, orderings, seed, None, False, "missing")
    _, found = model._score(table, options)
    values, _ = model._values(table, None, "missing")
    values[np.isinf(values)] = np.nan
    columns = [_check_column(model, place, column, values, seed) for place, column in enumerate(model.columns)]
    from ._model import Summary

    summary = Summary(found.rows, found.mean, found.standard_error, found.gain, found.bits_per_cell, found.mean_spread)
    return Check(summary, tuple(column for column in columns if column is not None))


def _check_column(model: Model, place: int, column: Column, values: np.ndarray, seed: int) -> ColumnCheck | None:
    rows = values[~np.isnan(values[:, place])]
    if len(rows) < 2:
        return None
    cells = rows[:, place].copy()
    return _check_numbers(model, place, column, rows, cells, seed) if column.numeric else _check_labels(
        model, place, column, rows, cells)


def _check_numbers(model: Model, place: int, column: Column, rows: np.ndarray, cells: np.ndarray,
                   seed: int) -> ColumnCheck:
    ends = ask(model, place, rows, points=cells[:, np.newaxis], wanted=("below", "upto"))
    below, upto = ends["below"][:, 0], ends["upto"][:, 0]
    places = np.sort(below + np.random.default_rng(seed).random(len(rows)) * (upto - below))
    steps = np.arange(len(places) + 1) / len(places)
    distance = float(max((steps[1:] - places).max(), (places - steps[:-1]).max()))
    inside = [float(np.mean(np.abs(places - 0.5) <= half)) for half in (0.25, 0.45)]
    return ColumnCheck(column.name, len(rows), bool(distance * np.sqrt(len(rows)) < _ODD), inside[0], inside[1],
                       distance)


def _check_labels(model: Model, place: int, column: Column, rows: np.ndarray, cells: np.ndarray) -> ColumnCheck:
    shares = ask(model, place, rows, wanted=("probability",))["probability"]
    accuracy, expected = float(np.mean(shares.argmax(axis=1) == cells)), float(shares.max(axis=1).mean())
    error = np.sqrt((shares.max(axis=1) * (1 - shares.max(axis=1))).mean() / len(rows))
    good = abs(accuracy - expected) <= _ODD_SHARE * error + 1e-9
    return ColumnCheck(column.name, len(rows), bool(good), accuracy=accuracy, expected=expected)
