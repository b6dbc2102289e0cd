"""Errors arrive as exceptions with the library's sentence, and warnings as warnings."""
from __future__ import annotations

import decimal
import inspect
import re
import warnings

import numpy as np
import pytest

import nade
from conftest import QUICK, ROOT
from nade._tables import READ_OPTIONS
from nade._train import OPTIONS
from nade._wording import WORDINGS, in_python


def test_statuses(tmp_path, number_model, numbers):
    with pytest.raises(nade.BadInput, match="No such file") as raised:
        nade.load(tmp_path / "nothing.nade")
    assert isinstance(raised.value, (nade.Error, ValueError)) and str(tmp_path) in str(raised.value)
    with pytest.raises(nade.NoOutput) as raised:
        number_model.save(tmp_path / "no folder" / "model.nade")
    assert isinstance(raised.value, OSError)
    with pytest.raises(nade.BadInput, match="model expects 4"):
        number_model.log_density(numbers[:, :3])
    with pytest.raises(nade.BadCall):
        nade.fit(numbers, **{**QUICK, "components": 0})
    infinite = numbers.copy()
    infinite[3, 2] = np.inf
    with pytest.raises(nade.BadInput, match="row 3"):
        number_model.log_density(infinite)


def test_no_device(number_model, numbers, monkeypatch):
    monkeypatch.setenv("NADE_CUDA_BACKEND", "")
    with pytest.raises(nade.NoDevice):
        nade.fit(numbers, device="cuda", **QUICK)


def test_words_and_numbers(numbers):
    for wrong in ({"effort": "great"}, {"optimizer": 1}, {"iterations": "many"}, {"iterations": 1.5},
                  {"batch": -1}, {"seed": 2**32}, {"colour": 3}, {"types": {"0": "number"}}, {"device": "gpu"},
                  {"bounds": {"9": (0, 1)}}, {"ordering": [0, 0, 1, 2]}):
        with pytest.raises(nade.BadCall, match="expected"):
            nade.fit(numbers, **{**QUICK, **wrong})


def test_unseen_labels(model, columns):
    rows = {name: array[:5].copy() for name, array in columns.items()}
    rows["colour"][2] = "violet"
    with pytest.raises(nade.BadInput, match="violet"):
        model.log_density(rows)
    with pytest.warns(nade.Warning, match="violet"):
        found = model.log_density(rows, unseen="missing")
    rows["colour"][2] = None
    np.testing.assert_array_equal(found, model.log_density(rows))
    rows["colour"][2] = "violet"
    rows["kind"][2] = None
    with pytest.warns(nade.Warning, match="violet"):
        filled = model.impute(rows, unseen="missing")
    assert filled["colour"][2] == "violet" and filled["kind"][2] in ("high", "low")


def test_sentences_speak_python(model, columns):
    rows = {name: array[:5].copy() for name, array in columns.items()}
    rows["colour"][2] = "violet"
    with pytest.raises(nade.BadInput) as raised:
        model.log_density(rows)
    assert str(raised.value).startswith("the table, row 2, column 'colour': found 'violet', expected")
    assert 'unseen="missing", which' in str(raised.value) and "`" not in str(raised.value)
    x = np.where(np.arange(400) % 9 == 0, -999.0, columns["x"])
    with pytest.warns(nade.Warning, match="if they are values, name the columns with keep_sentinels="):
        nade.fit({**columns, "x": x}, **QUICK)
    with pytest.raises(nade.BadCall, match="'x' is in of and in given"):
        model.log_density(columns, of="x", given="x")


def test_wordings():
    assert in_python("the array: leave column 'it's' out") == "the table: leave the column out with drop=\"it's\""
    assert in_python("found '`drop`' or 'leave such columns out'; can't") == (
        "found '`drop`' or 'leave such columns out'; can't"), "what is quoted is the user's"
    assert in_python("make column 'a b' categorical") == "give types={'a b': 'categorical'}"


def test_wordings_are_those_of_the_library():
    """Each is in a sentence of src/, and each option that a sentence names is an argument here."""
    texts = [re.sub(r'"\s*\n\s*(?:PRI\w+ )?"', "", path.read_text()) for path in (ROOT / "src").rglob("*.c")]
    literals = [literal for text in texts for literal in re.findall(r'"((?:[^"\\\n]|\\.)*)"', text)]
    sentences = "\n".join(literals)
    for wording in WORDINGS:
        assert wording in sentences, wording
    arguments = {*OPTIONS, *READ_OPTIONS, *inspect.signature(nade.fit).parameters,
                 *inspect.signature(nade.Model.log_density).parameters}
    named, worded = (set(re.findall(r"`(\w+)`", text)) for text in (sentences, " ".join(WORDINGS)))
    assert len(named) > 20 and named <= arguments | worded | {"may_lack"}, "which is made by this package"


