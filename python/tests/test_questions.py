"""What can be asked of a model agrees with itself."""
from __future__ import annotations

import pickle

import numpy as np
import pytest

import nade
from conftest import QUICK


def test_density_is_what_is_scored(model, columns):
    rows = {name: array[:40] for name, array in columns.items()}
    there = ~np.isnan(rows["x"])
    given = model.density("x", rows).log_pdf(rows["x"][:, np.newaxis])[:, 0]
    others = [name for name in model.names if name != "x"]
    np.testing.assert_allclose(given[there], model.log_density(rows, of="x", given=others)[there], rtol=1e-6)


def test_cdf_and_quantiles_agree(number_model):
    density = number_model.density("1", {"0": 0.5})
    levels = np.array([0.05, 0.3, 0.5, 0.9])
    values = density.quantile(levels)
    assert (np.diff(values) > 0).all()
    assert (density.cdf(values) >= levels).all() and (density.below(values) <= levels).all()
    assert density.median() == values[2]
    np.testing.assert_array_equal(density.interval(0.9), density.quantile([0.05, 0.95]))
    assert np.isfinite(density.interval(0.9999999999999999)).all()
    low, high = density.quantile([1e-6, 1 - 1e-6], exact=True)
    points = np.linspace(low, high, 20001)
    mass = np.trapezoid(density.pdf(points), points) if hasattr(np, "trapezoid") else np.trapz(density.pdf(points),
                                                                                            points)
    assert abs(mass - 1) < 1e-3
    drawn = density.sample(4000, seed=1)
    assert abs(drawn.mean() - density.mean()) < 5 * drawn.std() / np.sqrt(4000)
    np.testing.assert_array_equal(drawn, density.sample(4000, seed=1))


def test_quantiles_given_ranges_are_values():
    """Of a mean over rows too: counts are whole, times whole seconds, ordered values some that were seen."""
    rng = np.random.default_rng(4)
    x = rng.normal(size=600).round(2)
    data = {"x": x, "count": rng.poisson(3 + np.abs(x)), "hours": 20 + 2.5 * rng.integers(8, size=600),
            "price": np.round(5 + x + rng.normal(size=600), 2),
            "when": np.datetime64("2022-05-01T00:00:00") + rng.integers(10**7, size=600)}
    model = nade.fit(data, types={"count": "count", "hours": "ordered"}, **QUICK)
    given = model.where(x=(0, 1))
    levels = [0.05, 0.3, 0.5, 0.9]
    for name in ("count", "hours", "price"):
        density = given.density(name, draws=20)
        values = density.quantile(levels)
        assert (density.cdf(values) >= np.array(levels) - 1e-9).all() and (density.below(values) < levels).all()
        assert [float(repr(float(value))) for value in values] == np.round(values, 2).tolist(), (name, values)
    assert set(given.density("hours", draws=20).quantile(levels)) <= set(data["hours"])
    assert (given.density("count", draws=20).quantile(levels) % 1 == 0).all()
    when = given.density("when", draws=20).quantile(levels)
    assert (when.astype("datetime64[us]").astype(np.int64) % 10**6 == 0).all(), when
    with pytest.raises(nade.BadCall, match="found 2.5, expected a whole number from 0 on"):
        model.prob(count=2.5)
    with pytest.raises(nade.BadCall, match="found -1, expected a whole number from 0 on"):
        model.where(count=[1, -1])


def test_many_rows(number_model, numbers):
    density = number_model.density("2", {"0": numbers[:5, 0], "1": numbers[:5, 1]})
    assert len(density) == 5
    assert density.mean().shape == (5,) and density.quantile([0.1, 0.9]).shape == (5, 2)
    assert density.pdf(0.0).shape == (5,) and density.pdf([0.0, 1.0, 2.0]).shape == (5, 3)
    assert density.sample(7).shape == (5, 7)
    one = number_model.density("2", {"0": float(numbers[3, 0]), "1": float(numbers[3, 1])})
    assert one.mean() == density.mean()[3] and isinstance(one.pdf(0.0), float)


def test_labels(model):
    density = model.density("kind", {"x": 1.0})
    shares = density.probabilities
    assert set(shares) == {"high", "low"} and abs(sum(shares.values()) - 1) < 1e-9
    assert density.mode() == max(shares, key=shares.get)
    assert density.pdf("high") == pytest.approx(shares["high"], rel=1e-6)
    drawn = density.sample(3000, seed=2)
    assert abs(np.mean(drawn == "high") - shares["high"]) < 0.05
    with pytest.raises(nade.BadCall, match="no mean, but probabilities"):
        density.mean()


