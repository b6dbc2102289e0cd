"""How much rows drawn from a model are like the table's own: the measures of experiments/samples (docs/samples.md).

Tables are data frames of texts, as the files have them; '', '?' and 'NA' are missing cells.  A column is numeric if more than
99.9 % of its training rows' cells are numbers or missing.
"""
import numpy as np
import pandas as pd
import xgboost as xgb
from sklearn.metrics import accuracy_score, r2_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold

MISSING = {"?": "", "NA": ""}
LABELS = 60  # a label column is one-hot by so many of its most frequent labels
NUMERIC = 0.999
CLASSES = 20  # a numeric target with more values than this is predicted as a number
BINS = 10
NEAREST_ROWS = 2000
QUANTILES = (0.02, 0.05)


def read_table(path):
    return pd.read_csv(path, skipinitialspace=True, dtype=str, keep_default_na=False).replace(MISSING)


def align(samples, table):
    """The samples with the table's columns in its order; columns that the model left out are left out."""
    if set(samples.columns) & set(table.columns):
        return samples[[name for name in table.columns if name in samples.columns]]
    if len(samples.columns) == len(table.columns):
        return samples.set_axis(table.columns, axis=1)
    raise ValueError(f"the samples' columns are {', '.join(samples.columns)}, expected some of {', '.join(table.columns)}")


def to_numbers(column):
    return pd.to_numeric(column, errors="coerce").to_numpy(float)


def is_numeric(column):
    return (pd.to_numeric(column, errors="coerce").notna() | (column == "")).mean() > NUMERIC


def numeric_columns(table):
    return [name for name in table if is_numeric(table[name])]


def permute_columns(table, seed):
    """Independent columns: each one's cells in an order of its own."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame({name: rng.permutation(table[name].to_numpy()) for name in table})


def halve(table, seed):
    order = np.random.default_rng(seed).permutation(len(table))
    half = len(table) // 2
    return table.iloc[order[:half]], table.iloc[order[half:2 * half]]


# ---- a classifier that tells samples from rows --------------------------------------------------------------------------


def encode_both(both):
    """Features of real and drawn rows alike, and the name of the column each comes from."""
    features, names = [], []
    for name in both:
        if is_numeric(both[name]):
            features.append(to_numbers(both[name]))
            names.append(name)
        else:
            for label in both[name].value_counts().head(LABELS).index:
                features.append((both[name] == label).to_numpy(float))
                names.append(name)
    return np.column_stack(features).astype(np.float32), np.array(names)


def booster(threads):
    return xgb.XGBClassifier(tree_method="hist", n_jobs=threads)


def describe_gains(x, y, names, threads):
    """Columns by their share of the gain of all splits: what gives the samples away."""
    gains = booster(threads).fit(x, y).get_booster().get_score(importance_type="total_gain")
    columns = pd.Series({int(key[1:]): gain for key, gain in gains.items()}, dtype=float).groupby(lambda i: names[i]).sum()
    shares = (columns / columns.sum()).sort_values(ascending=False)
    return [[name, float(share)] for name, share in shares.head(6).items()]


def classify(real, fake, threads, permute=False):
    """1: XGBoost with its defaults can't tell (area under the curve 0.5), 0: it always can; mean over three stratified folds.
    Shuffling and folding have different seeds: with one for both, folds would follow the order of the rows."""
    n = min(len(real), len(fake))
    both = pd.concat([real.sample(n, random_state=11), fake.sample(n, random_state=12)], ignore_index=True)
    y = np.r_[np.zeros(n), np.ones(n)]
    if permute:
        y = np.random.default_rng(13).permutation(y)
    x, names = encode_both(both)
    areas = []
    for fit, held in StratifiedKFold(3, shuffle=True, random_state=0).split(x, y):
        areas.append(float(roc_auc_score(y[held], booster(threads).fit(x[fit], y[fit]).predict_proba(x[held])[:, 1])))
    figure = float(np.mean(1 - (np.maximum(0.5, areas) * 2 - 1)))
    return {"figure": figure, "areas": areas, "given_away_by": describe_gains(x, y, names, threads)}


# ---- columns and pairs --------------------------------------------------------------------------------------------------


def number_similarity(a, b):
    """1 - Kolmogorov's and Smirnov's distance; missing cells count as a value below all."""
    a, b = (np.sort(np.nan_to_num(x, nan=-np.inf)) for x in (a, b))
    at = np.concatenate([a, b])
    return 1 - np.abs(np.searchsorted(a, at, "right") / len(a) - np.searchsorted(b, at, "right") / len(b)).max()


def label_similarity(a, b):
    """1 - the total variation distance of the values' shares."""
    values, codes = np.unique(np.concatenate([a, b]), return_inverse=True)
    shares = [np.bincount(part, minlength=len(values)) / len(part) for part in (codes[:len(a)], codes[len(a):])]
    return 1 - np.abs(shares[0] - shares[1]).sum() / 2


