"""What is known of rows: values, ranges and sets of values of any columns; drawing and probabilities given these."""
from __future__ import annotations

import ctypes
import datetime
import math
from typing import TYPE_CHECKING, Any, Mapping

import numpy as np

from . import _library as c
from ._columns import Column, _number
from ._context import call, doubles, number_of
from ._density import Density, ask
from ._errors import BadCall
from ._library import library
from ._numbers import checked, count_of, seed_of

if TYPE_CHECKING:
    from ._model import Model

# As in the command, so that both draw the same rows: cells of a block, its least rows, and tries at a row.
_BLOCK_CELLS, _PROB_CELLS, _BLOCK_LEAST, _TRIES_MOST = 1 << 22, 1 << 20, 128, 1000


class Not:
    """Any value but these, in a condition: ``m.where(job=nade.Not("student", "retired"))``.

    >>> set(m.where(season=nade.Not("winter")).sample(5)["season"].tolist())
    {'summer'}
    """

    def __init__(self, *values: Any) -> None:
        self.values = values

    def __repr__(self) -> str:
        return f"Not({', '.join(map(repr, self.values))})"


class Probability(float):
    """A number with its standard error, and the draws that it is a share of: both 0 where it is exact, and only there.

    >>> p = m.prob(season="summer")
    >>> p.standard_error, p.draws  # of one column it is exact
    (0.0, 0)
    """

    standard_error: float
    draws: int

    def __new__(cls, share: float, draws: int = 0) -> Probability:
        self = super().__new__(cls, share)
        self.standard_error = _error_of(share, draws)
        self.draws = draws
        return self

    def __repr__(self) -> str:
        return f"Probability({float(self)!r}, standard_error={self.standard_error:.2g}, draws={self.draws})"


def _error_of(share: float, draws: int) -> float:
    """As the command has it: of no hits, or hits alone, the deviation of the probability under a uniform prior."""
    if draws == 0:
        return 0.0
    if 0 < share < 1:
        return math.sqrt(share * (1 - share) / draws)
    mean = (share * draws + 1) / (draws + 2)
    return math.sqrt(mean * (1 - mean) / (draws + 3))


def _value_of(column: Column, value: Any) -> float:
    """As the command takes it: a count that can't be is a slip, not an event of probability 0."""
    found = column.encode(value)
    if column.type == "count" and (found < 0 or found != math.floor(found)):
        raise BadCall(f"column '{column.name}': found {value!r}, expected a whole number from 0 on")
    return found


class Conditions:
    """Conditions on a model's columns in the library's numbers: given values, ranges, sets."""

    def __init__(self, columns: tuple[Column, ...], named: Mapping[str, Any]) -> None:
        self.columns = columns
        self.given = np.full(len(columns), np.nan)
        self.low = np.full(len(columns), -np.inf)
        self.high = np.full(len(columns), np.inf)
        self.sets: list[tuple[int, bool, np.ndarray]] = []  # column, whether among them or not, values
        places = {column.name: i for i, column in enumerate(columns)}
        for name, what in named.items():
            place = places.get(str(name))
            if place is None:
                raise BadCall(f"found a condition on '{name}', expected one of the model's columns: "
                              + ", ".join(list(places)[:20]))
            self._take(place, what)

    @property
    def ranges(self) -> bool:
        return bool(np.isfinite(self.low).any() or np.isfinite(self.high).any())

    def _take(self, place: int, what: Any) -> None:
        column = self.columns[place]
        if isinstance(what, tuple):
            self._take_range(place, column, what)
        elif isinstance(what, Not):
            self.sets.append((place, False, np.array([_value_of(column, value) for value in what.values])))
        elif isinstance(what, (list, set, frozenset, np.ndarray)):
            values = np.unique([_value_of(column, value) for value in what])
            if len(values) == 0:
                raise BadCall(f"column '{column.name}': found an empty list, expected values")
            if len(values) == 1:
                self.given[place] = values[0]
            else:
                self.sets.append((place, True, values))
        else:
            self.given[place] = _value_of(column, what)

    def _take_range(self, place: int, column: Column, ends: tuple[Any, ...]) -> None:
        if len(ends) != 2:
            raise BadCall(f"column '{column.name}': found {ends!r}, expected two ends such as (30, 40) or (30, None)")
        low, high = (limit if end is None else self._end(column, end)
                     for end, limit in zip(ends, (-math.inf, math.inf)))
        if not column.numeric and column.number_of_labels() is None:
            raise BadCall(f"column '{column.name}' is {column.type}, expected a range on a column of numbers, or of "
                          "labels that are")
        if low > high:
            raise BadCall(f"column '{column.name}': no number lies within {ends!r}")
        if column.type == "binary":
            self._take_binary_range(place, column, low, high)
        else:
            self.low[place], self.high[place] = low, high

    @staticmethod
    def _end(column: Column, value: Any) -> float:
        if column.type == "date":
            return column.encode(value)
        lasting = isinstance(value, (datetime.timedelta, np.timedelta64))
        end = checked(f"column '{column.name}'", _number(value) if lasting else value, ctypes.c_double)
        if math.isnan(end):
            raise BadCall(f"column '{column.name}': found the end {value!r}, expected a number, or None for no end")
        return end

    def _take_binary_range(self, place: int, column: Column, low: float, high: float) -> None:
        numbers = column.number_of_labels()
        assert numbers is not None
        within = np.flatnonzero((numbers >= low) & (numbers <= high))
        if len(within) == 0:
            raise BadCall(f"column '{column.name}': neither of its values lies within {(low, high)!r}")
        if len(within) == 1:
            self.given[place] = within[0]

    def meets_sets(self, values: np.ndarray) -> np.ndarray:
        """Which rows have values of the sets."""
        good = np.ones(len(values), dtype=bool)
        for place, among, chosen in self.sets:
            good &= np.isin(values[:, place], chosen) == among
        return good

    def holds(self, values: np.ndarray) -> np.ndarray:
        """Which rows meet all conditions."""
        good = self.meets_sets(values)
        for place, column in enumerate(self.columns):
            cells = values[:, place]
            if not np.isnan(self.given[place]):
                good &= cells == self.given[place]
            low, high = self.low[place], self.high[place]
            if low > -math.inf or high < math.inf:
                numbers = None if column.numeric else column.number_of_labels()
                cells = cells if numbers is None else numbers[cells.astype(np.intp)]
                good &= (cells >= low) & (cells <= high)
        return good

    def about(self) -> list[int]:
        """The columns that there are conditions on."""
        said = ~np.isnan(self.given) | np.isfinite(self.low) | np.isfinite(self.high)
        said[[place for place, _, _ in self.sets]] = True
        return np.flatnonzero(said).tolist()


