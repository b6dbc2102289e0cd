"""The tables of docs/predict.md from what experiments/predict found."""
from kept_results import markdown
from peer_runs import best_peer, mean_text, paired_text
from peer_tables import is_class

PEERS = ["linear", "forest", "boosting"]
TITLES = {"linear": "logistic regression, or ridge", "forest": "random forest", "boosting": "gradient boosting"}


def choose(results, word):
    """{table: (what is known of it, its runs of this kind)}."""
    chosen = {name: (found, {key: run for key, run in found["runs"].items() if key.startswith(word)}) for name, found in results.items()}
    return {name: what for name, what in chosen.items() if what[1]}


def compare_row(runs, figure, sign, digits=3):
    """nade, its peers, what is known without the row, and nade less the best peer."""
    best = best_peer(runs, PEERS, figure, sign)
    return [*[mean_text(runs, method, figure, digits) for method in ["nade", *PEERS, "shares"]],
            f"{paired_text(runs, 'nade', best, figure, digits)} ({TITLES[best].split(',')[0]})" if best else "–"]


def compare_table(chosen, title, figure, sign, digits=3):
    if not chosen:
        return []
    head = ["table", "nade", *TITLES.values(), "shares, or mean", "nade − the best peer"]
    return [title + "\n", markdown(head, [[name, *compare_row(runs, figure, sign, digits)] for name, (_, runs) in chosen.items()])]


def about_table(chosen):
    rows = [[name, found["target"], "labels" if is_class(name) else "numbers", f"{found['rows']:,}", str(found["columns"]), str(len(runs))]
            for name, (found, runs) in chosen.items()]
    return [markdown(["table", "target", "of", "rows", "columns", "folds"], rows)]


def interval_table(chosen):
    if not chosen:
        return []
    methods = ["nade", "linear", "boosting", "shares"]
    head = ["table", *[f"{name}: {what}" for name in ("nade", "ridge", "boosting of quantiles", "quantiles of the column") for what in ("% covered", "width")]]
    rows = [[name, *[text for method in methods for text in (mean_text(runs, method, "coverage", 1, 100), mean_text(runs, method, "width", 2))]]
            for name, (_, runs) in chosen.items()]
    return ["Intervals that are to cover 90 %: the share of the test rows that they do cover, and their mean width.\n", markdown(head, rows)]


def time_table(chosen):
    rows = [[name, *[mean_text(runs, method, "seconds", 1) for method in ["nade", *PEERS]]] for name, (_, runs) in chosen.items()]
    return ["Seconds of processor time to fit and predict, a fold.\n", markdown(["table", "nade", *TITLES.values()], rows)]


def count_wins(chosen, figure, sign):
    first = [name for name, (_, runs) in chosen.items() if best_peer(runs, ["nade", *PEERS], figure, sign) == "nade"]
    return f"{len(first)} of {len(chosen)} tables" + (f" ({', '.join(first)})" if first else "")


def summary(classes, numbers):
    told = []
    if classes:
        told.append(f"nade's mean log-loss is the least of the four on {count_wins(classes, 'log_loss', -1)}, its accuracy the highest on "
                    f"{count_wins(classes, 'accuracy', 1)}.")
    if numbers:
        told.append(f"Of numbers its RMSE is the least on {count_wins(numbers, 'rmse', -1)}.")
    return [" ".join(told) + "\n"]


def page(results):
    """The parts of the page."""
    folds, permuted = choose(results, "fold"), choose(results, "permuted")
    classes, numbers = ({name: what for name, what in folds.items() if is_class(name) == kind} for kind in (True, False))
    parts = about_table(folds) + summary(classes, numbers) if folds else []
    parts += compare_table(classes, "Log-loss in nats, the mean over folds: less is better.", "log_loss", -1)
    parts += compare_table(classes, "Accuracy: more is better.", "accuracy", 1)
    binary = {name: what for name, what in classes.items() if any("auc" in found for run in what[1].values() for found in run.values())}
    parts += compare_table(binary, "Area under the curve, targets of two labels: more is better.", "auc", 1)
    parts += compare_table(numbers, "RMSE in the target's units: less is better.", "rmse", -1)
    parts += compare_table(numbers, "R²: more is better.", "r2", 1)
    parts += interval_table(numbers) + time_table(folds)
    parts += compare_table({name: what for name, what in permuted.items() if is_class(name)},
                           "With the target's cells permuted, log-loss: no method may be better than shares by more than chance.", "log_loss", -1)
    parts += compare_table({name: what for name, what in permuted.items() if not is_class(name)}, "The same for numbers, R²: it may not be above 0.", "r2", 1)
    return parts