def measure_shapes(real, fake, numeric):
    columns = {name: float(number_similarity(to_numbers(real[name]), to_numbers(fake[name])) if name in numeric
                           else label_similarity(real[name].to_numpy(str), fake[name].to_numpy(str))) for name in real}
    return {"mean": float(np.mean(list(columns.values()))), "columns": columns}


def code_cells(real, fake, name, numeric):
    """Cells of a column as small integers: labels as they are, numbers by the tenth of the real rows they fall into."""
    if name not in numeric:
        values, codes = np.unique(np.concatenate([real[name].to_numpy(str), fake[name].to_numpy(str)]), return_inverse=True)
        return codes[:len(real)], codes[len(real):], len(values)
    edges = np.unique(np.nanquantile(to_numbers(real[name]), np.arange(1, BINS) / BINS))
    codes = [np.where(np.isnan(x), 0, 1 + np.searchsorted(edges, x, "right")) for x in
             (to_numbers(real[name]), to_numbers(fake[name]))]
    return codes[0], codes[1], len(edges) + 2


def correlations(table, names):
    """Of rows in which both cells are present; 0 where a column is constant."""
    return np.nan_to_num(pd.DataFrame({name: to_numbers(table[name]) for name in names}).corr().to_numpy())


def measure_trends(real, fake, numeric):
    """1 - half the difference of correlations for two numbers, 1 - total variation of the pair's shares for others."""
    names, pairs = list(real), {}
    numbers = [name for name in names if name in numeric]
    differences = np.abs(correlations(real, numbers) - correlations(fake, numbers)) if numbers else None
    codes = {name: code_cells(real, fake, name, numeric) for name in names}
    for i, a in enumerate(names):
        for b in names[i + 1:]:
            if a in numeric and b in numeric:
                pairs[a, b] = 1 - differences[numbers.index(a), numbers.index(b)] / 2
            else:
                width = codes[b][2]
                pairs[a, b] = label_similarity(codes[a][0] * width + codes[b][0], codes[a][1] * width + codes[b][1])
    least = min(pairs, key=pairs.get)
    return {"mean": float(np.mean(list(pairs.values()))), "least": [*least, float(pairs[least])]}


# ---- a model trained on samples -------------------------------------------------------------------------------------------