def test_dates(model):
    density = model.density("when")
    assert density.median().dtype.kind == "M" and density.sample(3).dtype.kind == "M"
    half = density.cdf(density.median())
    assert 0.5 <= half < 0.6


def test_dates_of_all_units(model):
    density = model.density("when")
    days = np.array(["2020-03-01", "2021-07-04", "NaT"], dtype="datetime64[D]")
    expected = [density.cdf("2020-03-01"), density.cdf("2021-07-04")]
    assert 0 < expected[0] < expected[1] < 1
    for unit in ("D", "s", "ms", "us", "ns"):
        same = days.astype(f"datetime64[{unit}]")
        np.testing.assert_array_equal(density.cdf(same[:2]), expected)
        np.testing.assert_array_equal(density.log_pdf(same)[:2], density.log_pdf(days)[:2])
        assert density.cdf(same[0]) == expected[0]
        assert np.isnan(model.columns[6].encode_all(same)).tolist() == [False, False, True]


def test_given_ranges(number_model):
    """The distribution given a range is the mean of those given its values."""
    density = number_model.where({"0": (0, 1)}).density("1", draws=400)
    drawn = number_model.where({"0": (0, 1)}).sample(4000, seed=9)[:, 1]
    assert abs(density.mean() - drawn.mean()) < 0.15
    assert abs(density.median() - np.median(drawn)) < 0.2
    assert abs(density.cdf(density.quantile(0.3)) - 0.3) < 0.02
    by_number = number_model.where({0: (0, 1)}).density(1, draws=400)
    assert by_number.mean() == density.mean()
    replaced = number_model.where({0: (0, 1)}).where({"0": 0.5}).density("1")
    assert replaced.mean() == number_model.density("1", {"0": 0.5}).mean()
    for condition in ((0, 1), 0.5):
        with pytest.raises(nade.BadCall, match="column '0' is among the conditions"):
            number_model.where({0: condition}).density("0")


def test_conditions(model):
    drawn = model.where(x=(0, 1), kind="high", colour=["red", "blue"], flag=True).sample(40)
    assert ((drawn["x"] >= 0) & (drawn["x"] <= 1)).all() and (drawn["kind"] == "high").all()
    assert set(drawn["colour"]) <= {"red", "blue"} and drawn["flag"].all()
    narrower = model.where(x=(0, 1)).where(x=(0.5, None), kind="low")
    assert (narrower.sample(10)["x"] >= 0.5).all()
    assert model.prob(kind=["high", "low"]) == pytest.approx(1)
    exact = model.prob(x=(None, 0))
    assert float(exact) == model.density("x").cdf(0.0) and exact.standard_error == 0
    both = model.prob(x=(None, 0), kind="high", draws=4000)
    # A model that was fitted this briefly has orderings that disagree.
    assert abs(both - exact * model.where(x=(None, 0)).prob(kind="high", draws=4000)) < 0.1


def test_parts_of_a_sample_are_the_whole(model):
    whole = model.sample(30, seed=4)
    assert whole["x"].tolist()[:10] == model.sample(10, seed=4)["x"].tolist()


def test_predict(model, columns):
    rows = {name: array[:10] for name, array in columns.items() if name not in ("kind", "x")}
    found = model.predict(rows, of=["kind", "x"], interval=0.8)
    assert list(found) == ["kind", "kind=high", "kind=low", "x_mean", "x_median", "x_low", "x_high"]
    np.testing.assert_allclose(found["kind=high"] + found["kind=low"], 1)
    assert (found["x_low"] <= found["x_median"]).all() and (found["x_median"] <= found["x_high"]).all()


def test_predict_given_columns(model, columns):
    rows = {name: array[:10] for name, array in columns.items()}
    found = model.predict({"x": rows["x"]}, of="kind", given="x")
    np.testing.assert_array_equal(found["kind=high"], model.density("kind", {"x": rows["x"]}).probabilities[:, 0])
    whole = model.predict(rows, of="kind", given=["x"])
    np.testing.assert_array_equal(whole["kind=high"], found["kind=high"])
    with pytest.raises(nade.BadCall, match="'kind' is in of and in given"):
        model.predict(rows, of=["x", "kind"], given="kind")
    with pytest.raises(nade.BadInput, match="'size'"):
        model.predict({"x": rows["x"]}, of="kind", given=["x", "size"])


