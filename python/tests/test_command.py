"""The same numbers as the command, bit for bit."""
from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest

import nade
from conftest import QUICK, make_columns

FLAGS = ["--effort", "quick", "--iterations", "3", "--width", "32", "--blocks", "1", "--components", "5"]


def rows_of(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))[1:]


@pytest.fixture(scope="module")
def files(tmp_path_factory, command, numbers):
    folder = tmp_path_factory.mktemp("files")
    np.save(folder / "numbers.npy", numbers)
    write_csv(folder / "mixed.csv", make_columns())
    command("train", folder / "mixed.csv", "-o", folder / "mixed.nade", *FLAGS)
    command("train", folder / "numbers.npy", "-o", folder / "numbers.nade", *FLAGS)
    return folder


def write_csv(path, columns):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        for row in zip(*(array.tolist() for array in columns.values())):
            writer.writerow("" if cell is None or cell != cell else str(cell)[:10] if hasattr(cell, "year") else cell
                            for cell in row)


def test_array_gives_the_same_model(files, numbers):
    assert nade.fit(numbers, **QUICK).to_bytes() == (files / "numbers.nade").read_bytes()


def test_mapped_file_gives_the_same_model(tmp_path):
    np.save(tmp_path / "large.npy", np.random.default_rng(0).normal(size=(10000, 2)).round(2))
    asked = {**QUICK, "iterations": 1, "updates": 3}
    assert nade.fit(tmp_path / "large.npy", map=True, **asked).to_bytes() == nade.fit(tmp_path / "large.npy",
                                                                                      **asked).to_bytes()


@pytest.mark.parametrize("asked, sentence", [
    ({"map": [1]}, r"map: found \[1\], expected a number"),
    ({"map": 2}, "map is 2, expected 1 or 0"),
    ({"map": True, "weights": np.ones(10000)}, "array for the rows of a file or stream, expected the name of a column"),
])
def test_mapped_file_asked_for_wrongly(tmp_path, asked, sentence):
    np.save(tmp_path / "large.npy", np.zeros((10000, 2)))
    with pytest.raises(nade.BadCall, match=sentence):
        nade.fit(tmp_path / "large.npy", **asked, **QUICK)


def test_file_gives_the_same_model(files):
    assert nade.fit(files / "mixed.csv", **QUICK).to_bytes() == (files / "mixed.nade").read_bytes()


def test_saved_is_loaded(files, tmp_path):
    nade.load(files / "mixed.nade").save(tmp_path / "again.nade")
    assert (tmp_path / "again.nade").read_bytes() == (files / "mixed.nade").read_bytes()


@pytest.mark.parametrize("asked, flags", [
    ({}, []),
    ({"orderings": 3, "seed": 7}, ["--orderings", "3", "--seed", "7"]),
    ({"of": ["x", "kind"], "given": "colour"}, ["--of", "x,kind", "--given", "colour"]),
    ({"cells": True}, ["--cells"]),
])
def test_scores(files, command, asked, flags):
    model = nade.load(files / "mixed.nade")
    expected = [float(row[0]) for row in rows_of(command("score", files / "mixed.nade", files / "mixed.csv", *flags))]
    assert model.log_density(files / "mixed.csv", **asked).tolist() == expected
    assert np.asarray(model.log_density(make_columns(), **asked)).tolist() == expected


def test_surprise(files, command):
    model = nade.load(files / "mixed.nade")
    rows = rows_of(command("score", files / "mixed.nade", files / "mixed.csv", "--per-column"))
    expected = np.array([[float(cell) if cell else np.nan for cell in row] for row in rows])
    columns = make_columns()
    np.testing.assert_array_equal(np.stack(list(model.surprise(columns).values()), 1), expected[:, 0::2])
    np.testing.assert_array_equal(np.stack(list(model.surprise(columns, tail=True).values()), 1), expected[:, 1::2])


@pytest.mark.parametrize("where, flags", [
    ({}, []),
    ({"kind": "high", "x": (0.5, 1.5)}, ["--where", "kind=high", "--where", "0.5<=x<=1.5"]),
    ({"colour": ["red", "blue"]}, ["--where", "colour in {red,blue}"]),
    ({"colour": nade.Not("red"), "size": (None, 0)}, ["--where", "colour!=red", "--where", "size<=0"]),
    ({"when": ("2021-01-01", None)}, ["--where", "when>=2021-01-01"]),
])
def test_samples(files, command, where, flags):
    model = nade.load(files / "mixed.nade")
    expected = rows_of(command("sample", files / "mixed.nade", "-n", 50, "--seed", 3, *flags))
    drawn = model.where(where).sample(50, seed=3, kind="dict")
    ours = zip(*(array.tolist() for array in drawn.values()))
    for theirs, row in zip(expected, ours):
        written = [str(cell)[:10] if hasattr(cell, "year") else cell for cell in row]
        assert [float(cell) if isinstance(mine, (int, float)) and cell not in ("true", "false") else cell
                for cell, mine in zip(theirs, written)] == [
                    {1: "true", 0: "false"}[mine] if cell in ("true", "false") else mine
                    for cell, mine in zip(theirs, written)]


