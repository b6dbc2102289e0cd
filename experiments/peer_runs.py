"""What experiments/predict, imputation and outliers have in common: options, and figures that are kept one by one, so that a run that was
stopped goes on where it was."""
import argparse
import os
import pathlib
import resource
import shlex
import statistics
import sys
import time

from kept_results import check_page, fill_page, read_results, write_results
from nade_program import name_machine, name_sources, run
from peer_tables import ORDER
from python_packages import use_packages

ROOT = pathlib.Path(__file__).resolve().parent.parent
QUICK = "--effort quick --iterations 3"


# ---- options --------------------------------------------------------------------------------------------------------------------


def make_parser(command, description, methods):
    parser = argparse.ArgumentParser(prog=f"experiments/{command}", description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    words = {"type": lambda text: text.split(","), "metavar": "NAME,..."}
    parser.add_argument("folder", nargs="?", type=pathlib.Path, metavar="DATA")
    parser.add_argument("--data", type=pathlib.Path, metavar="DATA", help="the same folder, by name")
    parser.add_argument("--nade", type=pathlib.Path, default=ROOT / "build" / "nade", metavar="PROGRAM", help="default build/nade")
    parser.add_argument("--tables", **words, help="default: all")
    parser.add_argument("--methods", **words, help=f"default: {','.join(methods)}")
    parser.add_argument("--time-limit", type=float, default=0, metavar="S", help="of nade train; it is recorded (default: none)")
    parser.add_argument("--device", default="cpu", help="of nade (default cpu)")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="of every method (default: one a processor)")
    parser.add_argument("--quick", action="store_true", help="whether all of it runs: one short training, kept in quick.json of --work")
    parser.add_argument("--again", action="store_true", help="do what is kept already once more")
    parser.add_argument("--packages-at-hand", action="store_true", help="take packages as this Python finds them")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build" / command, metavar="FOLDER")
    parser.add_argument("--results", type=pathlib.Path, metavar="FILE", help="where figures are kept; other ones than the page's stay off it")
    parser.add_argument("--page", action="store_true", help="write the page from the results")
    parser.add_argument("--check", action="store_true", help="compare the page with the results")
    return parser


class Experiment:
    """One of the three commands: its options, page and results."""

    def __init__(self, command, page, write_text, methods):
        self.command, self.write_text, self.methods = f"experiments/{command}", write_text, methods
        self.page, self.kept = ROOT / "docs" / page, ROOT / "experiments" / "results" / f"{command}.json"

    def start(self, parser):
        """The options of a run that is to be done; else does what --check and --page ask for, and ends."""
        options = parser.parse_args()
        if options.check:
            sys.exit(check_page(self.page, self.kept, self.command, self.text()))
        if options.page:
            self.write_page()
            sys.exit(0)
        options.data = options.data or options.folder
        if not options.data:
            parser.error("DATA is missing, expected the folder of docs/data.md")
        for name in options.methods or []:
            if name not in self.methods:
                parser.error(f"there is no method {name}, expected some of {','.join(self.methods)}")
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
            os.environ[name] = str(options.threads)
        if not options.packages_at_hand:
            use_packages()
        options.nade, options.work = options.nade.resolve(), options.work.resolve()
        options.methods = options.methods or self.methods
        options.results = options.results or (options.work / "quick.json" if options.quick else self.kept)
        options.train = " ".join(filter(None, [f"--time-limit {options.time_limit:g}" if options.time_limit else "", QUICK if options.quick else ""]))
        options.made = {"sources": name_sources(options.nade)[:12], "options": options.train}
        options.where = f"{name_machine(options.device)}, threads: {options.threads}"
        return options

    def text(self):
        return page_text(read_results(self.kept), self.write_text)

    def write_page(self):
        self.page.write_text(fill_page(self.page, self.command, self.text()))


# ---- runs -----------------------------------------------------------------------------------------------------------------------


def processor_seconds():
    """Of this process and of the commands that it waited for: what others do on the machine does not count."""
    return time.process_time() + sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])


def timed(work, *arguments):
    begin = processor_seconds()
    found = work(*arguments)
    return found, processor_seconds() - begin


def train(options, table, model, seed, told=()):
    run([options.nade, "train", table, "-o", model, "--seed", seed, "--device", options.device, "--threads", options.threads, "-q",
         *shlex.split(options.train), *told])


