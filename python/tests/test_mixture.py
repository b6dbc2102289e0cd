"""Mixtures of products, against formulas written here with NumPy alone."""
from __future__ import annotations

import json
import struct

import numpy as np
import pytest

import nade
from conftest import QUICK


def table(rows=800, seed=0):
    """Two groups of rows: two numbers, a label of three, and holes."""
    rng = np.random.default_rng(seed)
    group = rng.uniform(size=rows) < 0.4
    x = np.where(group[:, None], [-2, 0], [1, 3]) + rng.normal(size=(rows, 2)) * np.where(group, 0.5, 0.9)[:, None]
    label = np.where(group, rng.choice(3, rows, p=[0.8, 0.1, 0.1]), rng.choice(3, rows, p=[0.1, 0.3, 0.6]))
    x[rng.uniform(size=x.shape) < 0.1] = np.nan
    return {"a": x[:, 0], "b": x[:, 1], "c": [f"label {i}" for i in label]}


def read(path):
    """Tensors and description of a model file, without the library."""
    data = path.read_bytes()
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + length])
    description = json.loads(header.pop("__metadata__")["nade"])
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        numbers = np.frombuffer(data[8 + length + begin:8 + length + end], dtype="<f4")
        tensors[name] = numbers.reshape(entry["shape"]).astype(float)
    return tensors, description


def log_sum(terms):
    most = terms.max(axis=1, keepdims=True)
    return most[:, 0] + np.log(np.exp(terms - most).sum(axis=1))


def component_terms(tensors, description, data):
    """log weight + log p_k of the cells of each row that are there: (rows, components), in data units."""
    weight = tensors["mixture.weight"]
    terms = np.tile(weight - log_sum(weight[None]), (len(data["c"]), 1))
    at = 0
    for column in description["columns"]:
        if column["type"] == "real":
            block = tensors["mixture.columns"][:, at:at + 3]
            at += 3
            scale = np.exp(block[:, 2]) + column["floor"]
            z = (np.asarray(data[column["name"]], dtype=float) - column["mean"]) / column["sd"]
            z = (z[:, None] - block[:, 1]) / scale
            part = -0.5 * z**2 - np.log(scale * column["sd"]) - 0.5 * np.log(2 * np.pi)
            terms += np.where(np.isnan(part), 0, part)
        else:
            logits = tensors["mixture.columns"][:, at:at + len(column["labels"])]
            at += len(column["labels"])
            codes = [column["labels"].index(text) for text in data[column["name"]]]
            terms += (logits - log_sum(logits)[:, None]).T[codes]
    return terms


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    model = nade.fit(table(), kind="mixture", components=4, maps=False, atoms=False, progress=False)
    path = tmp_path_factory.mktemp("mixture") / "m.nade"
    model.save(path)
    return model, path


def test_densities(fitted):
    model, path = fitted
    tensors, description = read(path)
    assert description["architecture"] == {"kind": "mixture", "components": 4}
    assert tensors["mixture.columns"].shape == (4, 9)
    data = table(50, seed=1)
    expected = log_sum(component_terms(tensors, description, data))
    assert np.allclose(model.log_density(data), expected, atol=1e-9)


def test_predictions(fitted):
    """p(c | a, b) by Bayes' rule."""
    model, path = fitted
    tensors, description = read(path)
    data = table(50, seed=2)
    joint = np.stack([log_sum(component_terms(tensors, description, {**data, "c": [f"label {v}"] * 50}))
                      for v in range(3)], axis=1)
    expected = np.exp(joint - log_sum(joint)[:, None])
    given = {"a": data["a"], "b": data["b"]}
    found = model.predict(given, of="c")
    for v in range(3):
        assert np.allclose(np.asarray(found[f"c=label {v}"], dtype=float), expected[:, v], atol=1e-9)


def test_one_component_is_moments():
    data = table()
    model = nade.fit(data, kind="mixture", components=1, maps=False, atoms=False, valid_fraction=0, progress=False)
    a = data["a"][~np.isnan(data["a"])]
    z = (a - a.mean()) / a.std()
    expected = -0.5 * z**2 - np.log(a.std()) - 0.5 * np.log(2 * np.pi)
    found = model.log_density({"a": a, "b": np.full(len(a), np.nan), "c": [None] * len(a)}, of="a")
    assert np.allclose(found, expected, atol=1e-3)


def test_likelihood_is_scikit_learns():
    """Diagonal Gaussians of all-real rows: no worse than GaussianMixture's likelihood on the same rows."""
    mixture = pytest.importorskip("sklearn.mixture")
    data = {name: np.nan_to_num(values) for name, values in table(2000).items() if name != "c"}
    x = np.stack([data["a"], data["b"]], axis=1)
    theirs = mixture.GaussianMixture(3, covariance_type="diag", n_init=4, random_state=0, tol=1e-5).fit(x).score(x)
    model = nade.fit(data, kind="mixture", components=3, maps=False, atoms=False, valid_fraction=0, progress=False)
    assert float(np.mean(model.log_density(data))) > theirs - 0.01


def test_estimators():
    data = np.stack([table()["a"], table()["b"]], axis=1)
    estimator = nade.DensityEstimator(kind="mixture", options={"components": 3}).fit(data)
    assert estimator.get_params()["kind"] == "mixture"
    assert estimator.score_samples(data).shape == (800,)
    assert not np.isnan(nade.Imputer(kind="mixture").fit_transform(data)).any()


def test_options_of_networks_are_refused():
    with pytest.raises(nade.BadCall, match="the option members is given, which is for networks, but the kind is mix"):
        nade.fit(table(), kind="mixture", members=2, progress=False)


def test_networks_are_compared_where_that_is_asked_for(columns):
    """With nobody to tell of a mixture none is fitted, and the last report is that of training."""
    options = {**{name: value for name, value in QUICK.items() if name != "effort"}, "seed": 1}
    reports = {}
    for compare in (None, True):
        told = reports[compare] = []
        model = nade.fit(columns, compare=compare, callback=told.append, **options)
        reports[compare].append(model.to_bytes())
    assert reports[None].pop() == reports[True].pop(), "the model has nothing of it"
    assert not any(report.mixture_components for report in reports[None]) and reports[None][-1].iteration_done
    assert reports[True][-1].mixture_components and np.isfinite(reports[True][-1].mixture_loss)
    assert len(reports[None]) < len(reports[True])