@pytest.mark.parametrize("event, given, flags", [
    ({"x": (0, None)}, {"kind": "high"}, ["--where", "x>=0", "--given", "kind=high"]),
    ({"colour": ["red", "blue"]}, {"x": 1}, ["--where", "colour in {red,blue}", "--given", "x=1"]),
    ({"x": nade.Not(0.5, 0.25)}, {}, ["--where", "x!=0.5", "--where", "x!=0.25"]),
    ({"count": [60, 61]}, {}, ["--where", "count in {60,61}"]),
    ({"x": (25, None)}, {}, ["--where", "x>=25"]),
    ({"x": (0, None), "kind": "high"}, {"size": (0, 1)},
     ["--where", "x>=0", "--where", "kind=high", "--given", "0<=size<=1"]),
    ({"x": (25, None), "kind": "high"}, {}, ["--where", "x>=25", "--where", "kind=high"]),
])
def test_probabilities(files, command, event, given, flags):
    model = nade.load(files / "mixed.nade")
    share, error = map(float, rows_of(command("prob", files / "mixed.nade", "--draws", 500, *flags))[0])
    found = model.where(given).prob(event, draws=500)
    assert (float(found), found.standard_error) == (share, error) and (error == 0) == (found.draws == 0)


@pytest.mark.parametrize("method", ["draw", "mean", "median", "mode"])
def test_fillings(files, command, method):
    model = nade.load(files / "numbers.nade")
    holed = np.load(files / "numbers.npy")
    holed[::2, 1] = holed[1::3, 3] = np.nan
    np.save(files / "holed.npy", holed)
    text = command("impute", files / "numbers.nade", files / "holed.npy", "--method", method, "--seed", 5)
    expected = np.array([[float(cell) for cell in row] for row in csv.reader(io.StringIO(text))])
    np.testing.assert_array_equal(model.impute(holed, method=method, seed=5), expected)


def test_several_fillings_and_intervals(files, command):
    model = nade.load(files / "numbers.nade")
    holed = np.load(files / "numbers.npy")
    holed[::2, 1] = np.nan
    np.save(files / "holed.npy", holed)
    text = command("impute", files / "numbers.nade", files / "holed.npy", "--draws", 2, "--interval", 0.8)
    table = [row for row in csv.reader(io.StringIO(text))]
    drawn, low, _high = model.impute(holed, draws=2, interval=0.8)
    for draw, filled in enumerate(drawn):
        rows = [row for row in table if int(row[0]) == draw]
        np.testing.assert_array_equal(filled, np.array([[float(cell) for cell in row[1:5]] for row in rows]))
    np.testing.assert_array_equal(low["1"], [float(row[5]) if row[5] else np.nan for row in table[::2]])


def test_predictions(files, command):
    """As `nade predict` writes them, where the command has that verb."""
    if "predict" not in command():
        pytest.skip("the command has no predict")
    model = nade.load(files / "mixed.nade")
    text = command("predict", files / "mixed.nade", files / "mixed.csv", "--of", "kind,x")
    names, *rows = csv.reader(io.StringIO(text))
    found = model.predict(files / "mixed.csv", of=["kind", "x"])
    for i, name in enumerate(names):
        ours = found[name].tolist()
        assert [float(row[i]) if isinstance(ours[0], float) else row[i] for row in rows] == ours


@pytest.mark.parametrize("with_, asked, flags", [
    ("independent", {}, []),
    ("gaussian", {"cells": True}, ["--cells"]),
    ("gaussian", {"of": ["x", "kind", "when"]}, ["--of", "x,kind,when"]),
    ("mixture", {"seed": 4}, ["--seed", "4"]),
    ("mixture", {"train": "new.csv"}, ["--train", "new.csv"]),
    ("other.nade", {"orderings": 3}, ["--orderings", "3"]),
])
@pytest.mark.filterwarnings("ignore:.*as many rows")
def test_comparisons(files, command, monkeypatch, with_, asked, flags):
    monkeypatch.chdir(files)
    model = nade.load("mixed.nade")
    if with_ == "other.nade":
        nade.fit(make_columns(), **{**QUICK, "seed": 2}).save(with_)
    write_csv("new.csv", {name: array[::2] for name, array in make_columns().items()})
    said = json.loads(command("compare", "mixed.nade", with_, "mixed.csv", "--json", *flags))
    found = nade.compare(model, nade.load(with_) if with_.endswith("nade") else with_, "mixed.csv", **asked)
    for name, value in vars(found).items():
        if name != "verdict":
            assert value == said[name], name


def test_checks(files, command):
    """All that `nade check --json` says."""
    model = nade.load(files / "mixed.nade")
    write_csv(files / "checked.csv", {name: array[:150] for name, array in make_columns().items()})
    said = json.loads(command("check", files / "mixed.nade", files / "checked.csv", "--json", "--seed", "3"))
    found = model.check(files / "checked.csv", seed=3)
    for column, theirs in zip(found.columns, said.pop("columns")):
        intervals = theirs.pop("intervals", [])
        assert column.inside == {interval["level"]: interval["inside"] for interval in intervals}
        assert column.fault == theirs.pop("fault", "") and list(column.histogram) == theirs.pop("histogram")
        assert {name: getattr(column, name) for name in theirs} == theirs
    assert vars(found.samples) == said.pop("samples")
    assert [vars(row) for row in found.worst_rows] == said.pop("worst_rows")
    assert {name: getattr(found, name) for name in said} == said
    assert len(found.columns) == 7 and found.rows == 150


def test_fillings_by_members(files, command, numbers):
    command("train", files / "numbers.npy", "-o", files / "members.nade", *FLAGS, "--members", "2", "--bootstrap")
    model = nade.fit(numbers, members=2, bootstrap=True, **QUICK)
    assert model.to_bytes() == (files / "members.nade").read_bytes()
    holed = numbers.copy()
    holed[::2, 1] = np.nan
    np.save(files / "holed.npy", holed)
    text = command("impute", files / "members.nade", files / "holed.npy", "--draws", 3)
    table = [row for row in csv.reader(io.StringIO(text))]
    for draw, filled in enumerate(model.impute(holed, draws=3)):
        rows = [row[1:] for row in table if int(row[0]) == draw]
        np.testing.assert_array_equal(filled, np.array(rows, dtype=float))
