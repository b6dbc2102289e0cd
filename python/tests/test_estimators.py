"""Estimators with scikit-learn's contract. None of its checks is excepted."""
from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest

import nade

sklearn = pytest.importorskip("sklearn")
from sklearn.base import clone  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_val_score  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402

SMALL = {"effort": "quick", "iterations": 5, "options": {"width": 32, "blocks": 1, "components": 4, "batch": 50}}
LONGER = {**SMALL, "iterations": 60}

ESTIMATORS = [nade.DensityEstimator(**SMALL), nade.OutlierDetector(**SMALL), nade.Imputer(**SMALL),
              nade.Classifier(**SMALL), nade.Regressor(**LONGER)]


@pytest.fixture(autouse=True)
def one_thread():
    nade.set_threads(1)
    yield
    nade.set_threads(0)


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(ESTIMATORS)
def test_checks(estimator, check):
    check(estimator)


def table(rows=300, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, 3))
    y = x[:, 0] - x[:, 1] + 0.3 * rng.normal(size=rows)
    return x.round(3), y.round(3)


def test_density_estimator():
    x, _ = table()
    estimator = nade.DensityEstimator(**SMALL).fit(x)
    assert estimator.score(x) == pytest.approx(estimator.score_samples(x).mean())
    assert estimator.sample(5).shape == (5, 3)
    again = pickle.loads(pickle.dumps(estimator))
    np.testing.assert_array_equal(again.score_samples(x), estimator.score_samples(x))
    assert clone(estimator).get_params() == estimator.get_params()
    search = GridSearchCV(nade.DensityEstimator(**SMALL), {"iterations": [1, 5]}, cv=2).fit(x)
    assert search.best_params_["iterations"] in (1, 5)


def test_density_of_the_impossible():
    """A label that training has not seen makes a row impossible, not likelier."""
    pd = pytest.importorskip("pandas")
    x, _ = table()
    frame = pd.DataFrame({"x": x[:, 0], "kind": np.where(x[:, 1] > 0, "high", np.where(x[:, 2] > 0, "low", "none"))})
    estimator = nade.DensityEstimator(**SMALL).fit(frame)
    odd = frame.head(3).copy()
    odd.loc[1, "kind"] = "pink"
    scores = estimator.score_samples(odd)
    assert np.isneginf(scores).tolist() == [False, True, False] and estimator.score(odd) == -np.inf
    np.testing.assert_array_equal(scores[[0, 2]], estimator.score_samples(frame.head(3))[[0, 2]])


def test_samples_without_a_seed():
    """Others each time, as scikit-learn draws them: NumPy's seed fixes them."""
    x, _ = table()
    estimator = nade.DensityEstimator(**SMALL).fit(x)
    assert not np.array_equal(estimator.sample(5), estimator.sample(5))
    np.testing.assert_array_equal(estimator.sample(5, random_state=3), estimator.sample(5, random_state=3))
    np.random.seed(1)
    once = estimator.sample(5)
    np.random.seed(1)
    np.testing.assert_array_equal(estimator.sample(5), once)


def test_outliers():
    x, _ = table()
    odd = np.vstack([x, [[9, -9, 9]]])
    detector = nade.OutlierDetector(contamination=0.05, **SMALL).fit(x)
    assert detector.predict(odd)[-1] == -1 and abs(np.mean(detector.predict(x) == -1) - 0.05) < 0.01
    assert detector.decision_function(odd).argmin() == len(x)
    np.testing.assert_array_equal(detector.score_samples(x), detector.model_.log_density(x))


def test_impossible_values_are_outliers():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(1)
    frame = pandas.DataFrame({"amount": rng.exponential(50, 400).round(2), "shop": rng.choice(list("ABC"), 400),
                              "price": rng.choice([4.99, 9.99, 14.99, 19.99], 400), "visits": rng.poisson(3, 400)})
    detector = nade.OutlierDetector(contamination=0.05, types={"amount": "real", "price": "ordered", "visits": "count"},
                                    **SMALL).fit(frame)
    usual = {"amount": 40.0, "shop": "A", "price": 9.99, "visits": 3}
    odd = pandas.DataFrame([usual, {**usual, "amount": -500.0}, {**usual, "shop": "Z"}, {**usual, "price": 99.99},
                            {**usual, "visits": -1}, {"shop": "Z"}])
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # they are not missing
        assert detector.predict(odd).tolist() == [1, -1, -1, -1, -1, -1]
        assert np.isneginf(detector.score_samples(odd)[1:]).all() and detector.decision_function(odd)[1] == -np.inf


