"""nade: a density for every subset of a table's columns.

>>> import nade
>>> isinstance(nade.__version__, str)
True

``nade.fit(table)`` gives a Model; ``nade.load(path)`` reads one. See docs/python.md.
"""
from __future__ import annotations

from typing import Any

from ._columns import Column
from ._compare import Comparison, compare
from ._conditions import Not, Probability
from ._context import as_text, set_threads
from ._density import Density
from ._errors import (BadCall, BadInput, Error, Interrupted, NoDevice, NoMemory, NoOutput, NotFinite,  # noqa: A004
                      Warning)
from ._library import library
from ._model import Model, Summary, from_bytes, load
from ._train import fit

__version__ = as_text(library.nade_version())

# Those of scikit-learn's contract, which is imported with them.
_ESTIMATORS = ("Classifier", "DensityEstimator", "Imputer", "OutlierDetector", "Regressor")

__all__ = ["BadCall", "BadInput", "Classifier", "Column", "Comparison", "Density", "DensityEstimator", "Error",
           "Imputer", "Interrupted", "Model", "NoDevice", "NoMemory", "NoOutput", "Not", "NotFinite",
           "OutlierDetector", "Probability", "Regressor", "Summary", "Warning", "compare", "fit", "from_bytes", "load",
           "set_threads"]


def __getattr__(name: str) -> Any:
    if name in _ESTIMATORS:
        from . import estimators

        return getattr(estimators, name)
    if name == "plots":
        import importlib

        return importlib.import_module(".plots", __name__)
    raise AttributeError(f"module 'nade' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_ESTIMATORS, "plots"})
