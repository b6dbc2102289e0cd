"""What experiments/python-peers asks of nade and of each peer, every method alone in a process of its own.

    python_methods.py WORK.json     does what the file says and prints what was found as one line of JSON

Figures are judged as experiments/imputation, outliers and predict judge theirs, whose scripts are read as modules.
"""
import importlib.machinery
import importlib.util
import json
import math
import pathlib
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
MIXTURE_JITTERS, KERNEL_JITTERS = 32, 8
BANDWIDTHS = (0.03, 0.05, 0.08, 0.12, 0.2, 0.3, 0.5, 0.8, 1.2)
HOLES, FORESTS = 30, 3


def load_script(name):
    """An experiment's script as a module."""
    loader = importlib.machinery.SourceFileLoader(f"script_{name}", str(ROOT / "experiments" / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


# ---- time and memory ------------------------------------------------------------------------------------------------------------


def memory_of(line):
    """Bytes that this process holds (VmRSS), or held at most (VmHWM).  getrusage would count what its parent held before exec."""
    text = pathlib.Path("/proc/self/status").read_text()
    return 1024 * int(next(row.split()[1] for row in text.splitlines() if row.startswith(line)))


def measured(work):
    """What the work gives, the seconds by processor and clock, and how much more memory than at first it held at most."""
    pathlib.Path("/proc/self/clear_refs").write_text("5")  # the most that was held begins anew
    held, begin, clock = memory_of("VmRSS"), time.process_time(), time.monotonic()
    answer = work()
    return answer, {"seconds": time.process_time() - begin, "clock": time.monotonic() - clock, "megabytes": (memory_of("VmHWM") - held) / 1e6}


# ---- density --------------------------------------------------------------------------------------------------------------------


class Cells:
    """Training and test rows as numbers, labels by their place among those of the training rows, and the steps of the columns."""

    def __init__(self, name, place):
        import numpy as np
        from peer_tables import label_columns
        from table_splits import read_table
        step_of = load_script("tables").step_of
        names, train = read_table(place / "train.csv")
        test = read_table(place / "test.csv")[1]
        self.steps, parts, self.unseen = [], [], np.zeros(len(test))
        for i, column in enumerate(names):
            known, asked = [row[i] for row in train], [row[i] for row in test]
            if column in label_columns(name):
                known, asked = self.number_labels(known, asked)
                self.steps.append(1.0)
            else:
                self.steps.append(step_of(known))
            parts.append((np.array(known, float), np.array(asked, float)))
        self.steps = np.array(self.steps)
        self.train, self.test = (np.column_stack(part) for part in zip(*parts))
        self.mean, self.sd = self.train.mean(0), self.train.std(0)
        self.sd[self.sd == 0] = 1
        self.unseen *= math.log(0.5 / len(train))

    def number_labels(self, known, asked):
        """A test label that no training row has counts as the most frequent one here, and costs half a training row's share."""
        labels = sorted(set(known))
        common = max(labels, key=known.count)
        self.unseen += [label not in labels for label in asked]
        return [labels.index(label) for label in known], [labels.index(label if label in labels else common) for label in asked]

    def scaled(self, rows, rng):
        return (rows + self.steps * (rng.random(rows.shape) - 0.5) - self.mean) / self.sd

    def units(self):
        import numpy as np
        return -np.log(self.sd).sum() + np.log(self.steps[self.steps > 0]).sum()


def judge_density(cells, score_samples, jitters, rng):
    """The mean over rows of the log of the mean density over jitters, which counts a cell by the probability of its step."""
    import numpy as np
    densities = np.logaddexp.reduce([score_samples(cells.scaled(cells.test, rng)) for _ in range(jitters)], axis=0) - math.log(jitters)
    return {"nats": float((densities + cells.unseen).mean() + cells.units())}


def choose_and_judge(cells, settings, make, jitters, seed):
    """The setting that is best on a tenth of the training rows, fitted to all of them."""
    import numpy as np
    rng = np.random.default_rng(seed)
    rows = cells.scaled(cells.train, rng)
    held = max(1, len(rows) // 10)
    best = max(settings, key=lambda setting: make(*setting).fit(rows[held:]).score_samples(rows[:held]).mean())
    return {**judge_density(cells, make(*best).fit(rows).score_samples, jitters, rng), "chosen": " ".join(map(str, best))}


def density_mixture(name, place, seed):
    from sklearn.mixture import GaussianMixture
    tables, cells = load_script("tables"), Cells(name, place)
    settings = [(count, kind) for count in tables.COMPONENTS for kind in tables.COVARIANCES]
    return lambda: choose_and_judge(cells, settings, lambda count, kind: GaussianMixture(count, covariance_type=kind, random_state=seed),
                                    MIXTURE_JITTERS, seed)


def density_kernels(name, place, seed):
    from sklearn.neighbors import KernelDensity
    cells = Cells(name, place)
    return lambda: choose_and_judge(cells, [(width,) for width in BANDWIDTHS], lambda width: KernelDensity(bandwidth=width), KERNEL_JITTERS, seed)


def density_nade(name, place, seed):
    import numpy as np
    import nade
    from peer_tables import read_frame
    cells = Cells(name, place)
    train, test = (read_frame(place / f"{part}.csv", name) for part in ("train", "test"))

    def work():
        model = nade.fit(train, seed=seed, progress=False)
        score = np.asarray(model.log_density(test, cells=True, unseen="missing"))
        lost = model.surprise(test[model.names], unseen="missing").isna().to_numpy().sum(axis=1) * math.log(0.5 / len(train))
        real = [column.name for column in model.columns if column.type in ("real", "date")]
        steps = sum(math.log(step) for column, step in zip(train, cells.steps) if step > 0 and column in real)
        return {"nats": float((score + lost).mean() + steps), "left_out": len(train.columns) - len(model.columns)}
    return work


# ---- imputation -----------------------------------------------------------------------------------------------------------------


def impute(fill, *packages):
    """packages: what the method imports, before the clock runs."""
    def prepare(name, place, seed):
        script = load_script("imputation")
        for package in packages:
            importlib.import_module(package)
        script.DRAWS = FORESTS
        holed = script.Holed(name, place / "train.csv", "mcar", HOLES, seed)
        return lambda: fill(script, holed, seed)
    return prepare


def impute_nade(script, holed, seed):
    import nade
    model = nade.Imputer(method="mean", random_state=seed).fit(holed.seen).model_
    return script.judge_fills(holed, script.fill_left(model.impute(holed.seen, method="mean", exact=True), holed))


class Words:
    """The options that the scripts look at."""

    threads = 1


def impute_mean(script, holed, seed):
    return script.try_mean(Words, holed)


def impute_ridge(script, holed, seed):
    return script.judge_fills(holed, script.fill_with(script.iterative(random_state=seed), holed, 1))


def impute_knn(script, holed, seed):
    return script.try_knn(Words, holed)


def impute_forests(script, holed, seed):
    return script.try_miceforest(Words, holed)


# ---- outliers -------------------------------------------------------------------------------------------------------------------


def find_outliers(make):
    """Rows with one cell of another row; make: a detector of the rows as numbers, or None for nade's, which takes the frame."""
    def prepare(name, place, seed):
        import pandas as pd
        from peer_tables import as_frame
        script = load_script("outliers")
        rows = script.Rows(name, place / "rows.csv", "swap", "clean", seed)
        detector = make(seed)
        train, test = ([as_frame(pd.DataFrame(part, columns=rows.names), name) for part in (rows.train, rows.test)] if is_nade(detector)
                       else script.encode(rows))
        return lambda: script.judge_rows(rows, -detector.fit(train).score_samples(test).clip(-1e300))
    return prepare


def is_nade(detector):
    return type(detector).__module__.startswith("nade")


def make_nade_detector(seed):
    import nade
    return nade.OutlierDetector(random_state=seed)


def make_isolation(seed):
    from sklearn.ensemble import IsolationForest
    return IsolationForest(random_state=seed)


def make_local(seed):
    from sklearn.neighbors import LocalOutlierFactor
    return LocalOutlierFactor(novelty=True)


# ---- prediction -----------------------------------------------------------------------------------------------------------------


def make_nade_predictor(script, name, frame):
    import nade
    return (nade.Classifier if script.is_class(name) else nade.Regressor)(random_state=script.SEED)


def predict(make):
    def prepare(name, place, seed):
        script = load_script("predict")
        script.SEED = seed
        x, y, asked, truth = script.read_fold(place, name)
        model = make(script, name, x)

        def work():
            model.fit(x, y)
            if not script.is_class(name):
                return script.judge_numbers(truth, model.predict(asked))
            return script.judge_classes(truth, list(model.classes_), model.predict_proba(asked), len(y))
        return work
    return prepare


METHODS = {
    "density": {"nade": density_nade, "mixture": density_mixture, "kernels": density_kernels},
    "imputation": {"nade": impute(impute_nade, "nade"), "mean": impute(impute_mean), "ridge": impute(impute_ridge, "sklearn.experimental.enable_iterative_imputer"),
                   "knn": impute(impute_knn, "sklearn.impute"), "miceforest": impute(impute_forests, "miceforest")},
    "outliers": {"nade": find_outliers(make_nade_detector), "isolation": find_outliers(make_isolation), "local": find_outliers(make_local)},
    "prediction": {"nade": predict(make_nade_predictor), "linear": predict(lambda script, name, frame: script.make_linear(name, frame, 1)),
                   "boosting": predict(lambda script, name, frame: script.make_boosting(name, frame, 1))}}


def main():
    asked = json.loads(pathlib.Path(sys.argv[1]).read_text())
    sys.path.insert(0, str(ROOT / "python"))
    import pandas  # noqa: F401, so that what all methods need counts for none
    if asked["method"] == "nade":
        import nade
        nade.set_threads(1)
    work = METHODS[asked["task"]][asked["method"]](asked["table"], pathlib.Path(asked["place"]), asked["seed"])
    found, cost = measured(work)
    print(json.dumps({**found, **cost}))


if __name__ == "__main__":
    main()
