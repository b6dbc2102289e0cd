"""Import and single rows are quick, in processor time: machines that test are busy. pytest -s prints the figures."""
from __future__ import annotations

import time

import numpy as np

import nade
from nade import _tables
from test_processes import run_python


def test_import_time():
    """Beyond NumPy's: under 100 ms, the best of several."""
    times = []
    for _ in range(3):
        process = run_python("""
            import time, numpy
            start = time.process_time()
            import nade
            print(time.process_time() - start)
        """)
        times.append(float(process.communicate(timeout=60)[0]))
    print(f"import nade: {1000 * min(times):.1f} ms beyond NumPy's")
    assert min(times) < 0.1


def test_nothing_else_is_imported():
    process = run_python("import nade, sys; print(*sys.modules)")
    modules = set(process.communicate(timeout=60)[0].split())
    assert not modules & {"pandas", "polars", "pyarrow", "sklearn", "scipy", "matplotlib", "tqdm", "torch"}


def thread_times(function, calls=400):
    """Microseconds of processor time of each call, in ascending order."""
    taken = []
    for i in range(calls):
        start = time.thread_time()
        function(i)
        taken.append(time.thread_time() - start)
    return np.sort(taken[calls // 4:]) * 1e6


def test_one_row():
    """A row of 15 columns through a kept session: what Python adds to the library's own time is small."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(1000, 15)).round(3)
    rows[:, 1:] += rows[:, :1]
    nade.set_threads(1)
    try:
        for name, network in (("residual, 2 blocks of 128", {}), ("one layer of 64", {"hidden": [64]})):
            model = nade.fit(rows, effort="quick", iterations=1, components=10, progress=False, **network)
            table = _tables.table_of_array(rows[:1])
            options = model._score_options(None, None, 1, 0, None, False, "error")
            inside = thread_times(lambda _, m=model, o=options, t=table: m._score(t, o, summarise=False))
            whole = thread_times(lambda i, m=model: m.log_density(rows[i:i + 1], orderings=1))
            print(f"one row of 15 columns, one ordering, {name}: p50 {np.median(whole):.0f} us, best {whole[0]:.0f} "
                  f"us; nade_score alone p50 {np.median(inside):.0f} us")
            assert whole[0] - inside[0] < 100
            assert whole[0] < 200
    finally:
        nade.set_threads(0)
