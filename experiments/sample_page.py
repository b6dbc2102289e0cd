"""What experiments/samples found, as Markdown for docs/samples.md."""
import statistics

from kept_results import markdown

# Figures of the classifier that the samples are to reach.
GOALS = {"census": 0.88, "magic": 0.90, "shoppers": 0.90, "default": 0.65}


def field(tree, *path):
    for name in path:
        tree = tree.get(name) if isinstance(tree, dict) else None
    return tree


def mean_text(runs, path, scale=1, digits=2):
    """The mean over seeds, with the deviation where there are several; a dash where there is none."""
    found = [scale * value for value in (field(run, *path) for run in runs) if value is not None]
    if not found:
        return "–"
    spread = f" ± {statistics.stdev(found):.{digits}f}" if len(found) > 1 and path[0] == "samples" else ""
    return f"{statistics.mean(found):.{digits}f}{spread}".replace("-", "−")


def three(runs, *path, scale=1, digits=2):
    return [mean_text(runs, (rows, *path), scale, digits) for rows in ("samples", "independent", "real")]


def given_away_by(runs):
    """The three columns with the largest mean share of the classifier's gain."""
    total = {}
    for run in runs:
        for name, share in run["samples"]["classifier"]["given_away_by"]:
            total[name] = total.get(name, 0) + share / len(runs)
    return ", ".join(f"{name} {total[name]:.2f}" for name in sorted(total, key=total.get, reverse=True)[:3])


def worst_shape(runs):
    columns = {name: statistics.mean(run["samples"]["shapes"]["columns"][name] for run in runs)
               for name in runs[0]["samples"]["shapes"]["columns"]}
    worst = min(columns, key=columns.get)
    return f"{worst} {columns[worst]:.3f}"


def worst_outside(runs):
    columns = {}
    for run in runs:
        for name, share in run["samples"]["outside"]["columns"].items():
            columns[name] = columns.get(name, 0) + 100 * share / len(runs)
    worst = max(columns, key=columns.get, default=None)
    return "none" if worst is None else f"{worst} {columns[worst]:.2f} %"


def classifier_row(name, runs):
    goal = GOALS.get(name)
    return [*three(runs, "classifier", "figure"), f"{goal:.2f}" if goal else "", given_away_by(runs)]


def shape_row(_, runs):
    return [*three(runs, "shapes", "mean", digits=3), worst_shape(runs), *three(runs, "trends", "mean", digits=3)]


def task_row(_, runs):
    samples, independent, real = three(runs, "trained_on", "score", digits=3)
    return [runs[0]["target"], runs[0]["real"]["trained_on"]["measure"], samples, independent, real]


def near_row(_, runs):
    nearer = [cell for q in ("0.02", "0.05") for cell in three(runs, "nearest", "nearer", q, scale=100, digits=1)[:2]]
    copies = three(runs, "nearest", "copies", scale=100, digits=1)
    return [*nearer, copies[0], copies[2]]


def outside_row(_, runs):
    cells = three(runs, "outside", "cells", scale=100, digits=3)
    return [cells[0], cells[2], worst_outside(runs), mean_text(runs, ("samples", "outside", "negative"), 100, 3)]


def time_row(_, runs):
    rows, held = runs[0]["rows"]
    return [f"{rows:,}", f"{held:,}", ", ".join(sorted(str(run["seed"]) for run in runs)),
            *[f"{statistics.mean(run['made']['seconds'][what] for run in runs):.1f}" for what in ("train", "sample")],
            runs[0]["made"]["where"], runs[0]["made"]["sources"][:12] or "not recorded", runs[0]["made"]["options"] or "none"]


TABLES = [
    ("The classifier: 1 = it can't tell samples from training rows, 0 = it always can.",
     ["samples", "independent columns", "real halves", "goal", "what gives the samples away: shares of the gain"], classifier_row),
    ("Shapes of columns and trends of pairs, means; 1 = the same.",
     ["shapes: samples", "independent columns", "real halves", "the least of the samples", "trends: samples",
      "independent columns", "real halves"], shape_row),
    ("A model trained on these rows and tested on the test rows.",
     ["target", "measure", "trained on samples", "independent columns", "the training rows"], task_row),
    ("Nearest training rows: % of rows nearer than the 2 % and the 5 % quantile of the test rows' distances (more would be "
     "copying), and % that are equal to a training row.",
     ["2 %: samples", "independent columns", "5 %: samples", "independent columns", "copies: samples", "test rows"], near_row),
    ("Numeric cells outside the training rows' range, %.",
     ["samples", "test rows", "the most of the samples", "samples negative where training has none"], outside_row),
    ("Rows, and seconds to train and to draw as many rows as there are to train on.",
     ["training rows", "test rows", "seeds", "train, s", "draw, s", "on", "sources", "options"], time_row),
]


def page(results):
    """{table: {seed: run}} as text; a run that failed is told of and left out."""
    done = {name: [run for run in seeds.values() if "failed" not in run] for name, seeds in results.items()}
    failed = [f"- {name}, seed {seed}: {run['failed']}" for name, seeds in results.items() for seed, run in seeds.items()
              if "failed" in run]
    done = {name: runs for name, runs in done.items() if runs}
    parts = [f"Of {name} the model left out {', '.join(runs[0]['left_out'])}: the other columns are compared.\n"
             for name, runs in done.items() if runs[0]["left_out"]]
    parts += ["Failed:\n\n" + "\n".join(failed) + "\n"] if failed else []
    if not done and not failed:
        return "Nothing is kept yet.\n"
    for title, head, row in TABLES if done else []:
        parts += [title + "\n", markdown(["table", *head], [[name, *row(name, runs)] for name, runs in done.items()])]
    return "\n".join(parts)
