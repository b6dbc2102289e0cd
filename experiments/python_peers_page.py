"""The tables of docs/python-peers.md from what experiments/python-peers found."""
import statistics

from kept_results import markdown
from peer_runs import best_peer, figures_of, mean_text, paired_text

TITLES = {"nade": "nade", "mixture": "GaussianMixture", "kernels": "KernelDensity", "mean": "mean, mode", "ridge": "IterativeImputer", "knn": "KNNImputer",
          "miceforest": "miceforest", "isolation": "IsolationForest", "local": "LocalOutlierFactor", "linear": "LogisticRegression, Ridge",
          "boosting": "HistGradientBoosting"}
PEERS = {"density": ["mixture", "kernels"], "imputation": ["mean", "ridge", "knn", "miceforest"], "outliers": ["isolation", "local"],
         "prediction": ["linear", "boosting"]}
# Of each figure: its task, its name in a sentence, whether more (1) or less (-1) is better, its digits, the words above its table.
FIGURES = {
    "nats": ("density", "log density", 1, 2, "Density: mean log probability of a test row in nats; more is better."),
    "nrmse": ("imputation", "error of filled numbers", -1, 3, "Imputation, 30 % of the cells hidden at random: RMSE of numbers in deviations of their column; less is better."),
    "accuracy": ("imputation", "share of right labels", 1, 3, "Imputation: share of the hidden labels that are right; more is better."),
    "auc": ("outliers", "area for outliers", 1, 3, "Outliers, rows with one cell of another row: area under the curve; more is better."),
    "log_loss": ("prediction", "log-loss of labels", -1, 3, "Prediction of labels: log-loss in nats; less is better."),
    "rmse": ("prediction", "error of predicted numbers", -1, 3, "Prediction of numbers: RMSE; less is better.")}


def runs_of(results, figure):
    """{table: its runs of this figure's task in which nade has it}."""
    task = FIGURES[figure][0]
    found = {name: {key: run for key, run in table["runs"].items() if key.startswith(f"{task}-")} for name, table in results.items()}
    return {name: runs for name, runs in found.items() if figures_of(runs, "nade", figure)}


def cell(runs, method, figure, digits):
    if any("stopped" in run.get(method, {}) for run in runs.values()):
        return "too slow"
    return mean_text(runs, method, figure, digits)


def compare_table(results, figure):
    task, _, sign, digits, title = FIGURES[figure]
    rows = []
    for name, runs in runs_of(results, figure).items():
        best = best_peer(runs, PEERS[task], figure, sign)
        rows.append([name, *[cell(runs, method, figure, digits) for method in ("nade", *PEERS[task])],
                     f"{paired_text(runs, 'nade', best, figure, digits)} ({TITLES[best]})" if best else "–"])
    head = ["table", *[TITLES[method] for method in ("nade", *PEERS[task])], "nade − the best peer"]
    return [title + "\n", markdown(head, rows)] if rows else []


def mean_figure(runs, method, figure):
    found = figures_of(runs, method, figure).values()
    return statistics.fmean(found) if found else None


def outcome(runs, figure, peer):
    """1 where nade's mean is better than the peer's, -1 where it is worse, 0 where they are equal; None where the peer has none."""
    ours, theirs = mean_figure(runs, "nade", figure), mean_figure(runs, peer, figure)
    return None if theirs is None else FIGURES[figure][2] * ((ours > theirs) - (ours < theirs))


def tally(outcomes):
    told = [sign for sign in outcomes if sign is not None]
    equal = f", equal in {told.count(0)}" if 0 in told else ""
    return f"ahead in {told.count(1)} and behind in {told.count(-1)} of {len(told)}{equal}"


def count_table(results):
    """Wins and losses against every peer by itself, and against the best of them."""
    rows, every = [], []
    for figure, (task, words, sign, *_) in FIGURES.items():
        asked = runs_of(results, figure)
        if not asked:
            continue
        best = [outcome(runs, figure, peer) for runs in asked.values() if (peer := best_peer(runs, PEERS[task], figure, sign))]
        every += best
        single = [f"{TITLES[peer]}: {tally([outcome(runs, figure, peer) for runs in asked.values()])}" for peer in PEERS[task]]
        rows.append([words, tally(best), "; ".join(single)])
    return [f"Against the best peer of each table and figure, which is known only afterwards, nade is {tally(every)}.\n",
            markdown(["figure", "nade against the best peer", "against each"], rows)] if rows else []


def all_figures(results, task, method, figure):
    return [found for table in results.values() for found in
            figures_of({key: run for key, run in table["runs"].items() if key.startswith(f"{task}-")}, method, figure).values()]


def time_text(results, task):
    seconds = {method: statistics.median(found) for method in ("nade", *PEERS[task]) if (found := all_figures(results, task, method, "seconds"))}
    slowest = max((method for method in seconds if method != "nade"), key=seconds.get, default=None)
    return f"{task} {seconds['nade'] / seconds[slowest]:.2g} ({TITLES[slowest]})" if slowest and "nade" in seconds else ""


def cost_table(results):
    rows = []
    for task, peers in PEERS.items():
        for method in ("nade", *peers):
            seconds, clock, memory = (all_figures(results, task, method, figure) for figure in ("seconds", "clock", "megabytes"))
            if seconds:
                rows.append([task, TITLES[method], str(len(seconds)), f"{statistics.median(seconds):.2f}", f"{max(seconds):.1f}",
                             f"{statistics.median(clock):.2f}", f"{statistics.median(memory):.0f}", f"{max(memory):.0f}"])
    told = ", ".join(filter(None, (time_text(results, task) for task in PEERS)))
    head = ["task", "method", "tables", "processor s, median", "most", "clock s, median", "memory MB, median", "most"]
    return [f"Time and memory to fit and answer, over tables. nade's median processor time over that of the slowest peer: {told}.\n", markdown(head, rows)] if rows else []


def sizes_table(results):
    rows = [[name, f"{table['rows']:,}", f"{table['test']:,}", str(table["columns"])] for name, table in results.items()]
    return [markdown(["table", "training rows", "test rows", "columns"], rows)]


def left_out_text(results):
    """Columns that nade has no density of, where the peers have one."""
    told = [f"{name} ({run['nade']['left_out']})" for name, runs in runs_of(results, "nats").items() for run in runs.values() if run["nade"].get("left_out")]
    return [f"nade left columns out of its density, which the peers did not: {', '.join(told)}.\n"] if told else []


def page(results):
    """The parts of the page."""
    parts = [*count_table(results), *sizes_table(results)]
    for figure in FIGURES:
        parts += compare_table(results, figure)
    return parts + left_out_text(results) + cost_table(results)
