"""Threads, forks, signals and memory."""
from __future__ import annotations

import concurrent.futures
import gc
import os
import pathlib
import pickle
import select
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import nade
from conftest import QUICK

LONG = os.environ.get("NADE_LONG_TESTS") == "1"
PACKAGE = pathlib.Path(nade.__file__).resolve().parents[1]


def run_python(code: str, **changes: object) -> subprocess.Popen:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(PACKAGE), str(pathlib.Path(__file__).parent)])}
    return subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, env=environment, preexec_fn=take_interrupts, **changes)


def take_interrupts() -> None:
    """Where the tests run in the background, Ctrl-C is ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_threads_share_a_model(number_model, numbers):
    expected = number_model.log_density(numbers)
    parts = [numbers[i::6] for i in range(6)]
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        for _ in range(3):
            found = list(pool.map(number_model.log_density, parts))
            for i, part in enumerate(found):
                np.testing.assert_array_equal(part, expected[i::6])
        drawn = list(pool.map(lambda seed: number_model.sample(20, seed=seed), range(6)))
    for seed, rows in enumerate(drawn):
        np.testing.assert_array_equal(rows, number_model.sample(20, seed=seed))


def test_threads_that_fit(numbers):
    expected = nade.fit(numbers, **QUICK).to_bytes()
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        assert {model.to_bytes() for model in pool.map(lambda _: nade.fit(numbers, **QUICK), range(3))} == {expected}


def test_number_of_threads_changes_nothing(number_model, numbers):
    expected = number_model.log_density(numbers)
    try:
        for count in (1, 2):
            nade.set_threads(count)
            np.testing.assert_array_equal(number_model.log_density(numbers), expected)
    finally:
        nade.set_threads(0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_uses_the_model(number_model, numbers):
    expected = number_model.log_density(numbers)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            found = number_model.log_density(numbers)
            number_model.impute(np.where(numbers > 1, np.nan, numbers))
            os.write(write, b"same" if np.array_equal(found, expected) else b"different")
        finally:
            os._exit(0)
    os.close(write)
    answered = select.select([read], [], [], 60)[0]
    if not answered:
        os.kill(child, signal.SIGKILL)
    said = os.read(read, 100)
    os.close(read)
    assert os.waitpid(child, 0)[1] == 0 and said == b"same"
    np.testing.assert_array_equal(number_model.log_density(numbers), expected)


def test_a_spawned_process_gets_a_pickle(number_model, numbers, tmp_path):
    (tmp_path / "model").write_bytes(pickle.dumps((number_model, numbers)))
    process = run_python(f"""
        import pickle, numpy as np
        model, numbers = pickle.load(open({str(tmp_path / 'model')!r}, "rb"))
        print(model.log_density(numbers).sum().hex())
    """)
    said, errors = process.communicate(timeout=60)
    assert said.strip() == number_model.log_density(numbers).sum().hex(), errors


def test_interrupt_keeps_the_best_model():
    process = run_python("""
        import numpy as np, nade, sys
        from conftest import QUICK
        rows = np.random.default_rng(0).normal(size=(500, 5))
        def callback(report):
            if report.iteration == 2 and report.iteration_done:
                print("now", flush=True)
        model = nade.fit(rows, callback=callback, **{**QUICK, "iterations": 100000, "cooldown": False})
        print("kept", model.info["training"]["iterations_done"] < 100000, len(model.log_density(rows)))
    """)
    assert process.stdout.readline().strip() == "now"
    process.send_signal(signal.SIGINT)
    said, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert said.strip() == "kept True 500" and "best so far" in errors


def resident() -> int:
    """Bytes of this process that are in memory."""
    gc.collect()
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not pathlib.Path("/proc/self/statm").exists(), reason="needs Linux")
def test_memory_does_not_grow(columns):
    """NADE_LONG_TESTS=1: over 1000 fits and scores."""
    few, fewer = ({name: array[:rows] for name, array in columns.items()} for rows in (60, 20))
    tiny = {**QUICK, "iterations": 1, "updates": 2, "width": 8}

    def work() -> None:
        model = nade.fit(few, **tiny)
        model.log_density(few)
        model.impute(few)
        model.sample(20)
        model.density("x", few).mean()
        model.where(x=(0, 1)).sample(2)
        model.check(fewer)
        nade.compare(model, "gaussian", fewer)
        pickle.loads(pickle.dumps(model)).log_density(few)
        with pytest.raises(nade.Error):
            model.where(kind="no label")

    for _ in range(20):
        work()
    before = resident()
    rounds = 1000 if LONG else 60
    for _ in range(rounds):
        work()
    grown = resident() - before
    print(f"memory grew by {grown / 1024:.0f} KiB in {rounds} rounds")
    assert grown < 4 << 20


def test_interrupt_ends_a_long_score():
    process = run_python("""
        import numpy as np, nade
        from conftest import QUICK
        rows = np.random.default_rng(0).normal(size=(400, 5)).round(2)
        model = nade.fit(rows, **QUICK)
        many = np.tile(rows, (5000, 1))
        try:
            print("now", flush=True)
            model.log_density(many, orderings=64)
        except KeyboardInterrupt:
            print("stopped", len(model.log_density(rows)))
    """)
    assert process.stdout.readline().strip() == "now"
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    said, errors = process.communicate(timeout=60)
    assert said.strip() == "stopped 400" and process.returncode == 0, errors


class Late(Exception):
    """What the handler of an alarm raises."""


@pytest.fixture
def alarm():
    """An alarm whose handler raises."""
    def late(_number, _frame):
        raise Late

    before, hook = signal.signal(signal.SIGALRM, late), sys.unraisablehook
    yield lambda seconds: signal.setitimer(signal.ITIMER_REAL, seconds)
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)
    assert sys.unraisablehook is hook


def test_an_alarm_ends_training(numbers, alarm):
    for _ in range(3):
        alarm(0.3)
        with pytest.raises(Late):
            nade.fit(numbers, **{**QUICK, "iterations": 1000000, "cooldown": False})


def test_an_alarm_ends_a_long_score(number_model, numbers, alarm):
    many = np.tile(numbers, (2000, 1))
    for asked in (lambda: number_model.log_density(many, orderings=64), lambda: number_model.surprise(many)):
        alarm(0.5)
        started = time.process_time()
        with pytest.raises(Late):
            asked()
        assert time.process_time() - started < 10  # of two processors, whatever else the machine does


def test_a_handler_that_does_not_raise_ends_nothing(number_model, numbers):
    seen = []
    before = signal.signal(signal.SIGINT, lambda *_: seen.append(1))
    try:
        many = np.tile(numbers, (100, 1))
        expected = number_model.log_density(many)
        signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGINT))
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        while not seen:
            np.testing.assert_array_equal(number_model.log_density(many), expected)
    finally:
        signal.signal(signal.SIGINT, before)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)


def test_an_alarm_ends_other_long_calls(number_model, numbers, alarm):
    """Between parts of the rows, so that no call of the library is long."""
    holed = np.tile(np.where(numbers > 1, np.nan, numbers), (2000, 1))
    for asked in (lambda: number_model.sample(2000000), lambda: number_model.impute(holed),
                  lambda: number_model.impute(holed[:100000], draws=50),
                  lambda: number_model.predict(holed, of="1"),
                  lambda: number_model.where({"0": (0, 1)}).sample(2000000)):
        alarm(0.4)
        started = time.process_time()
        with pytest.raises(Late):
            asked()
        assert time.process_time() - started < 4


def test_parts_of_rows_change_nothing(number_model, numbers, monkeypatch):
    holed = np.where(numbers > 1, np.nan, numbers)

    def ask() -> list:
        found = number_model.predict(holed, of="1", given="0")
        return [number_model.sample(300, seed=3), number_model.where({"0": (0, 1)}).sample(300),
                number_model.where({"0": nade.Not(0)}).sample(300), number_model.sample(300, orderings=4),
                number_model.impute(holed, draws=3), number_model.impute(holed, interval=0.8)[1],
                np.column_stack(list(found.values())), number_model.density("1", holed).cdf([0.0, 1.0])]

    expected = ask()
    monkeypatch.setattr(nade._context, "_PART_ROWS", 7)
    monkeypatch.setattr(number_model, "_local", threading.local())  # with the session that knows its parts
    for one, other in zip(ask(), expected):
        np.testing.assert_equal(one, other)