def exact_probability(model: Model, event: Conditions, given: Conditions) -> float | None:
    """Of an event about one column given values of others; None where draws are needed."""
    about = event.about()
    if len(about) != 1 or given.ranges or given.sets or not np.isnan(given.given[about[0]]):
        return None
    place = about[0]
    share = _share_of_numbers if model.columns[place].numeric else _share_of_labels
    try:
        return min(max(share(model, place, event, given.given[np.newaxis]), 0.0), 1.0)
    except BadCall:  # a model of one fixed ordering can't answer for this column
        return None


def _share_of_labels(model: Model, place: int, event: Conditions, row: np.ndarray) -> float:
    shares = ask(model, place, row, wanted=("probability",))["probability"][0]
    values = np.full((len(shares), len(model.columns)), np.nan)
    values[:, place] = np.arange(len(shares))
    return sum(shares[event.holds(values)].tolist(), 0.0)


def _share_of_numbers(model: Model, place: int, event: Conditions, row: np.ndarray) -> float:
    """Of values named one by one those that meet everything; else what lies between the ends without those
    excluded."""
    sets = [(among, values) for column, among, values in event.sets if column == place]
    named = [event.given[place]] if not np.isnan(event.given[place]) else []
    among = bool(named) or any(among for among, _ in sets)
    named = list(dict.fromkeys([*named, *(value for _, values in sets for value in values.tolist())]))
    low, high = event.low[place], event.high[place]
    points = np.array([[*named, low, high]])
    ends = ask(model, place, row, points=points, wanted=("below", "upto", "above", "onward"))
    below, upto, above, onward = (ends[side][0].tolist() for side in ("below", "upto", "above", "onward"))

    def between(i: int, j: int) -> float:
        """From point i to point j, by the side on which there is less: a tail is no difference of numbers near 1."""
        return onward[i] - above[j] if below[i] > 0.5 else upto[j] - below[i]

    share = 0.0 if among else between(-2, -1)
    values = np.full((len(named), len(model.columns)), np.nan)
    values[:, place] = named
    meets = event.holds(values)
    for i, value in enumerate(named):
        if among and meets[i]:
            share += between(i, i)
        elif not among and low <= value <= high:
            share -= between(i, i)
    return share


