"""Fitting a model: options by the names that the library has for them, progress, and stopping."""
from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import threading
from types import SimpleNamespace
from typing import Any, Callable, Iterator, Mapping

import numpy as np

from . import _library as c
from ._added_column import with_column
from ._context import as_text, call, column_list, number_of, path_bytes, text_bytes, warn
from ._errors import BadCall
from ._frames import Frame, frame_of
from ._interrupts import Escapes
from ._library import library
from ._model import Model, ModelHandle
from ._numbers import checked, count_of
from ._objects import unmasked
from ._progress import progress_shower
from ._tables import READ_OPTIONS, Table, read_options
from ._templates import template_of

# Names of columns that are added for what is said of rows.
_ROWS_SAID = {c.TIDY_WEIGHTS: "weights of the rows", c.TIDY_GROUPS: "groups of the rows",
              c.TIDY_TIMES: "times of the rows"}

TYPES = ("binary", "real", "categorical", "count", "ordered", "date")

# Members of nade_train_options that are numbers, truth values or words: every row of train_options.h.
OPTIONS = ("valid_fraction", "folds", "kind", "factors", "prior", "components", "atoms", "maps", "holes", "activation", "order",
           "masks", "blocks", "width", "direct", "members", "bootstrap", "learning_rate", "effort", "batch", "iterations",
           "updates", "optimizer", "warmup", "schedule", "stratify", "focus", "augment", "momentum", "weight_decay", "direct_decay",
           "dropout", "clip", "average", "start", "pretrain", "patience", "cooldown", "compare", "retries", "time_limit",
           "seed")


def fit(data: Any, *, valid: Any = None, types: Mapping[str, str] | None = None, keep: Any = None,
        keep_sentinels: Any = None, missing_as_value: Any = None, weights: Any = None, groups: Any = None,
        times: Any = None, bounds: Mapping[str, Any] | None = None,
        hidden: Any = None, ordering: Any = None, device: str = "auto", precision: str = "auto",
        checkpoint: str | os.PathLike[str] | None = None, resume: str | os.PathLike[str] | None = None,
        progress: bool | None = None, callback: Callable[[SimpleNamespace], Any] | None = None,
        **options: Any) -> Model:
    """Fit a model to a table.

    Works well with no option: types of columns are found, rows are held out to say when to stop, and columns that
    number or name the rows are left out with a warning.

    data: a pandas, polars or pyarrow table, anything with Arrow's stream, a NumPy array, a dict of arrays, a list of
        rows, or the path of a file that the command reads (CSV, ARFF, NPY, NPZ, IDX, each also gzip'ed).
    valid: rows for validation, of the same columns; without them a share of the rows is held out.
    types: types of columns by name where the rule is to be overridden: "binary", "real", "categorical", "count",
        "ordered" or "date"; "date=DD/MM/YYYY" where the form can't be found.
    keep, keep_sentinels, missing_as_value: columns that stay though they name the rows; whose numbers such as -999
        are values; in which absence is a label of its own.
    weights, groups, times: how much each row counts; which rows are held out together; by what the latest rows are
        held out: a column that has it, which is no column of the model then, or an array with a value for each row.
    bounds: (low, high) of real columns by name, None where there is no bound.
    hidden: units of each hidden layer of a plain network, in place of a residual one; 0, with order="fixed": none,
        so that each column is a regression on those before it.
    ordering: with order="fixed", the one ordering of the columns.
    device, precision: "auto", "cpu", "cuda" or "reference"; "auto", "fp32", "tf32" or "bf16".
    checkpoint, resume: files to keep what resuming needs, and to go on from.
    progress: show a bar; None: on a terminal and in notebooks.
    callback: called with a report after each iteration and now and then (iteration, iterations, train_loss,
        valid_loss, seconds, …, as nade_progress has them); true ends training with the best model so far.
    options: the training options of docs/recipe.md by the library's names, such as effort="quick", iterations=50,
        learning_rate=0.001, members=4, seed=1, or kind="mixture" for a mixture in place of a network,
        kind="mog" for one of Gaussians with covariances; compare=True fits a simple mixture after a network, which takes
        1 to 10 seconds, and the callback's last report has its mixture_loss; of files and Arrow's tables also columns, drop, missing and
        others; map=True reads an array file as training needs it, so that it may be larger than memory.

    Ctrl-C ends training with the best model so far, a second one without a model.

    >>> import numpy as np, nade
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(300, 1))
    >>> m = nade.fit(np.hstack([x, x + rng.normal(size=(300, 1))]), effort="quick", iterations=3, progress=False)
    >>> len(m.columns)
    2
    """
    reading = read_options({name: options.pop(name) for name in READ_OPTIONS if name in options})
    frame = frame_of(data)
    rows_said = {c.TIDY_WEIGHTS: weights, c.TIDY_GROUPS: groups, c.TIDY_TIMES: times}
    table = prepare_table(frame, reading, types or {}, keep, keep_sentinels, missing_as_value, rows_said)
    valid_table = None
    if valid is not None:
        valid_table = frame_of(valid).table(reading, learn=True)
        if weights is not None and isinstance(weights, (str, int)):
            call(library.nade_table_tidy, valid_table.pointer, c.TIDY_WEIGHTS, column_list(weights))
    run = Run(table, options)
    run.set("device", device)
    run.set("precision", precision)
    run.set_paths(checkpoint, resume)
    run.set_lists(hidden, ordering, bounds)
    handle = run.train(valid_table, progress, callback)
    return Model(handle, template_of(frame))


