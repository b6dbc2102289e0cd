"""The distribution of one column given other cells of a row, for one row or many."""
from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _library as c
from ._columns import Column
from ._context import call, doubles, number_of
from ._errors import BadCall
from ._library import library
from ._numbers import count_of, seed_of, share_of

if TYPE_CHECKING:
    from ._model import Model

_QUANTILE_STEPS = 60  # halvings of an interval
_JUMP_LEAST = 1e-12  # probability between its ends then that is a value's own


def ask(model: Model, place: int, values: np.ndarray, *, points: np.ndarray | None = None,
        levels: np.ndarray | None = None, exact: bool = False, wanted: tuple[str, ...] = ()) -> dict[str, np.ndarray]:
    """nade_predict: any of "probability", "mean", "quantile", "below", "upto" and "log_density"."""
    rows = len(values)
    values = np.ascontiguousarray(values, dtype=np.float64)
    points = None if points is None else np.ascontiguousarray(points, dtype=np.float64)
    point_count = 0 if points is None else points.shape[1]
    shapes = {"mean": (rows,), "probability": (rows, len(model.columns[place].choices)),
              "quantile": (rows, 0 if levels is None else len(levels))}
    found = {name: np.empty(shapes.get(name, (rows, point_count))) for name in wanted}
    session = model._session()
    question = c.Prediction(size=ctypes.sizeof(c.Prediction), column=place, exact=int(exact),
                            device=number_of("device", model.device),
                            precision=number_of("precision", model.precision), session=session.pointer,
                            levels=doubles(levels), level_count=0 if levels is None else len(levels),
                            point_count=point_count)
    for part in session.parts(rows) if rows else ():
        question.points = None if points is None else doubles(points[part])
        for name, array in found.items():
            setattr(question, name, doubles(array[part]))
        call(library.nade_predict, model._pointer, ctypes.byref(question), part.stop - part.start,
             doubles(values[part]))
    return found


def central_levels(probability: float) -> tuple[float, float]:
    """The levels of the ends of a central interval; the upper one would be rounded to 1 where it holds nearly all."""
    return (1 - probability) / 2, min((1 + probability) / 2, np.nextafter(1.0, 0.0))


