"""Pictures with matplotlib, and a model as HTML for notebooks."""
from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

from ._errors import BadCall
from ._plot_cells import Cells

if TYPE_CHECKING:
    from ._density import Density
    from ._model import Model

_CELLS = 200  # of a picture's axis, at most


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots()[1]


def _ends(density: Density, tail: float) -> tuple[float, float]:
    """What holds all but so much of the probability on either side, as the library's numbers; labels have none."""
    if not density.column.numeric:
        return 0.0, 0.0
    low, high = np.ravel(density.column.encode_all(density.quantile([tail, 1 - tail], exact=True)))
    return float(low), float(high)


def plot_density(density: Density, ax: Any = None, **style: Any) -> Any:
    """The distribution of one row; returns the axes.

    A real number's density is a curve, and a value that has a probability of its own is a line with its share; labels
    and the values of ordered columns are bars; of dates and counts the outline of a histogram is drawn.
    """
    if len(density) != 1:
        raise BadCall(f"found distributions of {len(density)} rows, expected one row to draw")
    ax = _axes(ax)
    low, high = _ends(density, 0.001)
    cells = Cells(density._model, density.column, low, high, _CELLS)
    if density.column.type == "real":
        _draw_curve(ax, density, low, high, style)
    elif cells.named:
        ax.bar(np.arange(len(cells.texts)), cells.heights(density), **style)
    else:
        heights = cells.heights(density)
        ax.plot(cells.drawn_edges, np.append(heights, heights[-1]), **{"drawstyle": "steps-post", **style})
    cells.mark(ax.xaxis)
    ax.set_xlabel(density.column.name)
    ax.set_ylabel("probability" if density.column.type == "count" else cells.unit)
    ax.set_ylim(bottom=0)
    return ax


def _draw_curve(ax: Any, density: Density, low: float, high: float, style: dict[str, Any]) -> None:
    atoms = density._model.info["columns"][density._place].get("atoms") or []
    points = np.linspace(low, high, 2 * _CELLS)
    points = points[~np.isin(points, atoms)]
    (line,) = ax.plot(points, np.ravel(density.pdf(points)), **style)
    for atom in atoms:
        share = float(density.cdf(atom, exact=True) - density.below(atom, exact=True))
        if low <= atom <= high and share >= 0.001:
            ax.axvline(atom, color=line.get_color(), linestyle=":")
            ax.annotate(f" {atom:g}: {share:.1%}", (atom, 0.97), xycoords=("data", "axes fraction"),
                        color=line.get_color(), va="top")


def plot_training(model: Model, ax: Any = None) -> Any:
    """Log densities of training and validation, iteration by iteration."""
    ax = _axes(ax)
    record = model.info["training"]
    for key, label in (("train_loss", "training"), ("valid_loss", "validation")):
        losses = [np.nan if loss is None else -loss for loss in record.get(key) or []]
        ax.plot(np.arange(1, len(losses) + 1), losses, label=label)
    ax.axvline(record["best_iteration"], color="0.7", linewidth=1)
    ax.set_xlabel("iteration")
    ax.set_ylabel("log density, nats per row")
    ax.legend()
    return ax


def plot_pair(model: Model, x: str, y: str, given: dict[str, Any] | None = None, ax: Any = None,
              points: int = 60, draws: int = 256, seed: int = 0) -> Any:
    """The joint density of two columns of any types, given conditions on others as where takes them, as shades.

    points: cells along an axis of numbers, the most along one of dates.
    draws, seed: rows that stand for ranges that are given.
    """
    if model._place(x) == model._place(y):
        raise BadCall(f"found the column '{x}' twice, expected two")
    ax = _axes(ax)
    known = {name: what for name, what in (given or {}).items() if name not in (x, y)}
    alone = [model.where(known).density(name, draws=draws, seed=seed) for name in (x, y)]
    across, up = (Cells(model, density.column, *_ends(density, 0.005), points) for density in alone)
    first = across.heights(alone[0])
    second = [up.heights(model.where({**known, x: value}).density(y, draws=draws, seed=seed))
              for value in across.middles()]
    ax.pcolormesh(across.drawn_edges, up.drawn_edges, (first[:, np.newaxis] * np.stack(second)).T, cmap="viridis")
    across.mark(ax.xaxis)
    up.mark(ax.yaxis)
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    return ax