class Draws:
    """Draws rows that meet conditions, block by block, numbered from 0."""

    def __init__(self, model: Model, conditions: Conditions, rows: int, cells: int, seed: int, orderings: int = 0,
                 exact: bool = False, holes: bool = False) -> None:
        self.model, self.conditions, self.rows, self.spare = model, conditions, rows, rows
        self.block = min(rows, max(cells // len(model.columns), _BLOCK_LEAST))
        self.options = c.SampleOptions()
        library.nade_sample_options_init(ctypes.byref(self.options), ctypes.sizeof(self.options))
        options = self.options
        options.orderings, options.seed = count_of("orderings", orderings), seed_of(seed)
        options.exact, options.holes = int(exact), int(holes)
        options.device, options.precision = number_of("device", model.device), number_of("precision", model.precision)
        if conditions.ranges:
            options.low, options.high = doubles(conditions.low), doubles(conditions.high)

    def blocks(self) -> Any:
        for first in range(0, self.rows, self.block):
            yield self._draw(first, min(self.block, self.rows - first))

    def _draw(self, first: int, rows: int) -> np.ndarray:
        values = np.empty((rows, len(self.model.columns)))
        good = 0
        for tries in range(_TRIES_MOST):
            drawn = values[good:]
            drawn[:] = self.conditions.given
            self.options.first = self.spare if tries else first
            self.spare += len(drawn) if tries else 0
            self._fill(drawn)
            met = drawn[self.conditions.meets_sets(drawn)]
            values[good:good + len(met)] = met
            good += len(met)
            if good == rows:
                return values
        raise BadCall(f"the conditions are too unlikely: {good} of {rows} rows met them in {_TRIES_MOST} tries each")

    def _fill(self, drawn: np.ndarray) -> None:
        session, first = self.model._session(), self.options.first
        self.options.session = session.pointer
        for part in session.parts(len(drawn)):
            self.options.first = first + part.start
            call(library.nade_sample, self.model._pointer, ctypes.byref(self.options), part.stop - part.start,
                 doubles(drawn[part]))


class Where:
    """A model given conditions: what Model.where returns."""

    def __init__(self, model: Model, named: Mapping[str, Any]) -> None:
        self._model = model
        self._named = {str(name): what for name, what in named.items()}
        self._conditions = Conditions(model.columns, self._named)

    def __repr__(self) -> str:
        return f"Where({', '.join(f'{name}={what!r}' for name, what in self._named.items())})"

    def where(self, conditions: Mapping[str, Any] | None = None, /, **named: Any) -> Where:
        """Further conditions, which replace those on the same columns.

        >>> m.where(rain=1).where(temperature=(None, 0), season="winter")
        Where(rain=1, temperature=(None, 0), season='winter')
        """
        further = {str(name): what for name, what in {**(conditions or {}), **named}.items()}
        return Where(self._model, {**self._named, **further})

    def sample(self, n: int = 1, *, seed: int = 0, orderings: int = 0, exact: bool = False, holes: bool = False,
               kind: str | None = None) -> Any:
        """Draw n rows that meet the conditions; as Model.sample.

        >>> bool((m.where(temperature=(20, 30)).sample(5)["temperature"] >= 20).all())
        True
        """
        values = draw_values(self._model, self._conditions, n, seed, orderings, exact, holes)
        return self._model._make_frame(values, kind)

    def prob(self, event: Mapping[str, Any] | None = None, /, *, draws: int = 10000, seed: int = 0,
             **named: Any) -> Probability:
        """The probability of an event given the conditions; as Model.prob.

        >>> p = m.where(season="summer", temperature=(20, 30)).prob(visitors=(100, None), draws=500)
        >>> p.draws
        500
        """
        wanted = Conditions(self._model.columns, {**(event or {}), **named})
        if not wanted.about():
            raise BadCall("the event is missing: expected conditions such as age=(None, 30)")
        draws, seed = count_of("draws", draws, least=2), seed_of(seed)
        exact = exact_probability(self._model, wanted, self._conditions)
        if exact is not None:
            return Probability(exact)
        drawing = Draws(self._model, self._conditions, draws, _PROB_CELLS, seed)
        hits = sum(int(np.count_nonzero(wanted.holds(block))) for block in drawing.blocks())
        return Probability(hits / draws, draws)

    def density(self, column: str, *, draws: int = 256, seed: int = 0) -> Density:
        """The distribution of a column given the conditions.

        Exact where the conditions are values. Given ranges and sets it is the mean of the distributions given `draws`
        rows that meet them.

        >>> bool(m.where(temperature=(20, 30)).density("visitors", draws=50).mean() > 0)
        True
        """
        draws, seed = count_of("draws", draws, least=1), seed_of(seed)
        conditions = self._conditions
        if str(column) in self._named:
            raise BadCall(f"column {str(column)!r} is among the conditions: expected one that is not; "
                          "prob tells how likely its values are given the others")
        if not conditions.ranges and not conditions.sets:
            return Density(self._model, column, conditions.given[np.newaxis], mixed=True)
        values = draw_values(self._model, conditions, draws, seed)
        known = np.array([column_.name in self._named for column_ in self._model.columns])
        values[:, ~known] = np.nan
        return Density(self._model, column, values, mixed=True)


def draw_values(model: Model, conditions: Conditions, rows: int, seed: int, orderings: int = 0, exact: bool = False,
                holes: bool = False) -> np.ndarray:
    """Rows in the library's numbers (rows, columns)."""
    rows = count_of("the number of rows to draw", rows)
    if rows == 0:
        return np.empty((0, len(model.columns)))
    drawing = Draws(model, conditions, rows, _BLOCK_CELLS, seed, orderings, exact, holes)
    blocks = list(drawing.blocks())
    return blocks[0] if len(blocks) == 1 else np.concatenate(blocks)
