"""How far a model can be trusted on rows that it was not fitted to: what `nade check` says."""
from __future__ import annotations

import ctypes
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _library as c
from ._context import as_text, call, warn
from ._frames import frame_of
from ._interrupts import Interruptible
from ._library import library
from ._unseen import warn_of_unseen

if TYPE_CHECKING:
    from ._model import Model

_NOWHERE = ctypes.c_size_t(-1).value


@dataclass(frozen=True)
class ColumnCheck:
    """One column's cells given the rest of their rows (docs/answers.md)."""

    name: str
    type: str
    cells: int  #: that are there
    p_value: float  #: that the column is calibrated
    distance: float  #: the most that a cumulative probability is off by
    off: float  #: the most that a probability that matters is off by
    gain: float  #: over independent columns, nats a cell
    standard_error: float  #: of the gain
    calibrated: bool
    fault: str  #: what is wrong, in words; "" where nothing is
    inside: dict[float, float]  #: numbers: the share of cells within the central interval of each probability
    hits: float  #: labels: the share of cells whose likeliest label is right
    expected_hits: float  #: labels: what that should be
    histogram: tuple[int, ...]  #: how many cells lie in each twentieth of their distributions

    def __str__(self) -> str:
        held = (", ".join(f"{share:.1%} within {level:.0%}" for level, share in self.inside.items()) if self.inside
                else f"right in {self.hits:.1%}, expected {self.expected_hits:.1%}")
        return (f"{self.name}: {self.cells} cells, {held}, p {self.p_value:.2g}, gain {self.gain:.3g} "
                f"± {self.standard_error:.2g}" + (f"; {self.fault}" if self.fault else ""))


@dataclass(frozen=True)
class SampleCheck:
    """Samples of the model beside rows."""

    rows: int  #: of each side; 0: there are too few
    energy_distance: float  #: about 0 where they are alike
    shuffled_columns: float  #: that of the rows and themselves with every column shuffled
    p_value: float  #: that they are alike
    differ: bool


@dataclass(frozen=True)
class WorstRow:
    """A row of low density."""

    row: int  #: counted from 0
    log_density: float
    column: str | None  #: whose cell is the least likely given the others
    tail: float  #: the probability of a value no likelier given the others


@dataclass(frozen=True)
class Check:
    """What Model.check returns: the figures and the verdict of `nade check --json`."""

    rows: int  #: that have cells
    mean: float  #: of their log densities
    standard_error: float
    gain: float  #: over independent columns, nats a row
    gain_standard_error: float
    mean_spread: float  #: over orderings
    level: float  #: how often all tests together are wrong about a right model at most
    columns: tuple[ColumnCheck, ...]  #: empty for a model of one fixed ordering
    samples: SampleCheck
    worst_rows: tuple[WorstRow, ...]
    good: bool  #: no fault was found, and it is better than independent columns
    verdict: str

    def __str__(self) -> str:
        lines = [f"{self.verdict[:1].upper()}{self.verdict[1:]}."]
        lines += [f"{' ' if column.calibrated else '!'} {column}" for column in self.columns if column.cells]
        return "\n".join(lines)

    __repr__ = __str__


def check_model(model: Model, data: Any, orderings: int, seed: int, unseen: str) -> Check:
    """Model.check."""
    table = frame_of(data).table()
    options = model._score_options(None, None, orderings, seed, None, False, unseen)
    options.session = model._session().pointer
    summary = c.CheckSummary(size=ctypes.sizeof(c.CheckSummary))
    columns = (c.ColumnCheck * len(model.columns))()
    columns[0].size = ctypes.sizeof(c.ColumnCheck)
    with Interruptible(options, table.rows * len(model.columns)):
        call(library.nade_check, model._pointer, table.pointer, ctypes.byref(options), ctypes.byref(summary), columns)
    if summary.unseen:
        warn_of_unseen(summary.unseen, as_text(summary.first_unseen))
    warn_of_known_rows(model, table.rows)
    return _result(model, summary, columns)


def warn_of_known_rows(model: Model, rows: int, name: str = "the model") -> None:
    """Rows that a model was fitted to say too much for it, and weights are not looked at here."""
    info = model.info
    record = info.get("training", {})
    trained, held_out = record.get("train_rows", 0), record.get("valid_rows", 0)
    if rows > 1 and rows in (trained, trained + held_out):
        warn(f"{name} was fitted to a table of as many rows ({rows}): if these are the same, it is judged too well; "
             "take rows that it has not seen")
    if any(left.get("role") == "weights" for left in info.get("left_out", ())):
        warn(f"{name} was fitted with weights of rows; here all rows count alike")


def _result(model: Model, summary: Any, columns: Any) -> Check:
    levels = list(summary.interval)
    names = model.names
    return Check(
        rows=summary.rows, mean=summary.mean, standard_error=summary.standard_error, gain=summary.gain,
        gain_standard_error=summary.gain_standard_error, mean_spread=summary.mean_spread, level=summary.level,
        columns=tuple(_column(known, found, levels) for known, found in zip(model.columns, columns)
                      if summary.by_column),
        samples=SampleCheck(summary.sample_rows, summary.energy_distance, summary.shuffled_columns,
                            summary.sample_p_value, bool(summary.samples_differ)),
        worst_rows=tuple(WorstRow(worst.row, worst.log_density,
                                  None if worst.column == _NOWHERE else names[worst.column],
                                  math.nan if worst.column == _NOWHERE else worst.tail)
                         for worst in summary.worst[:summary.worst_count]),
        good=bool(summary.good), verdict=as_text(summary.verdict))


def _column(known: Any, found: Any, levels: list[float]) -> ColumnCheck:
    inside = dict(zip(levels, found.inside)) if known.numeric else {}
    return ColumnCheck(known.name, known.type, found.cells, found.p_value, found.distance, found.off, found.gain,
                       found.standard_error, c.FAULTS[found.fault] != "found", as_text(found.words), inside,
                       found.hits, found.expected_hits, tuple(found.histogram))
