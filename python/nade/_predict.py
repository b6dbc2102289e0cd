"""The distribution of columns given the rest of each row, as `nade predict` writes it."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._density import ask, central_levels
from ._errors import BadCall
from ._frames import frame_of
from ._numbers import share_of

if TYPE_CHECKING:
    from ._model import Model


def predict_rows(model: Model, data: Any, of: Any, given: Any, interval: float, unseen: str) -> Any:
    """Model.predict."""
    interval = share_of("interval", interval)
    wanted = places_of(model, of)
    if not wanted:
        raise BadCall("of: found no column, expected at least one")
    known = [place for place in range(len(model.columns)) if place not in wanted]
    if given is not None:
        known = places_of(model, given)
        twice = [model.names[place] for place in wanted if place in known]
        if twice:
            raise BadCall(f"column '{twice[0]}' is in of and in given, expected it in one of them")
    others = [name for place, name in enumerate(model.names) if place not in known]
    frame = frame_of(data)
    if given is None and getattr(frame, "scalar", False):
        others = model.names  # one row that was written down says what is known
    values, frame = model._row_values(frame, others, known, unseen)
    found: dict[str, np.ndarray] = {}
    for place in wanted:
        for name, array in _predict(model, place, values, interval).items():
            if name in found:
                raise BadCall(f"two columns of the result are both called '{name}', expected names that differ: "
                              "predict the columns one by one")
            found[name] = array
    return frame.results(found)


def places_of(model: Model, columns: Any) -> list[int]:
    """The numbers of columns that are named one by one, or one alone."""
    listed: list[Any] = [columns] if columns is None or isinstance(columns, (str, int, np.integer)) else list(columns)
    return list(dict.fromkeys(model._place(name) for name in listed))


def _predict(model: Model, place: int, values: np.ndarray, interval: float) -> dict[str, np.ndarray]:
    column = model.columns[place]
    if column.numeric:
        levels = np.array([0.5, *central_levels(interval)])
        answer = ask(model, place, values, levels=levels, wanted=("mean", "quantile"))
        numbers = [answer["mean"], *answer["quantile"].T.copy()]
        return {f"{column.name}_{what}": column.decode_ends(array)
                for what, array in zip(("mean", "median", "low", "high"), numbers)}
    shares = ask(model, place, values, wanted=("probability",))["probability"]
    found = {column.name: column.decode(shares.argmax(axis=1).astype(np.float64))}
    found.update({f"{column.name}={label}": shares[:, i].copy() for i, label in enumerate(column.choices)})
    return found
