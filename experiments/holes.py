"""Holes in complete tables, made by a mechanism that is known."""
import numpy as np

MECHANISMS = ("mcar", "mar")
SLOPE = 2.0  # deviations of the logit that follow from the columns which stay complete


def standard_ranks(column):
    ranks = column.rank(method="average").to_numpy(float)
    spread = ranks.std()
    return (ranks - ranks.mean()) / (spread if spread > 0 else 1.0)


def shift_for(slopes, share):
    """What added to the logits makes their mean probability this share, by bisection."""
    low, high = -50.0, 50.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if np.mean(1 / (1 + np.exp(-slopes - middle))) > share else (middle, high)
    return middle


def mcar_holes(frame, share, rng):
    """Every cell by itself; a row that would lose all its cells keeps one of them."""
    hidden = rng.random(frame.shape) < share
    empty = np.flatnonzero(hidden.all(axis=1))
    hidden[empty, rng.integers(frame.shape[1], size=len(empty))] = False
    return hidden


def mar_holes(frame, share, rng):
    """A third of the columns, drawn, stay complete.  A cell of another column is hidden with a probability whose logit is linear in the ranks of the
    complete ones, with weights drawn for each column and scaled to SLOPE deviations, so that the column has this share of holes on average."""
    count = frame.shape[1]
    complete = rng.choice(count, max(1, round(count / 3)), replace=False)
    ranks = np.column_stack([standard_ranks(frame.iloc[:, column]) for column in complete])
    hidden = np.zeros(frame.shape, bool)
    for column in np.setdiff1d(np.arange(count), complete):
        slopes = ranks @ rng.normal(size=len(complete))
        slopes *= SLOPE / (slopes.std() or 1.0)
        hidden[:, column] = rng.random(len(frame)) < 1 / (1 + np.exp(-slopes - shift_for(slopes, share)))
    return hidden


def make_holes(frame, mechanism, share, seed):
    """A boolean array: which cells are hidden."""
    rng = np.random.default_rng([seed, MECHANISMS.index(mechanism), round(100 * share)])
    return {"mcar": mcar_holes, "mar": mar_holes}[mechanism](frame, share, rng)
