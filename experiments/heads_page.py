"""The tables of docs/heads.md from what experiments/heads found."""
import statistics


def spread(values):
    mean = statistics.fmean(values)
    return f"{mean:.3f}" + (f" ± {statistics.stdev(values):.3f}" if len(values) > 1 else "")


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def variants_of(results):
    names = []
    for runs in results.values():
        for found in runs.values():
            names.extend(name for name in found if name not in names)
    return names


def whole_rows(results):
    names = variants_of(results)
    rows = []
    for name, runs in results.items():
        seeds = list(runs.values())
        rows.append([name] + [spread([found[v]["row"] for found in seeds if v in found]) if any(v in found for found in seeds) else "–"
                              for v in names])
    return table(["nats a row", *names], rows)


def by_kind(results):
    """For each table and kind of column now: the mean over its columns and seeds, before and now."""
    rows = []
    for name, runs in results.items():
        seeds = [found for found in runs.values() if "before" in found]
        if not seeds:
            continue
        kinds = seeds[0]["now"]["kinds"]
        for kind in sorted(set(kinds.values())):
            columns = [column for column in kinds if kinds[column] == kind and column in seeds[0]["before"]["columns"]]
            if not columns:
                continue
            means = [[statistics.fmean(found[v]["columns"][column] for column in columns) for found in seeds] for v in ("before", "now")]
            gain = [now - before for before, now in zip(*means)]
            rows.append([name, kind, str(len(columns)), spread(means[0]), spread(means[1]), spread(gain)])
    return table(["table", "kind of column now", "columns", "before, nats a cell", "now", "gain"], rows)


def page(results):
    if not results:
        return "Nothing is kept yet.\n"
    return f"Whole rows, eight orderings:\n\n{whole_rows(results)}\n\nCells given the rest of their row, by kind of column:\n\n{by_kind(results)}\n"
