"""From which log density on a row is ordinary: that depends on which of its cells are there."""
from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ._conditions import Conditions, draw_values

if TYPE_CHECKING:
    from ._model import Model

_KEPT_ROWS = 2000  # of the training table, at least, to hold others against
_FEWEST_ROWS = 50  # that have the cells of a row; else rows drawn from the model take their place
_DRAWN_ROWS = 1000


class Thresholds:
    """The quantile of training rows' log densities below which a row is odd, for each set of cells.

    Log densities of different cells do not compare, so that a row with holes is held against training rows of which
    the same cells are taken out: those that have all the cells that it has.
    """

    def __init__(self, model: Model, values: np.ndarray, share: float, orderings: int) -> None:
        self.model, self.share, self.orderings = model, share, orderings
        values = values[~np.isinf(values).any(axis=1)]
        whole = np.ones(values.shape[1], dtype=bool)
        self.fewest = min(max(_FEWEST_ROWS, math.ceil(2 / share)), len(values))
        self.rows = values
        self.known = {whole.tobytes(): self._find(whole)}
        self.whole = self.known[whole.tobytes()]
        step = len(values) / max(_KEPT_ROWS, math.ceil(20 / share))
        if step > 1:  # evenly spread
            self.rows = values[np.arange(0, len(values), step).astype(int)]

    def _find(self, there: np.ndarray) -> float:
        rows = self.rows[~np.isnan(self.rows[:, there]).any(axis=1)]
        if len(rows) < self.fewest:
            rows = draw_values(self.model, Conditions(self.model.columns, {}), _DRAWN_ROWS, 0, self.orderings)
        rows = np.where(there, rows, np.nan)
        return float(np.percentile(self.model._score_values(rows, self.orderings), 100 * self.share))

    def of(self, values: np.ndarray) -> np.ndarray:
        """The threshold of each row."""
        patterns, which = np.unique(~np.isnan(values), axis=0, return_inverse=True)
        for there in patterns:
            if there.tobytes() not in self.known:
                self.known[there.tobytes()] = self._find(there)
        return np.array([self.known[there.tobytes()] for there in patterns])[which.ravel()]