class Task:
    """Predicting the last column of real rows from the others."""

    def __init__(self, train, numeric):
        self.target = train.columns[-1]
        self.numeric = [name for name in train if name in numeric]
        self.labels = {name: list(train[name].value_counts().head(LABELS).index) for name in train.columns[:-1]
                       if name not in numeric}
        values = pd.unique(self.read_target(train))
        self.classes = None if self.is_number() and len(values) > CLASSES else sorted(v for v in values if v == v and v != "")
        self.measure = "R²" if self.classes is None else "AUC" if len(self.classes) == 2 else "accuracy"

    def is_number(self):
        return self.target in self.numeric

    def read_target(self, table):
        return to_numbers(table[self.target]) if self.is_number() else table[self.target].to_numpy(object)

    def features(self, table):
        columns = [to_numbers(table[name]) for name in self.numeric if name != self.target]
        columns += [(table[name] == label).to_numpy(float) for name, labels in self.labels.items() for label in labels]
        return np.column_stack(columns).astype(np.float32)

    def examples(self, table):
        """Features and targets of the rows whose target is known; classes by their number."""
        y = self.read_target(table)
        if self.classes is None:
            known = ~np.isnan(y)
            return self.features(table)[known], y[known]
        codes = {value: i for i, value in enumerate(self.classes)}
        y = np.array([codes.get(value, -1) for value in y])
        return self.features(table)[y >= 0], y[y >= 0]

    def predict(self, x, y, asked, threads):
        """Of two classes the probability of the second, of more the most probable, of numbers their mean."""
        if self.classes is None:
            return xgb.XGBRegressor(tree_method="hist", n_jobs=threads).fit(x, y).predict(asked)
        present, y = np.unique(y, return_inverse=True)  # XGBoost wants every class to occur
        if len(present) == 1:
            return np.full(len(asked), present[0])
        model = booster(threads).fit(x, y)
        return model.predict_proba(asked)[:, 1] if self.measure == "AUC" else present[model.predict(asked)]

    def score(self, fit, test, threads):
        """What a model trained on the rows `fit` is worth on the rows `test`; None where `fit` has no known target."""
        (x, y), (asked, truth) = self.examples(fit), self.examples(test)
        if not len(y):
            return {"measure": self.measure, "score": None}
        judge = {"R²": r2_score, "AUC": roc_auc_score, "accuracy": accuracy_score}[self.measure]
        return {"measure": self.measure, "score": float(judge(truth, self.predict(x, y, asked, threads)))}


# ---- copies ---------------------------------------------------------------------------------------------------------------


class Nearest:
    """Distances to the nearest training row: the sum over columns of |difference| in deviations of the training rows, or of 1
    for labels that differ and for a cell that is missing in one row only.  At most NEAREST_ROWS rows are asked about."""

    def __init__(self, train, test, numeric):
        self.numeric, self.train = numeric, train
        values = {name: to_numbers(train[name]) for name in train if name in numeric}
        self.scales = {name: np.nanstd(x) or 1.0 for name, x in values.items()}
        self.reference = self.distances(test, 0)

    def cells(self, rows, name):
        if name in self.numeric:
            return (to_numbers(rows[name]) / self.scales[name]).astype(np.float32)
        return rows[name].to_numpy(str)

    def distances(self, rows, seed):
        if len(rows) > NEAREST_ROWS:
            rows = rows.iloc[np.random.default_rng(seed).choice(len(rows), NEAREST_ROWS, replace=False)]
        pairs = []
        for name in self.train:
            cells = self.cells(rows, name), self.cells(self.train, name)
            if name not in self.numeric:
                codes = np.unique(np.concatenate(cells), return_inverse=True)[1].astype(np.int32)
                cells = codes[:len(rows)], codes[len(rows):]
            pairs.append(cells)
        parts = [self.nearest([(a[i:i + 100], b) for a, b in pairs]) for i in range(0, len(rows), 100)]
        return np.round(np.concatenate(parts), 5)

    def nearest(self, pairs):
        total = np.zeros((len(pairs[0][0]), len(self.train)), np.float32)
        for a, b in pairs:
            if a.dtype == np.int32:
                total += a[:, None] != b
                continue
            apart = np.abs(a[:, None] - b)
            if np.isnan(a).any() or np.isnan(b).any():
                apart = np.where(np.isnan(apart), np.isnan(a)[:, None] != np.isnan(b), apart)
            total += apart
        return total.min(axis=1)

    def share_nearer(self, found, quantile):
        """Share of rows nearer than this quantile of the test rows' distances.  Rows at exactly that distance count in the
        proportion in which the test rows there do, so that rows like the test rows get the quantile itself."""
        edge = np.quantile(self.reference, quantile, method="inverted_cdf")
        part = (quantile - np.mean(self.reference < edge)) / np.mean(self.reference == edge)
        return float(np.mean(found < edge) + part * np.mean(found == edge))

    def measure(self, rows, seed):
        found = self.distances(rows, seed)
        shares = {f"{quantile:g}": self.share_nearer(found, quantile) for quantile in QUANTILES}
        return {"nearer": shares, "copies": float(np.mean(found == 0))}


