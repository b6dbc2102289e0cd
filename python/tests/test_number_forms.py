"""Columns whose numbers are written in a form of their own: numbers here, the command's files there."""
import numpy as np
import pytest

import nade
from conftest import QUICK

HEADER = "duration,start,amount,price"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("forms")
    rows = [HEADER]
    for i in range(200):
        d, s, a = i * 137 % 9000, i * 71 % 1440, (i * 53 % 700 - 300) / 4
        rows.append(f"{d // 3600}:{d // 60 % 60:02}:{d % 60:02},{s // 60:02}:{s % 60:02},"
                    f"{f'(${-a:.2f})' if a < 0 else f'${a:.2f}'},{i * 17 % 90 / 4 + 1:.2f}")
    data = folder / "data.csv"
    data.write_text("\n".join(rows) + "\n")
    made = nade.fit(data, **QUICK)
    made.save(folder / "model.safetensors")
    return made, folder


def test_numbers_stay_numbers(model):
    drawn = model[0].sample(50, seed=1)
    for name in HEADER.split(","):
        assert np.issubdtype(np.asarray(drawn[name]).dtype, np.number)
    assert (drawn["duration"] >= 0).all() and (drawn["start"] % 60 == 0).all() and (drawn["start"] < 86400).all()
    assert "seconds written h:mm:ss" in model[0].columns[0].kind


def test_files_are_read_in_their_form(model, tmp_path):
    formed, plain = tmp_path / "formed.csv", tmp_path / "plain.csv"
    formed.write_text(HEADER + "\n1:02:03,12:30,($12.25),7.50\n0:00:59,00:07,$3.50,8.00\n2:00:00,23:59,$0.25,9.25\n")
    plain.write_text(HEADER + "\n3723,45000,-12.25,7.5\n59,420,3.5,8\n7200,86340,0.25,9.25\n")
    assert model[0].log_density(formed).tolist() == model[0].log_density(plain).tolist()


def test_conditions_are_seconds(model):
    drawn = model[0].where(duration=(None, 3600)).sample(50, seed=1)
    assert (np.asarray(drawn["duration"]) <= 3600).all()
    with pytest.raises(nade.BadCall, match="duration"):
        model[0].where(duration="soon").sample(1)


def test_as_the_command(model, command, tmp_path):
    """The command's samples, read back, are the package's numbers."""
    made, folder = model
    text = command("sample", folder / "model.safetensors", "-n", 20, "--seed", 5, "--quiet")
    (tmp_path / "drawn.csv").write_text(text)
    assert text.splitlines()[1].count(":") == 3
    assert np.array_equal(made.log_density(tmp_path / "drawn.csv"), made.log_density(made.sample(20, seed=5)))
