"""Which of two models describes rows better."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ._errors import BadCall
from ._frames import frame_of
from ._model import Model

_FITTED_BY_COMMAND = ("gaussian", "mixture")


@dataclass(frozen=True)
class Comparison:
    """The paired difference of two models' mean log densities, in nats per row."""

    difference: float  #: of the first to the second: above 0 the first is better
    standard_error: float
    rows: int


def compare(a: Model, b: Model | str, data: Any, *, of: Any = None, given: Any = None, orderings: int = 8,
            seed: int = 0) -> Comparison:
    """Which of two models describes rows better, and by how much: row by row, so that what all rows share cancels.

    b may be "independent": each column by itself, as the first model has stored it. What the command fits to the rows
    besides, a Gaussian or a mixture, is there alone: m.save("m.nade"), then `nade compare m.nade gaussian rows.csv`.
    """
    if not isinstance(a, Model):
        raise BadCall(f"found {a!r} as the first model, expected a nade.Model")
    frame = frame_of(data)
    options = [of, given, orderings, seed, None, False, "error"]
    if isinstance(b, Model):
        scores = [np.concatenate([model._score(table, model._score_options(*options), summarise=False)[0]
                                  for table in frame.parts()]) for model in (a, b)]
    elif b == "independent":
        scores = list(a._beside_independent(frame.table(), options))
    elif isinstance(b, str) and b in _FITTED_BY_COMMAND:
        raise BadCall(f"'{b}' is fitted to the rows by the command alone, expected a model or 'independent': save the "
                      f"model and the rows and run nade compare MODEL {b} ROWS.csv")
    else:
        raise BadCall(f"found {b!r}, expected a model or 'independent'")
    difference = scores[0] - scores[1]
    rows = len(difference)
    error = float(difference.std(ddof=1) / np.sqrt(rows)) if rows > 1 else float("nan")
    return Comparison(float(difference.mean()) if rows else float("nan"), error, rows)
