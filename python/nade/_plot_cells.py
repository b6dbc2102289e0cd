"""A column along an axis of a picture: a cell for each label or value of an ordered column, else for each stretch of
its numbers or dates, so that no value lies between the points that are looked at."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._columns import _datetimes

if TYPE_CHECKING:
    from ._columns import Column
    from ._density import Density
    from ._model import Model

# Stretches of dates, as NumPy has them, and about how many seconds they are.
_STRETCHES = (("s", 1), ("10s", 10), ("m", 60), ("10m", 600), ("h", 3600), ("6h", 21600), ("D", 86400),
              ("W", 604800), ("M", 2629746), ("3M", 7889238), ("Y", 31556952), ("10Y", 315569520))
_DAY = 86400.0


class Cells:
    """The cells of one column; `low` and `high` are the numbers that they reach from and to, where they are ranges."""

    def __init__(self, model: Model, column: Column, low: float, high: float, most: int) -> None:
        self.column = column
        self.values: np.ndarray | None = None  # one for each cell; None: cells are ranges
        self.texts: list[str] = []
        if column.numeric and column.type != "ordered":
            self.edges = _edges(column, low, high, most)
            return
        if column.numeric:
            self.values = np.array(model.info["columns"][model._place(column.name)]["values"])
            self.texts = [f"{value:g}" for value in self.values]
        else:
            numbers = column.number_of_labels()
            self.values = np.arange(len(column.choices)) if numbers is None else np.argsort(numbers, kind="stable")
            self.texts = [column.choices[code] for code in self.values]
        self.edges = np.arange(len(self.values) + 1) - 0.5

    @property
    def named(self) -> bool:
        """Whether each cell is one value, and has its text."""
        return self.values is not None

    @property
    def drawn_edges(self) -> np.ndarray:
        """Where cells begin and end in the picture."""
        return _datetimes(self.edges) if self.column.type == "date" else self.edges

    @property
    def unit(self) -> str:
        """What masses are divided by to be heights."""
        return "probability" if self.named else "density per day" if self.column.type == "date" else "density"

    def masses(self, density: Density) -> np.ndarray:
        """The probability of each cell."""
        if self.values is None:
            below = density.below(self.drawn_edges, exact=self.column.type == "real")
            return np.clip(np.diff(np.ravel(below)), 0, None)
        if self.column.numeric:
            return np.ravel(density.pdf(self.values))
        shares = density.probabilities
        shares = np.array(list(shares.values())) if isinstance(shares, dict) else np.asarray(shares)[0]
        return shares[self.values]

    def heights(self, density: Density) -> np.ndarray:
        """Masses by the lengths of ranges: dates in days."""
        if self.named:
            return self.masses(density)
        return self.masses(density) / (np.diff(self.edges) / (_DAY if self.column.type == "date" else 1))

    def middles(self) -> list[Any]:
        """A value of the column in each cell, as conditions take it."""
        if self.values is not None:
            return self.values.tolist() if self.column.numeric else list(self.texts)
        middles = (self.edges[:-1] + self.edges[1:]) / 2
        step = max(self.column.step, 1.0) if self.column.type in ("date", "count") else 0.0
        if step:
            middles = np.floor(middles / step) * step
        return list(_datetimes(middles)) if self.column.type == "date" else middles.tolist()

    def places(self, values: np.ndarray) -> np.ndarray:
        """Where values in the library's numbers lie in the picture; those that are missing are left out."""
        values = values[np.isfinite(values)]
        if self.values is None:
            return _datetimes(values) if self.column.type == "date" else values
        order = np.argsort(self.values, kind="stable")
        return order[np.searchsorted(self.values[order], values)].astype(np.float64)

    def mark(self, axis: Any, most: int = 16) -> None:
        """At most so many texts of cells, or dates, along an axis of matplotlib's."""
        if self.named:
            every = -(-len(self.texts) // most)
            texts = self.texts[::every]
            slanted = sum(map(len, texts)) > 3 * most and axis.axis_name == "x"
            axis.set_ticks(np.arange(0, len(self.texts), every), texts,
                           **({"rotation": 45, "ha": "right", "rotation_mode": "anchor"} if slanted else {}))
        elif self.column.type == "date":
            from matplotlib.dates import YEARLY, AutoDateLocator, ConciseDateFormatter

            locator = AutoDateLocator(minticks=3, maxticks=8)
            locator.maxticks[YEARLY] = most // 2  # which are the widest texts
            axis.set_major_locator(locator)
            axis.set_major_formatter(ConciseDateFormatter(locator))


def _edges(column: Column, low: float, high: float, most: int) -> np.ndarray:
    if column.type == "date":
        return _date_edges(low, high, column.step, most)
    if column.type == "count":
        first, last = np.floor(low), np.ceil(high)
        width = max(1.0, np.ceil((last - first + 1) / most))
        return np.arange(first - 0.5, last + 0.5 + width, width)
    return np.linspace(low, high if high > low else low + (column.step or 1.0), most + 1)


def _date_edges(low: float, high: float, step: float, most: int) -> np.ndarray:
    """Whole seconds, …, days, weeks, months or years: the shortest of which there are not too many."""
    ends = _datetimes(np.array([low, high]))
    for unit, seconds in _STRETCHES:
        if seconds >= step and (high - low) / seconds + 2 <= most:
            break
    first, last = ends.astype(f"datetime64[{unit}]")
    edges = np.arange(first, last + 2).astype("datetime64[us]")
    return (edges - np.datetime64(0, "us")) / np.timedelta64(1, "s")