def measure_outside(train, rows, numeric):
    """Shares of numeric cells below the least or above the largest training value, and of negative ones where training has
    none."""
    outside, negative = {}, {}
    for name in [name for name in rows if name in numeric]:
        known, found = to_numbers(train[name]), to_numbers(rows[name])
        low, high = np.nanmin(known), np.nanmax(known)
        outside[name] = float(np.mean((found < low) | (found > high)))
        if low >= 0:
            negative[name] = float(np.mean(found < 0))
    shares = [float(np.mean(list(x.values()))) if x else 0.0 for x in (outside, negative)]
    return {"cells": shares[0], "negative": shares[1], "columns": {name: x for name, x in outside.items() if x}}


# ---- all of it --------------------------------------------------------------------------------------------------------------


def measure(folder, drawn, seed, threads):
    """{"samples", "independent", "real"}: each measure for the rows in the file `drawn`, for independent columns, and for
    real rows: training rows in two halves, or test rows."""
    train, test, samples = (read_table(path) for path in (folder / "train.csv", folder / "test.csv", drawn))
    samples = align(samples, train)
    left_out = [name for name in train if name not in samples]
    train, test = train[samples.columns], test[samples.columns]
    numeric = numeric_columns(train)
    task, nearest = Task(train, numeric), Nearest(train, test, numeric)

    def compare(rows):
        return {**similar(train, rows, numeric, threads), "trained_on": task.score(rows, test, threads),
                "nearest": nearest.measure(rows, seed), "outside": measure_outside(train, rows, numeric)}

    real = {**similar(*halve(train, seed), numeric, threads), "trained_on": task.score(train, test, threads),
            "nearest": nearest.measure(test, 0), "outside": measure_outside(train, test, numeric)}
    return {"rows": [len(train), len(test)], "target": task.target, "left_out": left_out, "samples": compare(samples),
            "independent": compare(permute_columns(train, seed)), "real": real}


def similar(real, fake, numeric, threads):
    return {"classifier": classify(real, fake, threads), "shapes": measure_shapes(real, fake, numeric),
            "trends": measure_trends(real, fake, numeric)}


def check_measures(folder, threads):
    """(what, figure, whether it is as it must be) for each measure where its answer is known."""
    train, test = (read_table(folder / name) for name in ("train.csv", "test.csv"))
    numeric, mixed, halves = numeric_columns(train), permute_columns(train, 1), halve(train, 1)
    in_order = [half.sort_values(list(train.columns)) for half in halves]

    def least(rows):
        """Four deviations below 1: those of an area under the curve of a third of the rows."""
        return 1 - 8 / np.sqrt(2 * rows)

    alike = classify(*halves, threads)["figure"]
    yield "classifier, real rows in two halves", alike, alike > least(len(halves[0]))
    figure = classify(*in_order, threads)["figure"]
    yield "classifier, two halves each in order", figure, figure > least(len(halves[0]))
    figure = classify(train, mixed, threads, permute=True)["figure"]
    yield "classifier, independent columns with labels permuted", figure, figure > least(len(train))
    figure = classify(train, mixed, threads)["figure"]
    yield "classifier, independent columns", figure, figure < alike
    for name, measured in (("shapes", measure_shapes), ("trends", measure_trends)):
        figure = measured(train, train, numeric)["mean"]
        yield f"{name}, the training rows themselves", figure, abs(figure - 1) < 1e-9
    figure = measure_shapes(train, mixed, numeric)["mean"]
    yield "shapes, independent columns", figure, abs(figure - 1) < 1e-9
    figure = measure_trends(train, mixed, numeric)["mean"]
    yield "trends, independent columns", figure, figure < measure_trends(*halves, numeric)["mean"]
    nearest = Nearest(train, test, numeric)
    figure = nearest.measure(test, 0)["nearer"]["0.05"]
    yield "nearer than 5 % of the test rows, the test rows themselves", figure, abs(figure - 0.05) < 1e-9
    figure = nearest.measure(train, 0)["copies"]
    yield "copies, the training rows themselves", figure, figure == 1
    figure = measure_outside(train, train, numeric)["cells"]
    yield "outside the training range, the training rows themselves", figure, figure == 0
