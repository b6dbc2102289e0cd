#!/usr/bin/env python3
"""paper_runs.py show|has|drop RESULTS/NAME SEED [FOLD]

Looks into RESULTS/NAME.json, the results of nade paper: prints a run, says by its status whether it is there, removes it.
"""
import json
import os
import sys


def runs(place):
    """All runs, by seed and fold (0: it has none)."""
    if not os.path.exists(place + ".json"):
        return {}
    with open(place + ".json") as file:
        found = json.load(file)
    assert set(found) == {"recipe", "runs"} and found["recipe"] == os.path.basename(place), found
    numbers = [(run["seed"], run.get("fold", 0)) for run in found["runs"]]
    assert numbers == sorted(set(numbers)), numbers
    return dict(zip(numbers, found["runs"]))


def run(place, seed, fold=0):
    return runs(place)[seed, fold]


def main():
    what, place, *unit = sys.argv[1:]
    unit = (*map(int, unit), 0)[:2]
    found = runs(place)
    if what == "show":
        print(json.dumps(found[unit], indent=4))
    elif what == "drop":
        del found[unit]
        with open(place + ".json", "w") as file:
            json.dump({"recipe": os.path.basename(place), "runs": list(found.values())}, file)
    return unit not in found if what == "has" else 0


if __name__ == "__main__":
    sys.exit(main())