def test_warnings_come_from_the_caller(columns, model):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.log_density({**columns, "extra": np.arange(400.0)})
    assert [warning.category for warning in caught] == [nade.Warning]
    assert caught[0].filename == __file__ and "extra" in str(caught[0].message)


def test_conditions_that_are_wrong(model):
    for wrong in ({"nothing": 1}, {"kind": "middle"}, {"x": "wide"}, {"x": (2, 1)}, {"kind": (0, 1)}, {"x": (1, 2, 3)},
                  {"colour": []}, {"when": "yesterday"}):
        with pytest.raises(nade.BadCall):
            model.where(wrong)
    with pytest.raises(nade.BadCall, match="column"):
        model.density("nothing")
    with pytest.raises(nade.BadCall):
        model.predict({"x": 1.0}, of="nothing")


def test_shapes(number_model):
    for wrong in (np.zeros(4), np.zeros((2, 2, 4)), [[1.0, 2.0], [1.0]], {"a": [1, 2], "b": [1]}):
        with pytest.raises(ValueError):
            number_model.log_density(wrong)


def test_no_rows(number_model):
    assert number_model.sample(0).shape == (0, 4)
    with pytest.raises(nade.BadCall):
        number_model.sample(-1)


def test_a_failing_callback_ends_training(numbers):
    class Odd(Exception):
        pass

    def callback(_report):
        raise Odd("for a test")

    with pytest.raises(Odd):
        nade.fit(numbers, callback=callback, **QUICK)


def test_callbacks_and_stopping(numbers):
    seen = []

    def callback(report):
        if report.iteration_done:
            seen.append((report.iteration, report.valid_loss))
        return len(seen) >= 2

    model = nade.fit(numbers, callback=callback, **{**QUICK, "iterations": 50})
    assert [iteration for iteration, _ in seen] == [0, 1], "iteration 0 is what a residual network begins with"
    assert model.info["training"]["iterations_done"] == 1


def test_checkpoints(numbers, tmp_path):
    whole = nade.fit(numbers, **{**QUICK, "iterations": 6})
    nade.fit(numbers, checkpoint=tmp_path / "run", callback=lambda report: report.iteration >= 3,
             **{**QUICK, "iterations": 6})
    again = nade.fit(numbers, resume=tmp_path / "run", progress=False)
    assert again.to_bytes() == whole.to_bytes()


def test_types_and_tidying(numbers):
    data = {"code": np.arange(300) % 5 + 1.0, "x": numbers[:, 0], "gone": np.full(300, np.nan)}
    with pytest.warns(nade.Warning, match="gone"):
        model = nade.fit(data, types={"code": "real"}, bounds={"x": (-50, 50)}, **QUICK)
    assert [(column.name, column.type) for column in model.columns] == [("code", "real"), ("x", "real")]
    assert "from -50 to 50" in model.columns[1].kind