def attempt(work, *arguments):
    """What the work found, or why it found nothing."""
    try:
        return work(*arguments)
    except (RuntimeError, OSError, ValueError, KeyError, TypeError) as error:
        return {"failed": f"{type(error).__name__}: {' '.join(str(error).split())}"}


def is_kept(options, table, key, method):
    found = read_results(options.results).get(table, {}).get("runs", {}).get(key, {}).get(method)
    return found is not None and "failed" not in found and not options.again


def in_order(results):
    return {name: results[name] for name in [*[name for name in ORDER if name in results], *[name for name in results if name not in ORDER]]}


def keep(options, table, about, key, method, found):
    """Puts what a method found in one run of a table among the results, beside what is known of the table, and tells of it."""
    if method == "nade":
        found = {**found, "made": options.made}
    results = read_results(options.results)
    runs = results.setdefault(table, {}).get("runs", {})
    runs.setdefault(key, {})[method] = {**found, "where": options.where}
    results[table] = {**about, "runs": dict(sorted(runs.items()))}
    write_results(options.results, in_order(results))
    figures = [f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}" for name, value in found.items() if name != "made"]
    print(f"{table}, {key}, {method}: {', '.join(figures)}", file=sys.stderr, flush=True)


def finish(experiment, options):
    """Writes the page where the figures are its own; the exit status."""
    if options.results == experiment.kept:
        experiment.write_page()
    results = read_results(options.results)
    print(page_text(results, experiment.write_text))
    return int(any("failed" in found for table in results.values() for run in table["runs"].values() for found in run.values()))


# ---- pages ----------------------------------------------------------------------------------------------------------------------


def done_by_nade(results):
    """The results without runs that nade has not done, so that all figures of a line are of the same rows."""
    kept = {name: {**table, "runs": {key: run for key, run in table["runs"].items() if "made" in run.get("nade", {}) and "failed" not in run["nade"]}}
            for name, table in results.items()}
    return {name: table for name, table in kept.items() if table["runs"]}


def open_text(results):
    """The tables of which only the peers' figures are kept."""
    waiting = [name for name in results if name not in done_by_nade(results)]
    return f"Not done yet by nade: {', '.join(waiting)}.\n" if waiting else ""


def figures_of(runs, method, figure):
    """{run: figure} of those runs in which the method has it."""
    return {key: found[method][figure] for key, found in runs.items() if figure in found.get(method, {})}


def mean_text(runs, method, figure, digits=3, scale=1):
    found = list(figures_of(runs, method, figure).values())
    return f"{scale * statistics.fmean(found):.{digits}f}".replace("-", "−") if found else "–"


def paired_text(runs, method, other, figure, digits=3):
    """Mean and standard error, over the runs that both have, of how much more the method's figure is than the other's."""
    a, b = figures_of(runs, method, figure), figures_of(runs, other, figure)
    gains = [a[key] - b[key] for key in a if key in b]
    if not gains:
        return "–"
    error = f" ± {statistics.stdev(gains) / len(gains) ** 0.5:.{digits}f}" if len(gains) > 1 else ""
    return f"{statistics.fmean(gains):+.{digits}f}{error}".replace("-", "−")


def best_peer(runs, peers, figure, sign):
    """The peer whose mean figure is best, the largest for sign 1."""
    means = {peer: statistics.fmean(found) for peer in peers if (found := list(figures_of(runs, peer, figure).values()))}
    return max(means, key=lambda peer: sign * means[peer]) if means else None


def making_text(results):
    """With what and on what nade's figures were made, of results of done_by_nade."""
    made = {}
    for name, table in results.items():
        for found in (every["nade"] for every in table["runs"].values()):
            made.setdefault((found["made"]["sources"] or "not recorded", found["made"]["options"] or "none", found["where"]), {})[name] = True
    return "".join(f"Made with sources {sources}, options of `nade train`: {options}, on {where}: {', '.join(names)}.\n"
                   for (sources, options, where), names in made.items())


def page_text(results, write_parts):
    """What is to be said of all results, around the tables of the runs that nade has done."""
    done = done_by_nade(in_order(results))
    parts = [failures_text(results), *(write_parts(done) if done else []), open_text(results), making_text(done)]
    return "\n".join(filter(None, parts)) or "Nothing is kept yet.\n"


def failures_text(results):
    told = [f"- {name}, {key}, {method}: {found['failed']}" for name, table in results.items() for key, run in table["runs"].items()
            for method, found in run.items() if "failed" in found]
    return "Failed:\n\n" + "\n".join(told) + "\n" if told else ""
