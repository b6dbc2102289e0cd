"""The tables of docs/imputation-peers.md from what experiments/imputation found."""
from kept_results import markdown
from peer_runs import best_peer, figures_of, mean_text, paired_text

PEERS = ["mean", "ridge", "trees", "knn", "miceforest"]
TITLES = {"mean": "mean, mode", "ridge": "IterativeImputer, BayesianRidge", "trees": "IterativeImputer, ExtraTrees", "knn": "KNNImputer", "miceforest": "miceforest"}
MECHANISMS = {"mcar": "at random (MCAR)", "mar": "by other columns (MAR)"}


def settings(results):
    """[(table, mechanism, share, its runs)] in the order of the page."""
    found = []
    for mechanism in MECHANISMS:
        for name, table in results.items():
            shares = sorted({int(key[len(mechanism):].split("-")[0]) for key in table["runs"] if key.startswith(mechanism)})
            found += [(name, mechanism, share, {key: run for key, run in table["runs"].items() if key.startswith(f"{mechanism}{share}-")})
                      for share in shares]
    return found


def compare_tables(every, title, figure, sign, scale, digits):
    parts = []
    for mechanism, words in MECHANISMS.items():
        rows = []
        for name, _, share, runs in (what for what in every if what[1] == mechanism):
            if any(figures_of(runs, method, figure) for method in ["nade", *PEERS]):
                best = best_peer(runs, PEERS, figure, sign)
                ahead = paired_text(runs, "nade", best, figure, 3)
                rows.append([name, f"{share} %", *[mean_text(runs, method, figure, digits, scale) for method in ["nade", *PEERS]],
                             ahead if ahead == "–" else f"{ahead} ({best})"])
        if rows:
            parts += [f"{title} Cells hidden {words}.\n", markdown(["table", "holes", "nade", *TITLES.values(), "nade − the best peer"], rows)]
    return parts


def coverage_table(every):
    rows = [[name, mechanism.upper(), f"{share} %", mean_text(runs, "nade", "coverage", 1, 100),
             *[mean_text(runs, method, "among_draws", 1, 100) for method in ("nade", "ridge", "miceforest")]]
            for name, mechanism, share, runs in every if figures_of(runs, "nade", "among_draws")]
    head = ["table", "holes", "share", "nade's 90 % intervals cover, %", "among draws, %: nade", "BayesianRidge with sample_posterior", "miceforest"]
    return ["Intervals are to cover 90 %; nine draws of a cell are to have the hidden number among them in 80 %.\n", markdown(head, rows)] if rows else []


def time_table(every):
    rows = [[name, mechanism.upper(), f"{share} %", *[mean_text(runs, method, "seconds", 1) for method in ["nade", *PEERS[1:]]]]
            for name, mechanism, share, runs in every]
    head = ["table", "holes", "share", "nade", *[TITLES[peer] for peer in PEERS[1:]]]
    return ["Seconds of processor time to fit and fill; miceforest's make nine tables.\n", markdown(head, rows)]


def count_wins(every, figure, sign):
    """In how many settings nade is first; those that a slow peer has not done are told apart."""
    asked = [runs for _, _, _, runs in every if figures_of(runs, "nade", figure)]
    whole = [runs for runs in asked if all(figures_of(runs, peer, figure) for peer in PEERS)]
    first, first_of_whole = (sum(best_peer(runs, ["nade", *PEERS], figure, sign) == "nade" for runs in some) for some in (asked, whole))
    return f"{first} of {len(asked)} settings, {first_of_whole} of the {len(whole)} that all methods have done"


def about_table(results):
    rows = [[name, f"{found['rows']:,}", str(found["columns"] - found["labels"]), str(found["labels"]),
             ", ".join(sorted({key.split("-")[1] for key in found["runs"]}))] for name, found in results.items()]
    return markdown(["table", "rows", "columns of numbers", "of labels", "seeds"], rows)


def page(results):
    """The parts of the page."""
    every = settings(results)
    parts = [about_table(results), f"nade's error of numbers is the least of all on {count_wins(every, 'nrmse', -1)}, its share of right labels the highest on "
             f"{count_wins(every, 'accuracy', 1)}. A dash: not done.\n"]
    parts += compare_tables(every, "Numbers: RMSE in the column's deviations, mean over columns; less is better.", "nrmse", -1, 1, 3)
    parts += compare_tables(every, "Labels: share that is right, mean over columns; more is better.", "accuracy", 1, 1, 3)
    return parts + coverage_table(every) + time_table(every)