def plot_real_and_synthetic(model: Model, data: Any, columns: Sequence[str] | None = None, seed: int = 0) -> Any:
    """Histograms of columns of the data beside those of as many drawn rows; returns the figure."""
    import matplotlib.pyplot as plt

    from ._frames import frame_of

    values, _ = model._values(frame_of(data).table(), None, "missing")
    from ._conditions import Conditions, draw_values

    drawn = draw_values(model, Conditions(model.columns, {}), len(values), seed)
    places = [model._place(name) for name in columns or model.names]
    across = min(4, len(places))
    figure, axes = plt.subplots(-(-len(places) // across), across, squeeze=False, figsize=(3.2 * across, 2.6 *
                                                                                          -(-len(places) // across)))
    for ax, place in zip(axes.ravel(), places):
        _histograms(ax, model, model.columns[place], values[:, place], drawn[:, place])
    for ax in axes.ravel()[len(places):]:
        ax.set_visible(False)
    axes[0, 0].legend()
    figure.tight_layout()
    return figure


def _histograms(ax: Any, model: Model, column: Any, real: np.ndarray, drawn: np.ndarray) -> None:
    there = real[np.isfinite(real)] if np.isfinite(real).any() else drawn
    cells = Cells(model, column, there.min(), there.max(), 40 if column.type == "date" else 30)
    for values, label in ((real, "data"), (drawn, "drawn")):
        ax.hist(cells.places(values), bins=cells.drawn_edges, alpha=0.5, density=True, label=label)
    cells.mark(ax.xaxis, 8)
    ax.set_title(column.name, fontsize=9)


def plot_orderings(model: Model, data: Any, orderings: int = 8, seed: int = 0, ax: Any = None) -> Any:
    """How much orderings of the columns disagree: the mean log density of the rows under each, with the spread of a
    row's over orderings as its bar, and as lines the mean of the orderings and what they are worth together."""
    from ._frames import frame_of

    ax = _axes(ax)
    each, together = model._score_orderings(frame_of(data).table(), orderings, seed)
    means = np.sort(each.mean(axis=0))
    spread = float(each.std(axis=1).mean())
    ax.errorbar(np.arange(1, len(means) + 1), means, yerr=spread, fmt="o", capsize=3, label="one ordering")
    ax.axhline(means.mean(), color="0.5", linestyle=":", label="mean of the orderings")
    ax.axhline(together.mean(), color="C1", label="all orderings together")
    ax.set_xlabel("orderings, the worst first")
    ax.set_ylabel("log density, nats per row")
    ax.legend()
    return ax


def plot_images(model: Model, rows: Any, shape: tuple[int, int], ax: Any = None, across: int = 10) -> Any:
    """Rows whose columns are the pixels of images, as a grid; missing cells are shown in another colour."""
    from ._frames import frame_of

    values, _ = model._values(frame_of(rows).table(), None, "missing")
    height, width = shape
    if height * width != values.shape[1]:
        raise BadCall(f"found {values.shape[1]} columns, expected {height} × {width} pixels")
    down = -(-len(values) // across)
    grid = np.full((down * (height + 1), across * (width + 1)), np.nan)
    for i, row in enumerate(values):
        top, left = i // across * (height + 1), i % across * (width + 1)
        grid[top:top + height, left:left + width] = row.reshape(shape)
    ax = _axes(ax)
    ax.imshow(np.ma.masked_invalid(grid), cmap="gray")
    ax.set_facecolor("lightsteelblue")
    ax.set_axis_off()
    return ax


def model_html(model: Model) -> str:
    """A model for a notebook: its columns, and what it gained over independent ones."""
    record = model.info["training"]
    rows = "".join(f"<tr><td>{html.escape(column.name)}</td><td>{html.escape(column.kind)}</td></tr>"
                   for column in model.columns[:100])
    more = f"<p>… and {len(model.columns) - 100} more columns</p>" if len(model.columns) > 100 else ""
    losses = [loss for loss in record.get("valid_loss") or [] if loss is not None]
    words = [f"{record['train_rows']} training rows", f"{record['valid_rows']} validation rows"]
    if losses:
        words.append(f"validation log density {-min(losses):.4g} nats per row")
        if record.get("start_loss") is not None:
            words.append(f"{record['start_loss'] - min(losses):.3g} more than with independent columns")
    return (f"<p><b>nade.Model</b>: {len(model.columns)} columns; {html.escape(', '.join(words))}</p>"
            f"<table><thead><tr><th>column</th><th>what it is</th></tr></thead><tbody>{rows}</tbody></table>{more}")