def prepare_table(frame: Frame, reading: Any, types: Mapping[str, str], keep: Any = None, keep_sentinels: Any = None,
                  missing_as_value: Any = None, rows_said: Mapping[int, Any] | None = None) -> Table:
    """The rows with the types that were asked for, and without what is not learnt from, as `nade train` has them."""
    taken = {}
    for what, said in (rows_said or {}).items():
        if said is None or isinstance(said, (str, int)):
            taken[what] = said
        else:
            frame, taken[what] = with_column(frame, _ROWS_SAID[what], np.asarray(unmasked(said)))
    table = frame.table(reading, learn=True)
    for name, type_ in types.items():
        word, _, form = str(type_).partition("=")
        if word not in TYPES:
            raise BadCall(f"the type of '{name}': found {type_!r}, expected one of {', '.join(TYPES)}")
        listed = (column_list(name) or b"") + (b"=" + text_bytes(form) if form else b"")
        call(library.nade_table_set_type, table.pointer, listed, TYPES.index(word))
    if missing_as_value is not None:
        call(library.nade_table_tidy, table.pointer, c.TIDY_ABSENCE, column_list(missing_as_value))
    for what, column in taken.items():
        if column is not None:
            call(library.nade_table_tidy, table.pointer, what, column_list(column))
    call(library.nade_table_tidy, table.pointer, c.TIDY_COLUMNS, column_list(keep))
    call(library.nade_table_tidy, table.pointer, c.TIDY_SENTINELS, column_list(keep_sentinels))
    return table


def _unknown(name: str) -> str:
    """What to say of an option that there is not: which was likely meant, else all."""
    import difflib
    import inspect

    known = [*OPTIONS, *READ_OPTIONS, *list(inspect.signature(fit).parameters)[1:-1]]
    meant = difflib.get_close_matches(name, known, 1, 0.7)
    return f"found the option {name}, " + (f"did you mean {meant[0]}?" if meant else
                                           f"expected one of {', '.join(known)}")