def test_predict_and_unseen_values(model, columns):
    rows = {name: array[:5].copy() for name, array in columns.items()}
    rows["kind"][1] = "middle"  # is predicted, so that it does not matter
    expected = model.predict({**rows, "kind": columns["kind"][:5]}, of="kind")["kind=high"]
    np.testing.assert_array_equal(model.predict(rows, of="kind")["kind=high"], expected)
    rows["colour"][2] = "violet"
    with pytest.raises(nade.BadInput, match="row 2, column 'colour'"):
        model.predict(rows, of="kind")
    with pytest.raises(nade.BadInput, match="found 'violet'"):
        model.density("x", {"colour": "violet"})
    with pytest.warns(nade.Warning, match="1 cell has a value .* row 2, column 'colour'"):
        found = model.predict(rows, of="kind", unseen="missing")
    rows["colour"][2] = None
    np.testing.assert_array_equal(model.predict(rows, of="kind")["kind=high"], found["kind=high"])


def test_density_given_nothing(model):
    assert model.density("kind", {}).probabilities == model.density("kind").probabilities


def test_intervals_of_dates(model, columns):
    rows = {name: array[:20].copy() for name, array in columns.items()}
    rows["when"][3] = np.datetime64("NaT")
    filled, low, high = model.impute(rows, interval=0.8)
    assert low["when"].dtype.kind == high["when"].dtype.kind == "M" and low["x"].dtype.kind == "f"
    assert low["when"][3] <= high["when"][3] and np.isnat(low["when"][:3]).all()
    assert np.datetime64("2019-01-01") < low["when"][3] and high["when"][3] < np.datetime64("2024-01-01")


@pytest.mark.filterwarnings("ignore:.*as many rows")
def test_summary_check_and_compare(model, columns):
    summary = model.score(columns)
    assert summary.mean == pytest.approx(model.log_density(columns).mean())
    check = model.check(columns)
    assert [column.name for column in check.columns] == model.names
    assert check.gain == pytest.approx(summary.gain) and f"{check.gain:.3g} nats a row" in check.verdict
    assert str(check).count("\n") == 7 and len(check.worst_rows) == 5 and check.worst_rows[0].column in model.names
    worse = nade.fit(columns, **{**QUICK, "iterations": 1, "seed": 5})
    found = nade.compare(model, worse, columns)
    assert found.difference == pytest.approx(summary.mean - worse.score(columns).mean)
    assert found.standard_error > 0 and found.rows == found.a_better + found.b_better == 400


@pytest.mark.parametrize("name", ["x", "count", "kind", "colour", "flag"])
def test_checks_pass_cells_that_the_model_drew(model, columns, name):
    """Given the rest of their rows such cells are calibrated, however poor the model is."""
    full = ~np.isnan(columns["size"]) & np.not_equal(columns["kind"], None)
    whole = {key: array[full] for key, array in columns.items()}
    hollow = {**whole, name: np.full(full.sum(), None, dtype=object)}
    drawn = {**whole, name: model.impute(hollow, seed=2)[name]}
    assert {column.name: column for column in model.check(drawn).columns}[name].calibrated


def test_checks_pass_a_right_model(numbers):
    one = nade.fit(numbers[:, :1], **QUICK)
    right, wide = one.check(one.sample(1000, seed=6)), one.check(one.sample(1000, seed=6) * 1.3)
    assert right.verdict.startswith("no fault found") and right.columns[0].calibrated and not right.samples.differ
    assert not wide.good and "too narrow" in wide.columns[0].fault and "! 0: 1000 cells" in str(wide)


def test_checks_find_a_model_of_other_rows(number_model, numbers):
    found = number_model.check(numbers[:250] * 3 + 1)
    assert not any(column.calibrated for column in found.columns) and found.samples.differ
    assert found.verdict.startswith("4 of 4 columns are not calibrated and samples can be told from the rows")


def test_checks_of_a_fixed_ordering(numbers):
    one = nade.fit(numbers, effort="quick", iterations=2, hidden=[8], components=3, order="fixed", progress=False)
    found = one.check(numbers[:50])
    assert found.columns == () and "one ordering only" in found.verdict and found.worst_rows[0].column is None


