"""Tables and models that several tests use; small and quickly fitted."""
from __future__ import annotations

import os
import pathlib
import subprocess

import numpy as np
import pytest

import nade

ROOT = pathlib.Path(__file__).resolve().parents[2]
QUICK = {"effort": "quick", "iterations": 3, "width": 32, "blocks": 1, "components": 5, "progress": False}


def make_columns(rows: int = 400, seed: int = 0) -> dict[str, np.ndarray]:
    """Columns of all types, with holes; objects where there are texts."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=rows)
    size = (x + rng.normal(size=rows)).round(2)
    size[::7] = np.nan
    kind = np.where(x > 0, "high", "low").astype(object)
    kind[3::11] = None
    colour = rng.choice(["red", "green", "blue"], rows).astype(object)
    when = np.datetime64("2020-01-01") + rng.integers(0, 900, rows)
    return {"x": x.round(2), "size": size, "count": rng.poisson(60 + 5 * np.abs(x)), "kind": kind, "colour": colour,
            "flag": rng.random(rows) < 0.3, "when": when.astype("datetime64[s]")}


@pytest.fixture(scope="session")
def columns():
    return make_columns()


@pytest.fixture(scope="session")
def model(columns):
    return nade.fit(columns, **QUICK)


@pytest.fixture(scope="session")
def numbers():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(300, 4)).round(3)
    x[:, 1:] += x[:, :1]
    return x.round(3)


@pytest.fixture(scope="session")
def number_model(numbers):
    return nade.fit(numbers, **QUICK)


@pytest.fixture(scope="session")
def command():
    """Runs the built command and returns what it writes to standard output."""
    program = pathlib.Path(os.environ.get("NADE", ROOT / "build" / "nade"))
    if not program.exists():
        pytest.skip("the command is not built")

    def run(*arguments: object) -> str:
        done = subprocess.run([str(program), *map(str, arguments)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run
