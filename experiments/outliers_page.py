"""The tables of docs/outlier-peers.md from what experiments/outliers found."""
from kept_results import markdown
from peer_runs import best_peer, figures_of, mean_text, paired_text

PEERS = ["columns", "forest", "lof"]
TITLES = {"columns": "independent columns", "forest": "IsolationForest", "lof": "LocalOutlierFactor"}
KINDS = {"class": "Rows of other classes", "swap": "Rows with one cell of another row"}
TRAININGS = {"clean": "trained on ordinary rows", "mixed": "trained on rows of which a tenth are outliers"}


def choose(results, kind, training):
    """{table: its runs of this kind}."""
    found = {name: {key: run for key, run in table["runs"].items() if key.startswith(f"{kind}-{training}-")} for name, table in results.items()}
    return {name: runs for name, runs in found.items() if runs}


def compare_table(chosen, title, figure):
    rows = []
    for name, runs in chosen.items():
        best = best_peer(runs, PEERS, figure, 1)
        ahead = paired_text(runs, "nade", best, figure)
        rows.append([name, str(len(runs)), mean_text(runs, "nade", figure), mean_text(runs, "nade", f"{figure}_tail"),
                     *[mean_text(runs, method, figure) for method in PEERS], ahead if ahead == "–" else f"{ahead} ({TITLES[best]})"])
    head = ["table", "seeds", "nade, log density", "nade, smallest tail", *TITLES.values(), "log density − the best peer"]
    return [title + "\n", markdown(head, rows)] if rows else []


def blame_table(results):
    rows = []
    for name, table in results.items():
        parts = [choose({name: table}, "swap", training).get(name, {}) for training in TRAININGS]
        if any(figures_of(runs, "nade", "blamed") for runs in parts):
            rows.append([name, f"{100 / table['columns']:.0f}", mean_text(parts[0], "columns", "blamed", 0, 100),
                         *[mean_text(runs, "nade", "blamed", 0, 100) for runs in parts]])
    head = ["table", "by chance", "independent columns", "nade, trained on ordinary rows", "nade, a tenth outliers"]
    return ["Rows with one cell of another row: how often the cell with the smallest tail probability is that cell, %.\n", markdown(head, rows)] if rows else []


def time_table(chosen):
    rows = [[name, *[mean_text(runs, method, "seconds", 1) for method in ("nade", "forest", "lof")]] for name, runs in chosen.items()]
    title = "Seconds of processor time to fit and score, swapped cells, clean training.\n"
    return [title, markdown(["table", "nade", "IsolationForest", "LocalOutlierFactor"], rows)] if rows else []


def count_wins(results, kind, training, figure):
    asked = [runs for runs in choose(results, kind, training).values() if figures_of(runs, "nade", figure)]
    return f"{sum(best_peer(runs, ['nade', *PEERS], figure, 1) == 'nade' for runs in asked)} of {len(asked)}"


def summary(results):
    return "nade's log density has the largest area under the curve of all on " + "; ".join(
        f"{count_wins(results, kind, training, 'auc')} tables ({KINDS[kind].lower()}, {words})" for kind in KINDS for training, words in TRAININGS.items()) + ".\n"


def page(results):
    """The parts of the page."""
    parts = [summary(results)]
    for kind, kind_words in KINDS.items():
        for training, words in TRAININGS.items():
            for figure, title in (("auc", "area under the curve"), ("precision", "average precision")):
                parts += compare_table(choose(results, kind, training), f"{kind_words}, {words}: {title}.", figure)
    parts += blame_table(results)
    parts += compare_table(choose(results, "null", "clean"), "Ordinary rows in the place of outliers: all must be near 0.5.", "auc")
    return parts + time_table(choose(results, "swap", "clean"))
