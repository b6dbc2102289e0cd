"""Estimators with scikit-learn's contract. None of its checks is excepted."""
from __future__ import annotations

import pickle

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


def test_outliers():
    x, _ = table()
    odd = np.vstack([x, [[9, -9, 9]]])
    detector = nade.OutlierDetector(contamination=0.05, **SMALL).fit(x)
    assert detector.predict(odd)[-1] == -1 and abs(np.mean(detector.predict(x) == -1) - 0.05) < 0.01
    assert detector.decision_function(odd).argmin() == len(x)


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
