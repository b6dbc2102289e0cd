"""The table of docs/tables.md from what experiments/tables found."""
import statistics


def mean_of(folds, what):
    values = [fold[what] for fold in folds if what in fold]
    return statistics.fmean(values) if len(values) == len(folds) else None


def paired(folds, other):
    """Mean and standard error over folds of what nade is ahead."""
    gains = [fold["nade"] - fold[other] for fold in folds]
    if len(gains) == 1:
        return f"{gains[0]:+.2f}"
    return f"{statistics.fmean(gains):+.2f} ± {statistics.stdev(gains) / len(gains) ** 0.5:.2f}"


def row_of(name, found):
    folds = found["folds"]
    if any("failed" in fold for fold in folds):
        return [name, f"{found['rows']:,}", str(found["columns"]), next(fold["failed"] for fold in folds if "failed" in fold)] + [""] * 5
    mixture = mean_of(folds, "mixture")
    return [name, f"{found['rows']:,}", str(found["columns"]), f"{mean_of(folds, 'nade'):.2f}", f"{mean_of(folds, 'independent'):.2f}",
            paired(folds, "independent"), "–" if mixture is None else f"{mixture:.2f}", "–" if mixture is None else paired(folds, "mixture"),
            f"{mean_of(folds, 'seconds'):.0f}"]


def page(results):
    if not results:
        return "Nothing is kept yet.\n"
    head = ["table", "rows", "columns", "nade, nats a row", "independent columns", "ahead by", "Gaussian mixture", "ahead by", "train, s of a processor"]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row_of(name, found)) + " |" for name, found in results.items()]) + "\n"