@pytest.mark.parametrize("holed_training", [False, True])
def test_rows_with_holes_are_held_against_their_kind(holed_training):
    # A column of small numbers has a high density, one of large numbers a low one: a hole there changes a row's most.
    rng = np.random.default_rng(2)

    def rows(count):
        return rng.normal(size=(count, 3)) * [1e-4, 1, 1e4]

    x = rows(600)
    if holed_training:  # no row is whole
        x[np.arange(600), np.arange(600) % 3] = np.nan
    detector = nade.OutlierDetector(contamination=0.1, **LONGER).fit(x)
    assert 0.03 < np.mean(detector.predict(x) == -1) < 0.2
    for hole in range(3):
        new = rows(400)
        new[:, hole] = np.nan
        assert 0.03 < np.mean(detector.predict(new) == -1) < 0.25, hole
        new[:, 1 if hole != 1 else 2] *= 30
        assert np.mean(detector.predict(new) == -1) > 0.7, hole
    assert detector.predict(np.full((1, 3), np.nan)).tolist() == [1]
    again = pickle.loads(pickle.dumps(detector))
    np.testing.assert_array_equal(again.score_samples(new), detector.score_samples(new))


def test_imputer_in_a_pipeline():
    x, y = table()
    holed = x.copy()
    holed[::3, 1] = np.nan
    filled = nade.Imputer(method="mean", **SMALL).fit_transform(holed)
    assert not np.isnan(filled).any() and (filled[1] == x[1]).all()
    from sklearn.linear_model import LinearRegression

    assert np.isfinite(cross_val_score(make_pipeline(nade.Imputer(**SMALL), LinearRegression()), holed, y, cv=2)).all()


def test_classifier_with_holes_and_text(columns):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(columns).dropna(subset=["kind"])
    labels = frame.pop("kind")
    classifier = nade.Classifier(**LONGER).fit(frame, labels)
    assert list(classifier.classes_) == ["high", "low"]
    assert classifier.score(frame, labels) > 0.9
    assert classifier.predict_proba(frame).shape == (len(frame), 2)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(classifier)).predict(frame), classifier.predict(frame))


def test_weights_of_rows_among_the_options():
    """Rows of weight 0 are as if they were not there."""
    x, _ = table()
    low, high = x, x + 10
    weights = np.repeat([1.0, 0.0], len(x))
    small = {**SMALL, "options": {**SMALL["options"], "weights": weights}}
    estimator = nade.DensityEstimator(**small).fit(np.vstack([low, high]))
    assert estimator.score(low) > estimator.score(high) + 5
    assert abs(estimator.sample(200).mean()) < 2


def test_regressor():
    x, y = table()
    regressor = nade.Regressor(**LONGER).fit(x, y)
    assert regressor.score(x, y) > 0.8
    ends = regressor.predict_interval(x, 0.9)
    assert 0.8 < np.mean((y >= ends[:, 0]) & (y <= ends[:, 1])) <= 1
    holed = x.copy()
    holed[:, 0] = np.nan
    assert np.isfinite(regressor.predict(holed)).all()


@pytest.mark.parametrize("package", ["polars", "pyarrow"])
def test_other_frames(package):
    module = pytest.importorskip(package)
    x, y = table()
    arrays = {f"x{i}": x[:, i] for i in range(3)}
    frame = module.DataFrame(arrays) if package == "polars" else module.table(arrays)
    regressor = nade.Regressor(**SMALL).fit(frame, y)
    assert regressor.predict(frame).shape == (300,)
    assert list(regressor.feature_names_in_) == ["x0", "x1", "x2"]