def test_rows_of_training_are_warned_of(number_model, numbers):
    with pytest.warns(nade.Warning, match="as many rows") as caught:
        number_model.check(numbers)
        nade.compare(number_model, "independent", numbers)
    assert [warning.filename for warning in caught] == [__file__, __file__]


def test_compared_rows(model, columns):
    """Rows without a cell, and with values that training has not seen, are left out and counted."""
    rows = {name: array[:100].copy() for name, array in columns.items()}
    rows["colour"] = rows["colour"].astype(object)
    rows["colour"][7] = "pink"
    for array in rows.values():
        array[3:5] = None if array.dtype == object else np.nan if array.dtype.kind == "f" else array[3:5]
    rows = {name: rows[name] for name in ("x", "kind", "colour")}
    with pytest.raises(nade.BadInput, match="pink"):
        nade.compare(model, "mixture", rows, of=["x", "kind", "colour"])
    with pytest.warns(nade.Warning, match="has not seen"):
        found = nade.compare(model, "mixture", rows, of=["x", "kind", "colour"], unseen="missing")
    assert (found.rows, found.empty_rows, found.unseen_rows, found.unlike_rows) == (97, 2, 1, 0)
    assert "better" in found.verdict


def test_compared_columns(model, number_model, columns, numbers):
    part = nade.fit({name: columns[name] for name in ("kind", "x")}, **QUICK)
    with pytest.raises(nade.BadCall, match="only the first model has the column 'colour'"):
        nade.compare(model, part, columns)
    ours = {name: array[:90] for name, array in columns.items()}
    found = nade.compare(model, part, ours, of=["x", "kind"])
    expected = np.mean(model.log_density(ours, of=["x", "kind"]) - part.log_density(ours))
    assert found.difference == pytest.approx(expected)
    counts = [nade.fit({"n": columns["count"]}, types={"n": type_}, **QUICK) for type_ in ("count", "real")]
    few = {"n": columns["count"][:90]}
    with pytest.raises(nade.BadCall, match="column 'n' is count in the first model and real in the second"):
        nade.compare(*counts, few)
    scores = [one.log_density(few, cells=True).mean() for one in counts]  # the step is 1, and its logarithm 0
    assert nade.compare(*counts, few, cells=True).difference == pytest.approx(scores[0] - scores[1])
    with pytest.raises(nade.BadCall, match="nothing is fitted"):
        nade.compare(number_model, "independent", numbers, train=numbers)
    with pytest.raises(nade.BadCall, match="rows as wholes"):
        nade.compare(number_model, "gaussian", numbers, given="0")
    with pytest.raises(nade.BadInput, match="found 1 row to fit 'gaussian'"):
        nade.compare(number_model, "gaussian", numbers[:1])


def test_pickles(model, columns):
    again = pickle.loads(pickle.dumps(model))
    assert again._handle is None, "it opens when it is used"
    np.testing.assert_array_equal(again.log_density(columns), model.log_density(columns))
    assert again.to_bytes() == model.to_bytes()
    assert list(again.sample(2)) == list(model.sample(2))


def test_description(model):
    assert model.info["training"]["train_rows"] + model.info["training"]["valid_rows"] == 400
    assert "7 columns" in repr(model)
    assert "<td>colour</td>" in model._repr_html_()
    assert set(model.tensors) >= {"output.weight", "input.weight"}


def test_orderings_of_ones_own(number_model, numbers):
    one = number_model.log_density(numbers, order=[[0, 1, 2, 3]])
    other = number_model.log_density(numbers, order=[[3, 2, 1, 0]])
    both = number_model.log_density(numbers, order=[[0, 1, 2, 3], [3, 2, 1, 0]])
    np.testing.assert_allclose(both, np.logaddexp(one, other) - np.log(2), rtol=1e-9)


def test_predictions_of_a_row_that_lacks_columns(model, columns):
    found = model.predict({"x": 0.5}, of="kind")
    whole = model.predict({name: [0.5 if name == "x" else None] for name in columns}, of="kind")
    shares = model.density("kind", {"x": 0.5}).probabilities
    for label in ("high", "low"):
        assert found[f"kind={label}"][0] == whole[f"kind={label}"][0] == shares[label]
    with pytest.raises(nade.BadInput, match="has no column"):
        model.predict({"x": [0.5, 1.0]}, of="kind")
    with pytest.raises(nade.BadInput, match="has no column 'size'"):
        model.predict({"x": 0.5}, of="kind", given=["x", "size"])
