"""Which of two densities describes rows better, and by how much: what `nade compare` says."""
from __future__ import annotations

import ctypes
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _library as c
from ._check import warn_of_known_rows
from ._context import call, doubles
from ._errors import BadCall, BadInput
from ._frames import frame_of
from ._interrupts import Interruptible
from ._library import library
from ._model import Model
from ._numbers import seed_of
from ._tables import Table
from ._unseen import allows_unseen, read_values

_WORDS = ("independent", *c.BASELINES)


@dataclass(frozen=True)
class Comparison:
    """The paired difference of two mean log densities, in nats per row, as `nade compare --json` has it."""

    difference: float  #: of the first to the second: above 0 the first is better
    standard_error: float
    rows: int  #: that both sides read alike and that have a cell
    mean_a: float
    mean_b: float
    a_better: int  #: rows on which the first is better
    b_better: int
    empty_rows: int  #: left out: rows without a cell,
    unseen_rows: int  #: with a value that a model does not know,
    unlike_rows: int  #: of which one model reads cells that are missing for the other
    verdict: str  #: which is better, and whether that may be chance


def compare(a: Model, b: Model | str, data: Any, *, of: Any = None, given: Any = None, orderings: int = 8,
            seed: int = 0, cells: bool = False, train: Any = None, unseen: str = "error") -> Comparison:
    """Which of two densities describes rows better, and by how much: row by row, so that what all rows share cancels.

    b may be another model of the same columns, "independent" (each column by itself, as the first model has stored
    it), "gaussian" (one Gaussian of all numbers) or "mixture" (of products of columns, as kind="mixture" fits it, with
    the first model's columns), which are fitted to rows.

    of, given: the density of these columns given those; models need share no others. given: of models only.
    cells: the cell score of docs/model.md in place of the density, for numbers that are rounded.
    train: rows to fit "gaussian" or "mixture" to, best those that the model was fitted to; without it each fifth of
        the rows is scored by what is fitted to the others.
    unseen: "missing" leaves out rows with values that training has not seen, "error" refuses them.

    >>> nade.compare(m, "independent", m.sample(200)).rows
    200
    """
    if not isinstance(a, Model):
        raise BadCall(f"found {a!r} as the first model, expected a nade.Model")
    if not isinstance(b, Model) and b not in _WORDS:
        raise BadCall(f"found {b!r}, expected a model or one of {', '.join(map(repr, _WORDS))}")
    fitted = isinstance(b, str) and b in c.BASELINES
    if train is not None and not fitted:
        raise BadCall("train: nothing is fitted to these rows, expected 'gaussian' or 'mixture' in the place of a model")
    if fitted and given is not None:
        raise BadCall(f"given: '{b}' is fitted to rows as wholes, expected a model or 'independent'")
    contest = _Contest(a, b, of, given, cells, unseen)
    for table in frame_of(data).parts():
        contest.add(table, orderings, seed)
    return contest.result(train, seed)


