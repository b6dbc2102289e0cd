"""A bar for long work: tqdm's where it is installed, else a plain line."""
from __future__ import annotations

import math
import sys
from types import SimpleNamespace
from typing import Any


class Silent:
    """Shows nothing."""

    def show(self, report: SimpleNamespace) -> None:
        """Takes a report of training."""

    def close(self) -> None:
        """Ends the line."""


def describe(report: SimpleNamespace) -> str:
    """Losses as log densities: higher is better."""
    words = []
    if report.trial:
        words.append(f"trial {report.trial}/{report.trials}")
    if report.fold:
        words.append(f"fold {report.fold}/{report.folds}")
    if report.components:
        words.append(f"{report.components} components")
    if report.members > 1:
        words.append(f"member {report.member}/{report.members}")
    if not math.isnan(report.best_valid_loss) and math.isfinite(report.best_valid_loss):
        words.append(f"best {-report.best_valid_loss:.4f}")
    return " ".join(words)


class Bar(Silent):
    """tqdm's bar, right in notebooks too. It begins anew with each part of the work."""

    def __init__(self, tqdm: Any) -> None:
        self.tqdm = tqdm
        self.bar: Any = None
        self.part: Any = None

    def show(self, report: SimpleNamespace) -> None:
        part = (report.member, report.stage, report.trial, report.fold)
        if self.bar is None or part != self.part:
            if self.bar is None:
                self.bar = self.tqdm(total=report.updates, unit="update", desc="nade")
            else:
                self.bar.reset(total=report.updates)
            self.part = part
        self.bar.update(report.update - self.bar.n)
        self.bar.set_postfix_str(describe(report), refresh=False)

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()


class Line(Silent):
    """One line on stderr, written over and over on a terminal."""

    def __init__(self) -> None:
        self.written = 0

    def show(self, report: SimpleNamespace) -> None:
        if not report.iteration_done:
            return
        text = f"nade: iteration {report.iteration}/{report.iterations} {describe(report)} {report.seconds:.0f} s"
        end = "" if sys.stderr.isatty() else "\n"
        start = "\r" if sys.stderr.isatty() else ""
        print(start + text.ljust(self.written), end=end, file=sys.stderr, flush=True)
        self.written = len(text)

    def close(self) -> None:
        if self.written and sys.stderr.isatty():
            print(file=sys.stderr)


def progress_shower(wanted: bool | None) -> Silent:
    """What shows progress; None: a bar on a terminal and in notebooks."""
    if wanted is None:
        wanted = sys.stderr is not None and (sys.stderr.isatty() or "ipykernel" in sys.modules)
    if not wanted:
        return Silent()
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return Line()
    return Bar(tqdm)
