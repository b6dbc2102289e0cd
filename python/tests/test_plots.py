"""Pictures show the probability that there is, whatever a column holds."""
from __future__ import annotations

import numpy as np
import pytest

import nade
from conftest import QUICK

plt = pytest.importorskip("matplotlib.pyplot")
dates = pytest.importorskip("matplotlib.dates")


@pytest.fixture(scope="module")
def mixed():
    """Columns that a grid of even points misses: ordered prices, weekly dates, counts, an atom at 0."""
    rng = np.random.default_rng(0)
    rows = 600
    return {"price": rng.choice([4.99, 9.99, 19.99, 49.0], rows, p=[0.4, 0.3, 0.2, 0.1]),
            "week": (np.datetime64("2020-01-06") + 7 * rng.integers(0, 100, rows)).astype("datetime64[s]"),
            "visits": rng.poisson(300, rows),
            "spent": np.where(rng.random(rows) < 0.4, 0.0, np.exp(rng.normal(3, 1, rows)).round(2)),
            "weight": rng.normal(70, 10, rows).round(1),
            "shop": rng.choice(["north", "south", "west"], rows).astype(object)}


@pytest.fixture(scope="module")
def mixed_model(mixed):
    found = nade.fit(mixed, types={"visits": "count"}, **{**QUICK, "iterations": 5})
    assert [column.type for column in found.columns] == ["ordered", "date", "count", "real", "real", "categorical"]
    return found


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def area(line):
    """Under the outline of a histogram; dates in days."""
    x, y = line.get_xdata(orig=False), line.get_ydata()
    return float(np.sum(np.diff(x) * y[:-1]))


@pytest.mark.parametrize("name", ["price", "shop"])
def test_bars(mixed_model, name):
    density = mixed_model.density(name)
    axes = density.plot()
    heights = [bar.get_height() for bar in axes.patches]
    assert sum(heights) == pytest.approx(1)
    texts = [text.get_text() for text in axes.get_xticklabels()]
    if name == "price":
        assert texts == ["4.99", "9.99", "19.99", "49"] and heights[1] == pytest.approx(density.pdf(9.99))
    else:
        assert dict(zip(texts, heights)) == pytest.approx(density.probabilities)


@pytest.mark.parametrize("name", ["week", "visits"])
def test_outlines(mixed_model, name):
    axes = mixed_model.density(name).plot(color="k")
    assert area(axes.lines[0]) == pytest.approx(1, abs=0.01)
    if name == "week":
        assert dates.date2num(np.datetime64("2019-01-01")) < axes.get_xlim()[0] < axes.get_xlim()[1] < dates.date2num(
            np.datetime64("2023-06-01"))
        assert axes.get_ylabel() == "density per day"


def test_curves(mixed_model):
    """A value with a probability of its own is said beside the curve and is no spike in it."""
    axes = mixed_model.density("spent").plot()
    density = mixed_model.density("spent")
    share = density.cdf(0.0, exact=True) - density.below(0.0, exact=True)
    assert [text.get_text().strip() for text in axes.texts] == [f"0: {share:.1%}"] and share > 0.2
    x, y = axes.lines[0].get_data()
    assert np.sum(np.diff(x) * (y[1:] + y[:-1]) / 2) == pytest.approx(1 - share, abs=0.05)
    assert not mixed_model.density("weight").plot().texts


@pytest.mark.parametrize("x, y", [("price", "week"), ("week", "shop"), ("shop", "price"), ("visits", "weight"),
                                  ("weight", "spent"), ("spent", "visits")])
def test_pairs(mixed_model, x, y):
    """All of the probability lies on the shades but for what is beyond their ends."""
    axes = nade.plots.plot_pair(mixed_model, x, y, points=40)
    mesh = axes.collections[0]
    corners = np.asarray(mesh.get_coordinates())
    areas = np.diff(corners[:-1, :, 0], axis=1) * np.diff(corners[:, :-1, 1], axis=0)
    assert 0.93 < float(np.sum(mesh.get_array().reshape(areas.shape) * areas)) < 1.02
    assert (axes.get_xlabel(), axes.get_ylabel()) == (x, y)


def test_pairs_given_conditions(mixed_model):
    axes = nade.plots.plot_pair(mixed_model, "weight", "price", {"spent": (5, 50), "shop": ["north", "west"]},
                                points=10, draws=20)
    assert len(axes.collections) == 1
    with pytest.raises(nade.BadCall, match="'price' twice"):
        nade.plots.plot_pair(mixed_model, "price", "price")


def test_real_and_synthetic(mixed_model, mixed):
    figure = nade.plots.plot_real_and_synthetic(mixed_model, mixed)
    by_name = {axes.get_title(): axes for axes in figure.axes if axes.get_visible()}
    assert list(by_name) == mixed_model.names
    low, high = by_name["week"].get_xlim()
    first, last = dates.date2num(mixed["week"].min()), dates.date2num(mixed["week"].max())
    assert first - 120 < low < first < last < high < last + 120, "dates, not seconds"
    heights = [bar.get_height() for bar in by_name["price"].patches[:4]]
    np.testing.assert_allclose(heights, [np.mean(mixed["price"] == value) for value in (4.99, 9.99, 19.99, 49.0)])
    assert [text.get_text() for text in by_name["shop"].get_xticklabels()] == list(mixed_model.columns[5].choices)


def test_training_images_and_html(model, number_model, numbers):
    assert nade.plots.plot_training(model).lines
    assert nade.plots.plot_images(number_model, numbers[:12], (2, 2)).images
    assert "more than with independent columns" in model._repr_html_()


def test_orderings(model, columns):
    """Together they are worth more than one on average, whose mean lies among them."""
    rows = {name: array[:80] for name, array in columns.items()}
    axes = nade.plots.plot_orderings(model, rows, orderings=5)
    points, mean, together = (line.get_ydata() for line in (axes.lines[0], axes.lines[-2], axes.lines[-1]))
    assert len(points) == 5 and (np.diff(points) >= 0).all()
    assert mean[0] == pytest.approx(np.mean(points)) and points[0] <= mean[0] < together[0]
    assert together[0] == pytest.approx(np.mean(model.log_density(rows, orderings=5)))
    mixture = nade.fit(rows, kind="mixture", components=2, progress=False)
    assert len(nade.plots.plot_orderings(mixture, rows).lines[0].get_ydata()) == 1