class _Contest:
    """Rows as they come, with what both sides give them."""

    def __init__(self, a: Model, b: Model | str, of: Any, given: Any, cells: bool, unseen: str) -> None:
        self.a, self.b, self.of, self.given, self.cells = a, b, of, given, cells
        self.allowed = allows_unseen(unseen)
        self.models = [side for side in (a, b) if isinstance(side, Model)]
        places = [self._wanted(model) for model in self.models]
        self.places = [places[0], _matched(a, places[0], b, places[1])] if isinstance(b, Model) else places
        self.values: list[np.ndarray] = []  # of the columns that are compared, as the first model reads them
        self.scores: list[list[np.ndarray]] = [[], []]
        self.left_out = {"empty": 0, "unseen": 0, "unlike": 0}
        self.table_rows = 0

    def _wanted(self, model: Model) -> list[int]:
        """The columns that the density is of, in the model's order."""
        named = [] if self.of is None else [self.of] if isinstance(self.of, (str, int)) else list(self.of)
        given = [] if self.given is None else [self.given] if isinstance(self.given, (str, int)) else list(self.given)
        chosen = {model._place(column) for column in named} or set(range(len(model.columns)))
        return sorted(chosen - {model._place(column) for column in given})

    def add(self, table: Table, orderings: int, seed: int) -> None:
        """Scores rows, those of the table that all sides can be compared on."""
        values = [self._read(model, places, table) for model, places in zip(self.models, self.places)]
        scores = self._score(table, orderings, seed)
        kept = self._kept(values)
        self.table_rows += table.rows
        self.values.append(values[0][kept])
        for place, found in enumerate(scores):
            self.scores[place].append(found[kept])

    def _read(self, model: Model, places: list[int], table: Table) -> np.ndarray:
        lacking = [name for i, name in enumerate(model.names) if i not in places] or None
        return read_values(model, table, lacking, True)[0][:, places]

    def _score(self, table: Table, orderings: int, seed: int) -> list[np.ndarray]:
        asked = [self.of, self.given, orderings, seed, None, self.cells, "missing" if self.allowed else "error"]
        if self.b == "independent":
            return list(self.a._beside_independent(table, asked))
        found = []
        for model in self.models:
            options = model._score_options(*asked)
            found.append(model._score(table, options, summarise=False)[0])
        return found

    def _kept(self, values: list[np.ndarray]) -> np.ndarray:
        first, last = values[0], values[-1]
        unseen = (np.isinf(first) | np.isinf(last)).any(axis=1)
        unlike = ~unseen & (np.isnan(first) != np.isnan(last)).any(axis=1)
        empty = ~unseen & ~unlike & np.isnan(first).all(axis=1)
        for word, rows in (("unseen", unseen), ("unlike", unlike), ("empty", empty)):
            self.left_out[word] += int(np.count_nonzero(rows))
        return ~(unseen | unlike | empty)

    def result(self, train: Any, seed: int) -> Comparison:
        """The difference over all rows."""
        for place, model in enumerate(self.models):
            warn_of_known_rows(model, self.table_rows, ("the first model", "the second model")[place])
        values = np.concatenate(self.values or [np.empty((0, len(self.places[0])))])
        scores = [np.concatenate(found) if found else np.empty(0) for found in self.scores]
        if isinstance(self.b, str) and self.b in c.BASELINES:
            scores[1] = self._fit(values, train, seed)
        elif isinstance(self.b, Model):
            self._even_units(values, scores)
        return _difference(scores[0], scores[1], self.b, self.left_out)

    def _fit(self, values: np.ndarray, train: Any, seed: int) -> np.ndarray:
        if train is None and len(values) == 1:
            raise BadInput(f"found 1 row to fit '{self.b}' to and to compare on, expected several, or train= with rows "
                           "to fit to")
        columns = (ctypes.c_size_t * len(self.places[0]))(*self.places[0])
        options = c.BaselineOptions(size=ctypes.sizeof(c.BaselineOptions), kind=c.BASELINES.index(str(self.b)),
                                    seed=seed_of(seed), cells=int(self.cells), columns=columns,
                                    column_count=len(columns))
        values, found = np.ascontiguousarray(values), np.empty(len(values))
        if train is not None:
            rows = np.ascontiguousarray(self._read(self.a, self.places[0], frame_of(train).table()))
            options.train, options.train_rows = doubles(rows), len(rows)
        with Interruptible(options, values.size):
            call(library.nade_score_baseline, self.a._pointer, ctypes.byref(options), len(values), doubles(values),
                 doubles(found), None, None)
        return found

    def _even_units(self, values: np.ndarray, scores: list[np.ndarray]) -> None:
        """Adds the log of the recording step where the other model gives the column's values probabilities."""
        assert isinstance(self.b, Model)
        for j, (i, k) in enumerate(zip(*self.places)):
            first, second = self.a.columns[i], self.b.columns[k]
            if (first.type == "real") == (second.type == "real"):
                continue
            side, step = (0, first.step) if first.type == "real" else (1, second.step)
            if not self.cells or not step > 0:
                raise BadCall(f"column '{first.name}' is {first.type} in the first model and {second.type} in the "
                              "second: a density and probabilities can't be compared, expected cells=True and a column "
                              "with a recording step, or of= without the column")
            scores[side][~np.isnan(values[:, j])] += math.log(step)


def _matched(a: Model, wanted: list[int], b: Model, other: list[int]) -> list[int]:
    """The second model's columns in the order of the first one's: by name, or by place where either has no names."""
    by_name = a._named and b._named
    keys = [a.names[i] if by_name else i for i in wanted]
    found = {b.names[k] if by_name else k: k for k in other}
    for lacking, which in ((set(keys) - set(found), "first"), (set(found) - set(keys), "second")):
        if lacking:
            column = min(lacking, key=str)
            raise BadCall(f"only the {which} model has the column {column!r}: expected models of the same columns, or "
                          "of= with names of those that they share")
    return [found[key] for key in keys]


def _difference(a: np.ndarray, b: np.ndarray, word: Any, left_out: dict[str, int]) -> Comparison:
    rows = len(a)
    mean_a, mean_b, difference = ((_sum(each) / rows if rows else math.nan) for each in (a, b, a - b))
    squares = _sum((a - b - difference) ** 2)
    error = math.sqrt(squares / (rows - 1) / rows) if rows > 1 else math.nan
    return Comparison(difference, error, rows, mean_a, mean_b, int(np.count_nonzero(a > b)),
                      int(np.count_nonzero(b > a)), left_out["empty"], left_out["unseen"], left_out["unlike"],
                      _verdict(difference, error, rows, "the second" if isinstance(word, Model) else f"'{word}'"))


def _sum(values: np.ndarray) -> float:
    """From the first to the last, as the command adds them up."""
    return float(np.cumsum(values)[-1]) if len(values) else 0.0


def _verdict(difference: float, error: float, rows: int, second: str) -> str:
    size = abs(difference)
    if rows < 2:
        return f"{rows} row{'' if rows == 1 else 's'} can't tell which is better"
    if size == 0 and error == 0:
        return "there is no difference: both give every row the same density"
    if size > 2 * error:
        better, worse = ("the first", second) if difference > 0 else (second, "the first")
        beyond = f"{size / error:.3g}" if error > 0 else "all rows agree"
        return (f"{better} is better than {worse}, by {size:.3g} nats a row: the difference is beyond two standard "
                f"errors ({beyond})")
    return (f"these rows do not tell which is better: the difference, {difference:.3g} nats a row, is within two "
            "standard errors")