def test_weights_groups_and_times(numbers):
    x = numbers[:, 0]
    data = {"x": x, "y": numbers[:, 1], "w": np.where(x > 0, 9.0, 1.0), "g": np.arange(300) // 3}
    heavy = nade.fit(data, weights="w", groups="g", **{**QUICK, "iterations": 10})
    assert heavy.names == ["x", "y"]
    assert heavy.density("x").mean() > nade.fit({"x": x, "y": data["y"]}, **QUICK).density("x").mean() + 0.3
    same = nade.fit({"x": x, "y": data["y"]}, weights=data["w"], groups=data["g"], **{**QUICK, "iterations": 10})
    np.testing.assert_array_equal(same.log_density({"x": x, "y": data["y"]}), heavy.log_density(data))
    late = nade.fit(numbers, times=np.arange(300), **QUICK)
    assert len(late.columns) == 4 and late.log_density(numbers).shape == (300,)
    with pytest.raises(nade.BadCall, match="one for each of 300 rows"):
        nade.fit(numbers, weights=np.ones(3), **QUICK)


def test_compared_with_independent_columns(number_model, numbers):
    found = nade.compare(number_model, "independent", numbers[:200])
    assert found.difference == pytest.approx(number_model.score(numbers[:200]).gain)
    with pytest.raises(nade.BadCall, match="found 'other', expected a model or one of 'independent', 'gaussian', "):
        nade.compare(number_model, "other", numbers)
    with pytest.raises(nade.BadCall, match="first model"):
        nade.compare("independent", number_model, numbers)


def test_numbers_that_do_not_fit(model, columns):
    few = {name: array[:5] for name, array in columns.items()}
    for asked in (lambda: model.sample(3, seed=2**32), lambda: model.sample(3, seed=-1),
                  lambda: model.sample(3, orderings=2**64 + 1), lambda: model.log_density(few, orderings=2**64 + 1),
                  lambda: model.log_density(few, seed=2**32), lambda: model.impute(few, seed=2**32),
                  lambda: model.impute(few, draws=0), lambda: model.impute(few, draws=-1),
                  lambda: model.impute(few, interval=0), lambda: model.impute(few, interval="wide"),
                  lambda: model.predict(few, of="x", interval="wide"), lambda: model.sample(1.5),
                  lambda: model.sample("3"), lambda: model.prob(x=(None, 0), draws=1.5),
                  lambda: model.prob(x=(float("nan"), 1)), lambda: model.where(when=(float("nan"), None)),
                  lambda: model.where(when=float("nan")), lambda: model.where(x=(None, 10**400)),
                  lambda: model.where(x=10**400), lambda: model.density("x", {"x": 1, "size": 10**400}),
                  lambda: model.density("x").sample(-1), lambda: model.density("x").sample(2, seed=-1),
                  lambda: model.where(x=(0, 1)).density("size", draws=0), lambda: nade.set_threads(-1),
                  lambda: nade.set_threads("all"), lambda: model.log_density(few, order="abc"),
                  lambda: model.log_density(few, order=[0.5, 1]), lambda: model.predict(few, of=None),
                  lambda: model.predict(few, of=[]), lambda: model.log_density(few, of=1.5)):
        with pytest.raises(nade.BadCall, match="expected"):
            asked()
    np.testing.assert_array_equal(model.log_density(few, of=np.int64(0)), model.log_density(few, of="x"))


def test_options_that_are_no_numbers(numbers):
    for wrong in ({"hidden": "abc"}, {"hidden": [8, 0.5]}, {"bounds": {"0": 5}}, {"bounds": {"0": ("a", None)}},
                  {"types": {"0": 5}}, {"ordering": "abc"}, {"ordering": 3}, {"learning_rate": 10**400}):
        with pytest.raises(nade.BadCall, match="expected"):
            nade.fit(numbers, **{**QUICK, **wrong})


def test_texts_that_the_library_cannot_have(model, number_model, columns, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for asked in (lambda: model.save("a\0b"), lambda: nade.load("a\0b"), lambda: nade.fit("a\0b"),
                  lambda: nade.fit({"a\0b": np.arange(50) % 7, "c": np.arange(50.0)}, **QUICK),
                  lambda: number_model.log_density({"a\0b": 1.0}), lambda: model.log_density(columns, of="x\0y"),
                  lambda: nade.fit(columns, checkpoint="a\0b", **QUICK),
                  lambda: model.log_density(columns, of="\ud800"), lambda: model.log_density({"\ud800": 1.0})):
        with pytest.raises(nade.BadCall, match="expected"):
            asked()
    assert not list(tmp_path.iterdir())


def test_cells_that_are_no_numbers(model, columns):
    few = {name: array[:3].astype(object) for name, array in columns.items()}
    few["x"] = np.array([1.0, decimal.Decimal("sNaN"), decimal.Decimal("0.5")], dtype=object)
    same = {**few, "x": np.array([1.0, np.nan, 0.5])}
    np.testing.assert_array_equal(model.log_density(few), model.log_density(same))
    for odd in (1j, 10**400):
        with pytest.raises(nade.BadCall, match="column 'x'.*expected a number"):
            model.log_density({**few, "x": np.array([1.0, odd, 0.5], dtype=object)})


def test_names_of_results_differ(numbers):
    """A column may have the name that the probability of another's label has."""
    data = {"a": np.where(numbers[:, 0] > 0, "yes", "no"), "a=yes": np.where(numbers[:, 1] > 0, "p", "q")}
    model = nade.fit(data, **QUICK)
    assert list(model.predict(data, of="a")) == ["a", "a=no", "a=yes"]
    with pytest.raises(nade.BadCall, match="'a=yes'"):
        model.predict(data, of=["a", "a=yes"])
    assert list(model.predict(data, of=["a", "a"])) == ["a", "a=no", "a=yes"]


def test_columns_that_are_added_replace_none(numbers):
    pandas = pytest.importorskip("pandas")
    data = {"x": numbers[:, 0], "weights of the rows": numbers[:, 1]}
    for frame in (data, pandas.DataFrame(data)):
        with pytest.raises(nade.BadCall, match="'weights of the rows'"):
            nade.fit(frame, weights=np.ones(300), **QUICK)


@pytest.mark.parametrize("found, meant", [("efort", "effort"), ("iteration", "iterations"), ("weight", "weights"),
                                          ("learningrate", "learning_rate"), ("delimeter", "delimiter")])
def test_options_that_were_meant(numbers, found, meant):
    with pytest.raises(nade.BadCall, match=f"^found the option {found}, did you mean {meant}\\?$"):
        nade.fit(numbers, **{found: 1})


def test_options_that_are_none(numbers):
    with pytest.raises(nade.BadCall, match="^found the option xyzzy, expected one of valid_fraction, .*resume, "):
        nade.fit(numbers, xyzzy=1)
