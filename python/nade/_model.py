"""A fitted model: everything that can be asked about a table."""
from __future__ import annotations

import ctypes
import json
import os
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Mapping

import numpy as np

from . import _context
from . import _library as c
from ._columns import Column, model_columns
from ._conditions import Conditions, Probability, Where, draw_values
from ._context import Handle, Session, as_text, call, column_list, doubles, number_of, path_bytes
from ._density import Density
from ._errors import BadCall
from ._frames import DictFrame, Frame, frame_of
from ._interrupts import Interruptible
from ._library import library
from ._numbers import checked, count_of, seed_of, share_of
from ._predict import places_of, predict_rows
from ._tables import Table
from ._templates import Template, kind_for, make_frame
from ._unseen import allows_unseen, known_values, read_values, warn_of_unseen

if TYPE_CHECKING:
    from ._check import Check

_NOWHERE = ctypes.c_size_t(-1).value


class ModelHandle(Handle):
    """A nade_model."""

    _free = library.nade_model_free


@dataclass(frozen=True)
class Summary:
    """How well a model describes rows, in nats per row."""

    rows: int
    mean: float  #: of the rows' log densities
    standard_error: float
    gain: float  #: over independent columns
    bits_per_cell: float  #: NaN unless all columns are discrete
    spread: float  #: mean over rows of the standard deviation over orderings


