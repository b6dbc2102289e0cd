"""Gaussians with covariances, against formulas written here with NumPy alone and against scikit-learn."""
from __future__ import annotations

import numpy as np
import pytest

import nade

MEAN = np.array([1.0, -2.0, 0.5])
COVARIANCE = np.array([[2.0, 0.9, -0.4], [0.9, 1.0, 0.1], [-0.4, 0.1, 0.5]])


def rows(count=3000, seed=0):
    return np.random.default_rng(seed).multivariate_normal(MEAN, COVARIANCE, count)


def clusters(count=3000, seed=0):
    rng = np.random.default_rng(seed)
    of = rng.integers(3, size=count)
    factors = 0.5 * rng.normal(size=(3, 4, 4))
    return 2 * rng.normal(size=(3, 4))[of] + np.einsum("nij,nj->ni", factors[of], rng.normal(size=(count, 4)))


def log_gaussian(x, mean, covariance):
    d = x - mean
    squares = np.einsum("ni,ij,nj->n", d, np.linalg.inv(covariance), d)
    return -0.5 * (squares + np.linalg.slogdet(2 * np.pi * covariance)[1])


def fit(x, **options):
    return nade.fit(x, progress=False, types={str(c): "real" for c in range(x.shape[1])}, **options)


def test_one_gaussian_is_the_moments():
    x = rows()
    expected = log_gaussian(x, x.mean(0), np.cov(x.T, bias=True))
    assert np.allclose(fit(x, kind="gaussian", valid_fraction=0).log_density(x), expected, atol=1e-3)


def test_fits_with_holes_reach_the_maximum():
    """Where one column alone has holes, the maximum is the regression on those that have none."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=20000)
    y = x + 0.5 * rng.normal(size=20000)
    hidden = rng.random(20000) < 1 / (1 + np.exp(-1.5 - 2 * x))
    slope, level = np.polyfit(x[~hidden], y[~hidden], 1)
    model = fit(np.column_stack([x, np.where(hidden, np.nan, y)]), kind="gaussian", valid_fraction=0)
    assert abs(model.density("1", {"0": 1.0}).mean() - (level + slope)) < 2e-3
    assert abs(model.density("1").mean() - (level + slope * x.mean())) < 2e-3


def test_cells_are_the_mean_over_orderings():
    model = fit(rows(400).round(), kind="gaussian")
    x = rows(5, seed=1).round()
    one, other = (model.log_density(x, cells=True, order=[order]) for order in ([0, 1, 2], [2, 1, 0]))
    both = model.log_density(x, cells=True, order=[[0, 1, 2], [2, 1, 0]])
    assert not np.allclose(one, other)
    assert np.allclose(both, np.logaddexp(one, other) - np.log(2))


def test_missing_cells_are_marginalised():
    """A fit to rows with holes finds what made them; their densities are those of the marginals."""
    x = rows(20000)
    holes = x.copy()
    holes[np.random.default_rng(1).uniform(size=x.shape) < 0.3] = np.nan
    holes = holes[~np.isnan(holes).all(1)]
    model = fit(holes, kind="gaussian", valid_fraction=0)
    assert np.abs(model.log_density(x) - log_gaussian(x, MEAN, COVARIANCE)).mean() < 0.03
    for present in ([0, 1], [2], [0, 2]):
        left = np.full_like(x, np.nan)
        left[:, present] = x[:, present]
        expected = log_gaussian(x[:, present], MEAN[present], COVARIANCE[np.ix_(present, present)])
        assert np.abs(model.log_density(left) - expected).mean() < 0.03


def test_samples_have_the_moments():
    model = fit(rows(20000), kind="gaussian", valid_fraction=0)
    drawn = np.asarray(model.sample(20000, seed=3), dtype=float)
    assert np.allclose(drawn.mean(0), MEAN, atol=0.05)
    assert np.allclose(np.cov(drawn.T), COVARIANCE, atol=0.06)


def test_likelihood_is_scikit_learns():
    mixture = pytest.importorskip("sklearn.mixture")
    x = clusters()
    theirs = mixture.GaussianMixture(3, n_init=4, random_state=0, tol=1e-5).fit(x)
    model = fit(x, kind="mog", components=3, valid_fraction=0)
    assert float(np.mean(model.log_density(x))) > theirs.score(x) - 0.005
    assert np.allclose(model.log_density(x), theirs.score_samples(x), atol=0.3)


def test_factor_analysers():
    x = clusters()
    full = np.mean(fit(x, kind="mog", components=3, valid_fraction=0).log_density(x))
    nearly = np.mean(fit(x, kind="mfa", components=3, factors=3, valid_fraction=0).log_density(x))
    few = np.mean(fit(x, kind="mfa", components=3, factors=1, valid_fraction=0).log_density(x))
    assert few < nearly < full + 0.01
    assert nearly > full - 0.1


def test_other_columns_are_refused():
    with pytest.raises(nade.BadCall, match="column 'b' is categorical, but the kind mog takes real columns alone"):
        nade.fit({"a": [0.5, 1.25, 2.75, 3.5], "b": ["x", "y", "z", "x"]}, kind="mog", progress=False)
