"""Examples in docstrings, in docs/python.md and in python/examples do what they say."""
from __future__ import annotations

import csv
import doctest
import importlib
import os
import pathlib
import pkgutil
import subprocess
import sys

import numpy as np
import pytest

import nade
from conftest import QUICK

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODULES = ["nade"] + [f"nade.{module.name}" for module in pkgutil.iter_modules(nade.__path__)]
EXAMPLES = sorted((ROOT / "python" / "examples").glob("*.py"))


@pytest.fixture(scope="module")
def spoken_of():
    """What the examples of methods speak of."""
    with open(ROOT / "examples" / "days.csv", newline="") as file:
        names, *rows = csv.reader(file)
    columns = [np.array(column) for column in zip(*rows)]
    days = {name: column if name == "season" else column.astype(float) for name, column in zip(names, columns)}
    return {"nade": nade, "days": days, "m": nade.fit(days, **QUICK)}


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name, spoken_of):
    assert doctest.testmod(importlib.import_module(name), extraglobs=spoken_of).failed == 0


# What says nothing but its name: exceptions, and results with a line for each of their numbers.
WITHOUT_EXAMPLES = {"BadCall", "BadInput", "Comparison", "Error", "Interrupted", "NoDevice", "NoMemory", "NoOutput",
                    "NotFinite", "Summary", "Warning"}


@pytest.mark.parametrize("name", sorted(set(nade.__all__) - WITHOUT_EXAMPLES))
def test_all_that_is_public_has_examples(name):
    thing = getattr(nade, name)
    if name in ("Model", "Density"):
        lacking = [member for member, value in vars(thing).items() if not member.startswith("_") and member != "plot"
                   and (callable(value) or isinstance(value, property)) and ">>> " not in value.__doc__]
        assert lacking == []
    else:
        assert ">>> " in thing.__doc__


def test_page(monkeypatch):
    monkeypatch.chdir(ROOT)
    found = doctest.testfile(str(ROOT / "docs" / "python.md"), module_relative=False)
    assert found.attempted > 20 and found.failed == 0


@pytest.mark.parametrize("name", nade.__all__)
def test_all_that_is_public_is_described(name):
    if name in ("Classifier", "DensityEstimator", "Imputer", "OutlierDetector", "Regressor"):
        pytest.importorskip("sklearn")
    thing = getattr(nade, name)
    assert thing.__doc__
    if isinstance(thing, type):
        for member, value in vars(thing).items():
            if not member.startswith("_") and (callable(value) or isinstance(value, property)):
                assert value.__doc__, f"{name}.{member}"


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda path: path.stem)
def test_examples(script, tmp_path):
    pytest.importorskip("pandas")
    pytest.importorskip("sklearn")
    picture = ["--picture", str(tmp_path / "picture.png")] if "--picture" in script.read_text() else []
    if picture:
        pytest.importorskip("matplotlib")
    environment = {**os.environ, "PYTHONPATH": str(pathlib.Path(nade.__file__).resolve().parents[1]),
                   "MPLBACKEND": "Agg"}
    done = subprocess.run([sys.executable, str(script), "--iterations", "2", *picture], cwd=ROOT, env=environment,
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout and (not picture or (tmp_path / "picture.png").stat().st_size > 1000)