class Density:
    """The distribution of a column given other cells: of one row, or of each of many.

    For one row the results of the methods have the shape of what is asked; for many the rows come first. A column of
    numbers has ``pdf``, ``cdf``, ``quantile``, ``mean``, ``median`` and ``interval``; a column of labels has
    ``probabilities`` and ``mode``; both have ``log_pdf`` and ``sample``.

    A continuous number is as the data record it, rounded to the column's step, unless ``exact`` is true: ``cdf(x)`` is
    then the probability of all recorded values up to x, x included.
    """

    def __init__(self, model: Model, column: str, values: np.ndarray, mixed: bool = False, single: bool = False,
                 frame: Any = None) -> None:
        self._model, self._values = model, values
        self._mixed = mixed  # one distribution, the mean of those of all rows
        self._single = single or mixed
        self._frame = frame
        self._place = model._place(column)
        self.column: Column = model.columns[self._place]

    def __len__(self) -> int:
        return 1 if self._single else len(self._values)

    def __repr__(self) -> str:
        of = "" if self._single else f", {len(self._values)} rows"
        return f"Density('{self.column.name}', {self.column.kind}{of})"

    # ---- asking ------------------------------------------------------------------------------------------------------

    def _ask(self, **question: Any) -> dict[str, np.ndarray]:
        return ask(self._model, self._place, self._values, **question)

    def _fold(self, array: np.ndarray) -> Any:
        """The answers of many rows, or the one, or the mean of all."""
        if not self._single:
            return array
        return array.mean(axis=0) if self._mixed else array[0]

    def _at(self, x: Any, what: str, exact: bool = False) -> Any:
        """Answers at points, which are the same for all rows unless x has as many rows."""
        points = self.column.encode_all(x)
        shape = points.shape
        each = not self._single and points.ndim == 2 and len(points) == len(self._values)
        flat = points if each else np.broadcast_to(points.ravel(), (len(self._values), points.size))
        found = self._ask(points=flat, exact=exact, wanted=(what,))[what]
        if each:
            return found
        if what == "log_density" and self._mixed:
            folded = np.logaddexp.reduce(found, axis=0) - np.log(len(found))
        else:
            folded = self._fold(found)
        result = folded.reshape(shape if self._single else (len(found), *shape))
        return float(result) if result.ndim == 0 else result

    def _numbers_only(self, what: str) -> None:
        if not self.column.numeric:
            raise BadCall(f"column '{self.column.name}' is {self.column.type}: it has no {what}, but probabilities")

    def log_pdf(self, x: Any) -> Any:
        """The log density at x, or the log probability of a label; natural logarithms, in the data's units.

        >>> bool(m.density("visitors").log_pdf(100) < 0)
        True
        """
        return self._at(x, "log_density")

    def pdf(self, x: Any) -> Any:
        """The density at x, or the probability of a label.

        >>> m.density("visitors").pdf([50, 100]).shape
        (2,)
        """
        return np.exp(self.log_pdf(x))

    def cdf(self, x: Any, *, exact: bool = False) -> Any:
        """The probability of values up to x, x included.

        >>> m.density("visitors").cdf(100000) > 0.99
        True
        """
        self._numbers_only("cdf")
        return self._at(x, "upto", exact)

    def below(self, x: Any, *, exact: bool = False) -> Any:
        """The probability of values below x.

        >>> density = m.density("visitors")
        >>> density.below(100) <= density.cdf(100)
        True
        """
        self._numbers_only("order")
        return self._at(x, "below", exact)

    def quantile(self, level: Any, *, exact: bool = False) -> Any:
        """The least value up to which there is so much probability.

        >>> m.density("visitors").quantile([0.1, 0.9]).shape
        (2,)
        """
        self._numbers_only("quantiles")
        levels = np.asarray(level, dtype=np.float64)
        flat = np.ascontiguousarray(levels.ravel())
        found = self._ask(levels=flat, exact=exact, wanted=("quantile",))["quantile"]
        folded = self._mixed_quantile(flat, found, exact) if self._mixed else self._fold(found)
        return self._as_values(folded.reshape(levels.shape if self._single else (len(found), *levels.shape)))

    def _mixed_quantile(self, levels: np.ndarray, found: np.ndarray, exact: bool) -> np.ndarray:
        """Of a mean of distributions, by halving the interval that holds those of all."""
        low, high = found.min(axis=0), found.max(axis=0)
        for _ in range(_QUANTILE_STEPS if len(found) > 1 else 0):
            middle = (low + high) / 2
            points = np.broadcast_to(middle, (len(self._values), len(levels)))
            enough = self._ask(points=points, exact=exact, wanted=("upto",))["upto"].mean(axis=0) >= levels
            low, high = np.where(enough, low, middle), np.where(enough, middle, high)
        return self._at_jump(low, high, exact) if len(found) > 1 else high

    def _at_jump(self, low: np.ndarray, high: np.ndarray, exact: bool) -> np.ndarray:
        """high, or where a value that the column records lies right before it, that value: the quantile of the row
        that finds it likeliest, at a level in the middle of its probability."""
        every = np.arange(len(high))
        points = np.broadcast_to(np.concatenate([low, high]), (len(self._values), 2 * len(high)))
        upto = self._ask(points=points, exact=exact, wanted=("upto",))["upto"]
        before, after = upto[:, :len(high)], upto[:, len(high):]
        row = (after - before).argmax(axis=0)
        before, after = before[row, every], after[row, every]
        jumps = after - before > _JUMP_LEAST
        levels = np.where(jumps, (before + after) / 2, 0.5)
        values = self._ask(levels=levels, exact=exact, wanted=("quantile",))["quantile"]
        return np.where(jumps, values[row, every], high)

    def _as_values(self, numbers: np.ndarray) -> Any:
        if self.column.type == "date":
            dates = self.column.decode(np.atleast_1d(numbers), "datetime").reshape(numbers.shape)
            return dates[()] if dates.ndim == 0 else dates
        return float(numbers) if numbers.ndim == 0 else numbers

    def median(self) -> Any:
        """The value with half of the probability on either side.

        >>> density = m.density("temperature")
        >>> density.median() == density.quantile(0.5)
        True
        """
        return self.quantile(0.5)

    def interval(self, probability: float = 0.9) -> Any:
        """The ends of the central interval of so much probability.

        >>> low, high = m.density("temperature").interval(0.5)
        >>> bool(low < high)
        True
        """
        return self.quantile(central_levels(share_of("probability", probability)))

    def mean(self) -> Any:
        """The mean, of dates in the same way.

        >>> m.density("temperature", days).mean().shape
        (2000,)
        """
        self._numbers_only("mean")
        return self._as_values(np.asarray(self._fold(self._ask(wanted=("mean",))["mean"])))

    @property
    def probabilities(self) -> Any:
        """Of each label: a dict for one row, else an array (rows, labels) in the order of ``column.choices``.

        >>> list(m.density("season", {"temperature": 2.0}).probabilities)
        ['summer', 'winter']
        """
        if self.column.numeric:
            raise BadCall(f"column '{self.column.name}' is {self.column.type}: it has no labels, but pdf and cdf")
        found = self._fold(self._ask(wanted=("probability",))["probability"])
        return dict(zip(self.column.choices, found.tolist())) if self._single else found

    def mode(self) -> Any:
        """The likeliest label.

        >>> m.density("season", {"temperature": 2.0}).mode() in ("summer", "winter")
        True
        """
        if self.column.numeric:
            raise BadCall(f"column '{self.column.name}' is {self.column.type}: it has a median and a mean, no mode")
        found = np.atleast_2d(self._fold(self._ask(wanted=("probability",))["probability"]))
        labels = self.column.decode(found.argmax(axis=1).astype(np.float64))
        return labels[0] if self._single else labels

    def sample(self, n: int = 1, *, seed: int = 0) -> Any:
        """Draw n values, for many rows (rows, n); equal seeds give equal draws.

        >>> m.density("visitors").sample(4, seed=2).shape
        (4,)
        """
        n, uniform = count_of("the number of values to draw", n), np.random.default_rng(seed_of(seed))
        if self._mixed:  # each draw is from one of the distributions that are mixed
            counts = np.bincount(uniform.integers(len(self._values), size=n), minlength=len(self._values))
        else:
            counts = np.full(len(self._values), n)
        drawn = np.concatenate([self._draw(row, uniform.random(count)) for row, count in zip(self._values, counts)]
                               or [np.empty(0)])
        values = self.column.decode(uniform.permutation(drawn) if self._mixed else drawn)
        return values if self._single else values.reshape(len(self._values), n)

    def _draw(self, row: np.ndarray, chances: np.ndarray) -> np.ndarray:
        """Values of one row's distribution by inverting it at these chances."""
        rows = row[np.newaxis]
        if len(chances) == 0:
            return np.empty(0)
        if self.column.numeric:
            chances = np.clip(chances, 1e-15, 1 - 1e-15)
            return ask(self._model, self._place, rows, levels=chances, wanted=("quantile",))["quantile"][0]
        shares = ask(self._model, self._place, rows, wanted=("probability",))["probability"][0].cumsum()
        return np.searchsorted(shares, chances * shares[-1], side="right").astype(np.float64)

    def plot(self, ax: Any = None, **style: Any) -> Any:
        """Draw it with matplotlib: a curve, or bars for labels."""
        from ._plots import plot_density

        return plot_density(self, ax, **style)
