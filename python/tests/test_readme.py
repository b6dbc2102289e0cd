"""The README's example runs, with a short training."""
import functools
import pathlib
import re

import pytest

import nade

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_readme_example(tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    block = re.search(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL).group(1)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(nade, "fit", functools.partial(nade.fit, effort="quick", iterations=2, progress=False))
    space = {}
    exec(compile(block, "README.md", "exec"), space)
    assert (tmp_path / "days.safetensors").stat().st_size > 1000
    assert len(space["m"].log_density(space["days"])) == 2000
