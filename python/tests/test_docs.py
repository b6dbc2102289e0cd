"""Examples in docstrings, in docs/python.md and in python/examples do what they say."""
from __future__ import annotations

import doctest
import importlib
import os
import pathlib
import pkgutil
import subprocess
import sys

import pytest

import nade

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODULES = ["nade"] + [f"nade.{module.name}" for module in pkgutil.iter_modules(nade.__path__)]
EXAMPLES = sorted((ROOT / "python" / "examples").glob("*.py"))


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


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
