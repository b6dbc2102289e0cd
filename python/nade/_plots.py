"""Pictures with matplotlib, and a model as HTML for notebooks."""
from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

from ._errors import BadCall

if TYPE_CHECKING:
    from ._density import Density
    from ._model import Model


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots()[1]


def plot_density(density: Density, ax: Any = None, **style: Any) -> Any:
    """The density of one row as a curve, or its labels as bars; returns the axes."""
    if len(density) != 1:
        raise BadCall(f"found distributions of {len(density)} rows, expected one row to draw")
    ax = _axes(ax)
    if density.column.numeric:
        low, high = np.ravel(density.quantile([0.001, 0.999], exact=True))
        points = low + (high - low) * np.linspace(0, 1, 400)
        ax.plot(points, np.ravel(density.pdf(points)), **style)
        ax.set_ylabel("density")
    else:
        shares = density.probabilities
        shares = shares if isinstance(shares, dict) else dict(zip(density.column.choices, shares[0]))
        ax.bar(list(shares), list(shares.values()), **style)
        ax.set_ylabel("probability")
    ax.set_xlabel(density.column.name)
    return ax


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
              points: int = 60, draws: int = 2000, seed: int = 0) -> Any:
    """The joint density of two columns of numbers, given values of others, as shades."""
    ax = _axes(ax)
    known = {name: what for name, what in (given or {}).items() if name not in (x, y)}
    drawn = model.where(known).sample(draws, seed=seed, kind="dict")
    ends = [np.quantile(np.asarray(drawn[name], dtype=float), [0.005, 0.995]) for name in (x, y)]
    xs, ys = (np.linspace(low, high, points) for low, high in ends)
    first = model.where(known).density(x).pdf(xs)
    rows = {**{name: np.repeat(what, points) for name, what in known.items()}, x: xs}
    second = model.density(y, rows).pdf(ys)
    ax.pcolormesh(xs, ys, (np.ravel(first)[:, np.newaxis] * second).T, shading="auto", cmap="viridis")
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
        _histograms(ax, model.columns[place], values[:, place], drawn[:, place])
    for ax in axes.ravel()[len(places):]:
        ax.set_visible(False)
    axes[0, 0].legend()
    figure.tight_layout()
    return figure


def _histograms(ax: Any, column: Any, real: np.ndarray, drawn: np.ndarray) -> None:
    real = real[np.isfinite(real)]
    if column.numeric:
        edges = np.histogram_bin_edges(real, bins=30)
    else:
        edges = np.arange(len(column.choices) + 1) - 0.5
    for values, label in ((real, "data"), (drawn, "drawn")):
        ax.hist(values, bins=edges, alpha=0.5, density=True, label=label)
    if not column.numeric and len(column.choices) <= 12:
        ax.set_xticks(range(len(column.choices)), column.choices, rotation=45, ha="right")
    ax.set_title(column.name, fontsize=9)


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