class Run:
    """One training: its options, and what they point to."""

    def __init__(self, table: Table, options: Mapping[str, Any]) -> None:
        self.table = table
        self.options = c.TrainOptions()
        self.given: list[str] = []
        self.kept: list[Any] = []  # what the options point to
        library.nade_train_options_init(ctypes.byref(self.options), ctypes.sizeof(self.options))
        for name, value in options.items():
            if name not in OPTIONS:
                raise BadCall(_unknown(name))
            if value is not None:
                self.set(name, value)
                self.given.append(name)
        if "compare" not in self.given and self.options.kind == number_of("kind", "network"):
            self.options.compare = 0  # only a callback would hear of it

    def set(self, name: str, value: Any) -> None:
        """A number, a truth value or a word."""
        if name in c.WORDS:
            setattr(self.options, name, number_of(name, value))
            return
        wanted: Any = dict((field[0], field[1]) for field in c.TrainOptions._fields_)[name]
        setattr(self.options, name, checked(name, value, wanted))

    def set_paths(self, checkpoint: Any, resume: Any) -> None:
        self.options.checkpoint = None if checkpoint is None else path_bytes(checkpoint)
        self.options.resume = None if resume is None else path_bytes(resume)

    def set_lists(self, hidden: Any, ordering: Any, bounds: Mapping[str, Any] | None) -> None:
        if hidden is not None:
            sizes = [hidden] if np.ndim(hidden) == 0 else list(hidden)
            sizes = [count_of("hidden", size, least=0) for size in sizes]
            self.options.hidden, self.options.layers = self._sizes(sizes), len(sizes)
            self.given.append("hidden")
        if ordering is not None:
            if sorted(np.ravel(ordering).tolist(), key=str) != sorted(range(self.table.columns), key=str):
                raise BadCall(f"ordering: expected the numbers 0 to {self.table.columns - 1}, each once")
            self.options.ordering = self._sizes(ordering)
        if bounds:
            self._set_bounds(bounds)

    def _sizes(self, values: Any) -> Any:
        array = (ctypes.c_size_t * len(values))(*(int(value) for value in values))
        self.kept.append(array)
        return ctypes.cast(array, ctypes.POINTER(ctypes.c_size_t))

    def _set_bounds(self, bounds: Mapping[str, Any]) -> None:
        names = self._names()
        low, high = np.full(len(names), np.nan), np.full(len(names), np.nan)
        for name, ends in bounds.items():
            if name not in names:
                raise BadCall(f"bounds: found the column '{name}', expected one of {', '.join(names[:20])}")
            place = names.index(name)
            low[place], high[place] = _ends(name, ends)
        self.kept += [low, high]
        self.options.low = low.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
        self.options.high = high.ctypes.data_as(ctypes.POINTER(ctypes.c_double))

    def _names(self) -> list[str]:
        names = []
        for i in range(self.table.columns):
            filled = c.Column(size=ctypes.sizeof(c.Column))
            library.nade_table_column(self.table.pointer, i, ctypes.byref(filled))
            names.append(as_text(filled.name))
        return names

    def train(self, valid: Table | None, progress: bool | None, callback: Any) -> ModelHandle:
        offsets = [getattr(c.TrainOptions, name).offset for name in self.given]
        self.options.given, self.options.given_count = self._sizes(offsets), len(offsets)
        watch = Watch(progress_shower(progress), callback)
        report = c.REPORT(watch.report)
        self.options.progress = report
        handle = ModelHandle()
        try:
            with watch.escapes, watch.interrupts():
                call(library.nade_train, self.table.pointer, None if valid is None else valid.pointer,
                     ctypes.byref(self.options), ctypes.byref(handle.pointer))
        finally:
            watch.shower.close()
            if watch.failure is not None:
                raise watch.failure
        if watch.interrupts_seen > 1:
            raise KeyboardInterrupt
        if watch.interrupts_seen:
            warn("training was interrupted: the model is the best so far")
        return handle


def _ends(name: str, ends: Any) -> tuple[float, float]:
    """Bounds of a column, infinite where there are none."""
    if ends is None:
        return -np.inf, np.inf
    if np.ndim(ends) != 1 or len(ends) != 2:
        raise BadCall(f"bounds of '{name}': found {ends!r}, expected two such as (0, 1) or (0, None)")
    low, high = (end if end is None else checked(f"bounds of '{name}'", end, ctypes.c_double) for end in ends)
    return -np.inf if low is None else low, np.inf if high is None else high


class Watch:
    """What happens while the library trains: reports, and Ctrl-C."""

    def __init__(self, shower: Any, callback: Callable[[SimpleNamespace], Any] | None) -> None:
        self.shower, self.callback = shower, callback
        self.interrupts_seen = 0
        self._failure: BaseException | None = None
        self.escapes = Escapes(self.report)

    @property
    def failure(self) -> BaseException | None:
        """What the callback, or a signal's handler, has raised."""
        return self._failure or self.escapes.failure

    def report(self, _user: Any, pointer: Any) -> int:
        """What the library calls: 1 ends training."""
        try:
            report = SimpleNamespace(**{name: getattr(pointer.contents, name) for name, *_ in c.Progress._fields_[1:]})
            self.shower.show(report)
            stop = self.callback is not None and bool(self.callback(report))
        except BaseException as failure:  # noqa: BLE001  (it is raised again when the library has returned)
            self._failure, stop = failure, True
        return int(stop or self.interrupts_seen > 0 or self.escapes.failure is not None)

    @contextlib.contextmanager
    def interrupts(self) -> Iterator[None]:
        """Takes Ctrl-C for a wish to stop; only the main thread can."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.getsignal(signal.SIGINT)
        if before in (None, signal.SIG_IGN):
            yield
            return
        signal.signal(signal.SIGINT, self._interrupt)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def _interrupt(self, _number: int, _frame: Any) -> None:
        self.interrupts_seen += 1
        if self.interrupts_seen == 1:
            print("\nstopping with the best model so far", file=sys.stderr)