class Model:
    """A density for every subset of a table's columns; nade.fit and nade.load make one.

    It can be used from several threads at once, pickled, and forked with the process. ``device`` and ``precision``
    say where it computes, "auto" by default, and can be set.

    In the examples of its methods `days` are the columns of examples/days.csv, and `m = nade.fit(days)`.
    """

    def __init__(self, handle: ModelHandle, template: Template | None = None) -> None:
        self._set_up(template)
        self._handle: ModelHandle | None = handle

    def _set_up(self, template: Template | None) -> None:
        self.device, self.precision = "auto", "auto"
        self._template = template
        self._handle = None
        self._file: bytes | None = None  # of a model that was unpickled and not used yet
        self._opening = threading.Lock()
        self._local = threading.local()
        self._columns: tuple[Column, ...] | None = None
        self._has_names: bool | None = None

    # ---- files and pickles -------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file (safetensors): the same bytes as the command's, readable by it and by nade.load.

        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     m.save(os.path.join(folder, "days.nade"))
        ...     nade.load(os.path.join(folder, "days.nade")).names == m.names
        True
        """
        call(library.nade_model_save, self._pointer, path_bytes(path))

    def to_bytes(self) -> bytes:
        """The model file's bytes.

        >>> nade.from_bytes(m.to_bytes()).names == m.names
        True
        """
        if self._handle is None and self._file is not None:
            return self._file
        import tempfile

        with tempfile.TemporaryDirectory(prefix="nade-") as folder:
            path = os.path.join(folder, "model.nade")
            self.save(path)
            with open(path, "rb") as file:
                return file.read()

    def __getstate__(self) -> dict[str, Any]:
        return {"file": self.to_bytes(), "template": self._template, "device": self.device,
                "precision": self.precision}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._set_up(state["template"])
        self._file = state["file"]
        self.device, self.precision = state["device"], state["precision"]

    def __copy__(self) -> Model:
        return self  # models never change

    def __deepcopy__(self, _memo: Any) -> Model:
        return self

    @property
    def _pointer(self) -> ctypes.c_void_p:
        """The nade_model; one that was unpickled is opened when it is first used."""
        if self._handle is None:
            with self._opening:
                if self._handle is None:
                    assert self._file is not None
                    self._handle = _load_bytes(self._file)
                    self._file = None
        return self._handle.pointer

    def _session(self) -> Session:
        """This thread's session, in this process."""
        key = (os.getpid(), self.device, self.precision, _context._threads)
        kept = getattr(self._local, "session", None)
        if kept is None or kept[0] != key:
            pointer = self._pointer
            assert self._handle is not None and pointer
            kept = self._local.session = (key, Session(self._handle, self.device, self.precision))
        return kept[1]

    # ---- what it is --------------------------------------------------------------------------------------------------

    @property
    def columns(self) -> tuple[Column, ...]:
        """What is known of each column: name, type, labels, step, and what it is in words.

        >>> m.columns[0].name, m.columns[0].type, m.columns[0].choices
        ('season', 'binary', ('summer', 'winter'))
        """
        if self._columns is None:
            self._columns = model_columns(self._pointer)
        return self._columns

    @property
    def names(self) -> list[str]:
        """The names of the columns.

        >>> m.names
        ['season', 'temperature', 'rain', 'visitors']
        """
        return [column.name for column in self.columns]

    @property
    def _named(self) -> bool:
        """Whether tables are matched by the names of columns, not by their places."""
        if self._has_names is None:
            self._has_names = bool(self.info["named"])
        return self._has_names

    @property
    def info(self) -> dict[str, Any]:
        """The description in the model file: columns, architecture, training record (docs/formats.md).

        >>> m.info["training"]["train_rows"]
        1800
        """
        return json.loads(as_text(library.nade_model_description(self._pointer)))

    @property
    def tensors(self) -> dict[str, np.ndarray]:
        """Copies of the parameters by their names in the model file.

        >>> m.tensors["output.weight"].dtype
        dtype('float32')
        """
        header = self.to_bytes()
        length = int.from_bytes(header[:8], "little")
        described = json.loads(header[8:8 + length])
        return {name: np.frombuffer(header, dtype="<f4", offset=8 + length + part["data_offsets"][0],
                                    count=int(np.prod(part["shape"]))).reshape(part["shape"]).copy()
                for name, part in described.items() if name != "__metadata__"}

    def _place(self, column: str | int) -> int:
        """The number of a column by its name, or by itself."""
        names = self.names
        if column in names:
            return names.index(column)  # type: ignore[arg-type]
        if isinstance(column, (int, np.integer)) and 0 <= column < len(names):
            return int(column)
        raise BadCall(f"found the column {column!r}, expected one of {', '.join(names[:20])}")

    def __repr__(self) -> str:
        counts: dict[str, int] = {}
        for column in self.columns:
            counts[column.type] = counts.get(column.type, 0) + 1
        return f"<nade.Model of {len(self.columns)} columns: {', '.join(f'{n} {t}' for t, n in counts.items())}>"

    def _repr_html_(self) -> str:
        from ._plots import model_html

        return model_html(self)

    # ---- rows into the library ---------------------------------------------------------------------------------------

    def _values(self, table: Table, may_lack: Any = None, unseen: str = "error",
                warn: bool = True) -> tuple[np.ndarray, np.ndarray]:
        """A table's cells in the library's numbers (rows, columns), infinite where a label is not known and that is
        allowed; and which of the table's columns each of the model's is."""
        values, source, first = read_values(self, table, may_lack, allows_unseen(unseen))
        if first and warn:
            warn_of_unseen(int(np.isinf(values).sum()), first)
        return values, source

    def _row_values(self, data: Any, may_lack: list[str], known: list[int], unseen: str) -> tuple[np.ndarray, Frame]:
        """Rows that may lack columns, and of which only the columns `known` are looked at."""
        frame = frame_of(data)
        if isinstance(frame, DictFrame) and not self._named:
            frame = frame.completed(self.names)
        if frame.empty:
            return np.empty((0, len(self.columns))), frame
        return known_values(self, frame.table(), may_lack, known, unseen), frame

    def _make_frame(self, values: np.ndarray, kind: str | None = None) -> Any:
        return make_frame(kind_for(self._template, kind, self._named), self._template, self.columns, values)

    # ---- densities ---------------------------------------------------------------------------------------------------

    def log_density(self, data: Any, *, of: Any = None, given: Any = None, orderings: int = 8, seed: int = 0,
                    order: Any = None, cells: bool = False, unseen: str = "error") -> Any:
        """The log density of each row: natural logarithms, in the data's own units.

        of, given: the density of these columns given those; columns in neither are marginalised and may be absent.
        orderings, seed: the density is the mean over so many orderings, which the seed fixes.
        order: orderings of one's own, (K, columns), in their place.
        cells: the cell score of docs/model.md, for numbers that are rounded.
        unseen: "missing" takes labels that training has not seen for missing cells, "error" refuses them.

        Missing cells are marginalised. Files and streams are read in parts, so that they may be of any size.

        >>> m.log_density(days, of="visitors", given=["temperature", "rain"]).shape
        (2000,)
        """
        frame = frame_of(data)
        options = self._score_options(of, given, orderings, seed, order, cells, unseen)
        parts = [] if frame.empty else [self._score(table, options, summarise=False)[0] for table in frame.parts()]
        return frame.vector("cell_score" if cells else "log_density",
                            parts[0] if len(parts) == 1 else np.concatenate(parts or [np.empty(0)]))

    def score(self, data: Any, *, of: Any = None, given: Any = None, orderings: int = 8, seed: int = 0,
              cells: bool = False, unseen: str = "error") -> Summary:
        """Mean log density of the rows, its standard error, and the gain over independent columns.

        >>> m.score(days).rows
        2000
        """
        options = self._score_options(of, given, orderings, seed, None, cells, unseen)
        _, found = self._score(frame_of(data).table(), options)
        return Summary(found.rows, found.mean, found.standard_error, found.gain, found.bits_per_cell,
                       found.mean_spread)

    def _score_options(self, of: Any, given: Any, orderings: int, seed: int, order: Any, cells: bool,
                       unseen: str) -> Any:
        options = c.ScoreOptions()
        library.nade_score_options_init(ctypes.byref(options), ctypes.sizeof(options))
        options.orderings, options.seed = count_of("orderings", orderings), seed_of(seed)
        options.cells = int(cells)
        options.of, options.given = column_list(of), column_list(given)
        options.unseen_missing = int(allows_unseen(unseen))
        options.device, options.precision = number_of("device", self.device), number_of("precision", self.precision)
        if order is not None:
            try:
                orders = np.ascontiguousarray(np.atleast_2d(order), dtype=np.uintp)
            except (TypeError, ValueError, OverflowError):
                orders = np.empty((0, 0), dtype=np.uintp)
            if orders.shape[1:] != (len(self.columns),) or (np.sort(orders) != np.arange(len(self.columns))).any():
                raise BadCall(f"order: expected orderings of the numbers 0 to {len(self.columns) - 1}, each once")
            options.kept = orders
            options.order = orders.ctypes.data_as(ctypes.POINTER(ctypes.c_size_t))
            options.orderings = len(orders)
        return options

    def _score(self, table: Table, options: Any, summarise: bool = True) -> tuple[np.ndarray, Any]:
        """Each row's log density, and where it is wanted or unseen values are to be counted, the summary."""
        rows = table.rows
        found = np.empty(rows)
        summary = c.ScoreSummary(size=ctypes.sizeof(c.ScoreSummary))
        wanted = ctypes.byref(summary) if summarise or options.unseen_missing else None
        options.session = self._session().pointer
        with Interruptible(options, rows * max(options.orderings, 1)):
            call(library.nade_score, self._pointer, table.pointer, ctypes.byref(options), doubles(found), None, wanted)
        if summary.unseen:
            warn_of_unseen(summary.unseen, as_text(summary.first_unseen))
        return found, summary

    def _score_values(self, values: np.ndarray, orderings: int) -> np.ndarray:
        """The log density of each of rows in the library's numbers (rows, columns)."""
        options = self._score_options(None, None, orderings, 0, None, False, "error")
        values = np.ascontiguousarray(values, dtype=np.float64)
        found = np.empty(len(values))
        options.values, options.value_rows = doubles(values), len(values)
        options.session = self._session().pointer
        if len(values):
            with Interruptible(options, len(values) * max(options.orderings, 1)):
                call(library.nade_score, self._pointer, None, ctypes.byref(options), doubles(found), None, None)
        return found

    def _beside_independent(self, table: Table, asked: list[Any]) -> tuple[np.ndarray, np.ndarray]:
        """Each row's log density, and what it would be if columns were independent."""
        options = self._score_options(*asked)
        independent = np.empty(table.rows)
        options.independent = doubles(independent)
        return self._score(table, options, summarise=False)[0], independent

    def _score_orderings(self, table: Table, orderings: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Each row's log density under each ordering (rows, orderings), and that of all together; a model that knows
        one ordering, or needs none, has one."""
        options = self._score_options(None, None, orderings, seed, None, False, "error")
        each = np.empty(table.rows * options.orderings)
        options.each = doubles(each)
        together, summary = self._score(table, options)
        return each[:table.rows * summary.orderings].reshape(table.rows, summary.orderings), together

    def surprise(self, data: Any, *, of: Any = None, given: Any = None, tail: bool = False,
                 unseen: str = "error") -> Any:
        """How surprising each cell is given the rest of its row: -log p, or with tail=True the probability of a value
        no likelier than this one, which ranks cells of all columns. A column for each of the model's; NaN where a cell
        is missing.

        >>> list(m.surprise(days, tail=True))
        ['season', 'temperature', 'rain', 'visitors']
        """
        frame = frame_of(data)
        options = self._score_options(of, given, 1, 0, None, False, unseen)
        if frame.empty:
            wanted = self.names if of is None else [self.names[place] for place in places_of(self, of)]
            return (np.empty((0, len(self.columns))) if frame.kind == "array" and of is None
                    else frame.results({name: np.empty(0) for name in wanted}))
        table = frame.table()
        found = np.empty((table.rows, len(self.columns)))
        scored = (ctypes.c_int * len(self.columns))()
        options.session = self._session().pointer
        with Interruptible(options, table.rows * len(self.columns)):
            call(library.nade_score_cells, self._pointer, table.pointer, ctypes.byref(options),
                 None if tail else doubles(found), doubles(found) if tail else None, scored)
        if frame.kind == "array" and all(scored):
            return found
        return frame.results({name: found[:, i].copy() for i, name in enumerate(self.names) if scored[i]})

    # ---- drawing -----------------------------------------------------------------------------------------------------

    def sample(self, n: int = 1, *, seed: int = 0, orderings: int = 0, exact: bool = False, holes: bool = False,
               kind: str | None = None) -> Any:
        """Draw n rows, as the kind of frame that the model was fitted to (a loaded model: a pandas.DataFrame).

        seed: row i depends on the seed and i alone.
        orderings: draw from exactly the mixture that log_density with these orderings and seed scores; 0: each row
            draws an ordering of its own.
        exact: numbers as drawn, not rounded to the step in which the column was recorded.
        holes: draw which cells are missing too; for models that were fitted with holes=True.
        kind: "pandas", "polars", "pyarrow", "dict" or "array".

        >>> m.sample(3, seed=1)["season"].shape
        (3,)
        """
        values = draw_values(self, Conditions(self.columns, {}), n, seed, orderings, exact, holes)
        return self._make_frame(values, kind)

    def where(self, conditions: Mapping[str, Any] | None = None, /, **named: Any) -> Where:
        """The model given conditions, on any columns: a value, a range (low, high) with both ends included and None
        for no end, a list of values, or nade.Not(values).

        ``m.where(age=(30, 40), sex="F").sample(1000)``; names that are no identifiers go into a dict:
        ``m.where({"capital gain": (1, None)}).prob(sex="F")``.

        >>> m.where(season="summer", temperature=(20, 30)).sample(3)["season"].tolist()
        ['summer', 'summer', 'summer']
        """
        return Where(self, {**(conditions or {}), **named})

    def prob(self, event: Mapping[str, Any] | None = None, /, *, draws: int = 10000, seed: int = 0,
             **named: Any) -> Probability:
        """The probability that a row meets conditions, written as in where: a float with its standard_error.

        Exact for conditions on one column, given values of others; else the share of `draws` rows that meet them.

        >>> 0 < m.prob(visitors=(100, None)) < 1
        True
        """
        return Where(self, {}).prob({**(event or {}), **named}, draws=draws, seed=seed)

    def density(self, column: str, given: Any = None, *, unseen: str = "error") -> Density:
        """The distribution of a column given the other cells of rows, which may lack any: pdf, cdf, quantile, mean,
        probabilities, sample, plot. given is a dict for one row, or a frame of many; None or an empty dict: the
        column's own. unseen: as in predict.

        >>> low, high = m.density("visitors", {"rain": 0}).interval(0.9)
        >>> bool(low < high)
        True
        """
        if given is None or (isinstance(given, Mapping) and not given):
            return Density(self, column, np.full((1, len(self.columns)), np.nan), single=True)
        others = [place for place in range(len(self.columns)) if place != self._place(column)]
        values, frame = self._row_values(given, self.names, others, unseen)
        return Density(self, column, values, single=bool(getattr(frame, "scalar", False)), frame=frame)

    # ---- filling and predicting --------------------------------------------------------------------------------------

    def impute(self, data: Any, *, draws: int | None = None, method: str = "draw", interval: float | None = None,
               seed: int = 0, exact: bool = False, unseen: str = "error") -> Any:
        """The same frame with every missing cell filled given the observed cells of its row.

        draws: a list of so many filled frames. Of a model with members draw r of all rows comes from member r, so that
            with members=M and bootstrap=True in fit the draws are a proper multiple imputation (docs/imputation.md);
            those of one network show how uncertain a cell is for it, not how uncertain the model is.
        method: "draw", cells of a row together; "mean", "median" or "mode", each cell by itself.
        interval: with a probability, (frame, low, high): frames with the ends of the central interval of each missing
            cell of a column of numbers or dates.
        unseen: "missing" takes a label that training has not seen for no evidence, and leaves the cell as it is.

        Of a file the result is a frame with the model's columns.

        >>> row = {"season": None, "temperature": -2.0, "rain": 1, "visitors": 20}
        >>> m.impute(row)["season"] in ("summer", "winter")
        True
        >>> len(m.impute(row, draws=5))
        5
        """
        if draws is not None and method != "draw":
            raise BadCall(f"found draws with the method {method!r}, expected the method 'draw'")
        copies = 1 if draws is None else checked("draws", draws, ctypes.c_uint32, least=1)
        interval = None if interval is None else share_of("interval", interval)
        frame = frame_of(data)
        given, source = ((np.empty((0, len(self.columns))), np.empty(0)) if frame.empty
                         else self._values(frame.table(), None, unseen))
        left = np.isinf(given)
        given[left] = np.nan
        values, low, high = self._impute(given, copies, method, interval, seed, exact)
        filled = [self._fill(frame, given, left, values[:, i], source) for i in range(copies)]
        result = filled if draws is not None else filled[0]
        if interval is None:
            return result
        ends = [frame.results({column.name: column.decode_ends(end[:, 0, i].copy())
                               for i, column in enumerate(self.columns) if column.numeric}) for end in (low, high)]
        return (result, *ends)

    def _impute(self, given: np.ndarray, draws: int, method: str, interval: float | None, seed: int,
                exact: bool) -> tuple[np.ndarray, Any, Any]:
        """(rows, draws, columns) of values and, where wanted, of the ends of intervals."""
        options = c.ImputeOptions()
        library.nade_impute_options_init(ctypes.byref(options), ctypes.sizeof(options))
        options.method, options.seed, options.exact = number_of("method", method), seed_of(seed), int(exact)
        options.draws, options.interval, options.by_member = draws, interval or 0.0, int(draws > 1)
        options.device, options.precision = number_of("device", self.device), number_of("precision", self.precision)
        session = self._session()
        options.session = session.pointer
        values = np.repeat(given[:, np.newaxis], draws, axis=1)
        low, high = (np.empty_like(values), np.empty_like(values)) if interval else (None, None)
        for part in session.parts(len(given), draws) if len(given) else ():
            options.first = part.start
            call(library.nade_impute, self._pointer, ctypes.byref(options), (part.stop - part.start) * draws,
                 doubles(values[part]), None if low is None else doubles(low[part]),
                 None if high is None else doubles(high[part]))
        return values, low, high

    def _fill(self, frame: Frame, given: np.ndarray, left: np.ndarray, values: np.ndarray, source: np.ndarray) -> Any:
        if frame.kind in ("file", "stream"):
            return self._make_frame(np.where(left, np.nan, values))
        cells, columns = {}, {}
        for i, column in enumerate(self.columns):
            rows = np.flatnonzero(np.isnan(given[:, i]) & ~left[:, i])
            if len(rows):
                cells[int(source[i])] = (rows, np.ascontiguousarray(values[rows, i]))
                columns[int(source[i])] = column
        return frame.filled(cells, columns)

    def predict(self, data: Any, *, of: Any, given: Any = None, interval: float = 0.9, unseen: str = "error") -> Any:
        """The distribution of columns given the rest of each row, which need not contain them.

        For a column of labels NAME (the likeliest) and NAME=LABEL (its probability) for each; for a number NAME_mean,
        NAME_median, NAME_low and NAME_high. Of several columns each is given the rows without all of these.

        given: the columns that count; the rows need no others. None: all that are not predicted, which a frame must
            have; one row as a dict may lack any.
        unseen: "missing" takes values that training has not seen for missing cells, "error" refuses them; those of
            columns that are predicted are not looked at.

        Of a file the result is a pandas.DataFrame where pandas is installed, else a dict.

        >>> list(m.predict({"temperature": 25.0}, of="season"))
        ['season', 'season=summer', 'season=winter']
        """
        return predict_rows(self, data, of, given, interval, unseen)

    def check(self, data: Any, *, orderings: int = 8, seed: int = 0, unseen: str = "error") -> Check:
        """Whether the model is right for rows that it was not fitted to, as the command's `nade check` says it.

        Calibration of every column given the rest of its rows, gain over independent columns, samples beside rows, the
        rows of the lowest density, and a verdict in words (docs/answers.md). All tests together are wrong about a right
        model for at most 1 % of tables, if cells are missing completely at random or none are.

        orderings, seed: rows are scored by so many orderings; the seed fixes every random number.
        unseen: as in log_density.

        >>> m.check(m.sample(50)).rows
        50
        """
        from ._check import check_model

        return check_model(self, data, orderings, seed, unseen)


# ---- functions -------------------------------------------------------------------------------------------------------


def load(path: str | os.PathLike[str]) -> Model:
    """Read a model file, whether Python or the command wrote it.

    >>> nade.load("no such file")
    Traceback (most recent call last):
    ...
    nade._errors.BadInput: no such file could not be opened: No such file or directory
    """
    return Model(_load(path))


def _load(path: str | os.PathLike[str]) -> ModelHandle:
    handle = ModelHandle()
    call(library.nade_model_load, path_bytes(path), ctypes.byref(handle.pointer))
    return handle


def _load_bytes(file: bytes) -> ModelHandle:
    import tempfile

    with tempfile.TemporaryDirectory(prefix="nade-") as folder:
        path = os.path.join(folder, "model.nade")
        with open(path, "wb") as written:
            written.write(file)
        return _load(path)


def from_bytes(file: bytes) -> Model:
    """A model of the bytes of a model file.

    >>> nade.from_bytes(m.to_bytes()).to_bytes() == m.to_bytes()
    True
    """
    return Model(_load_bytes(file))
