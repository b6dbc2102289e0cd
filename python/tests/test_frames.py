"""Frames in, the same kind of frame out: names, index and types kept; the same numbers whatever the kind."""
from __future__ import annotations

import datetime
import decimal

import numpy as np
import pytest

import nade
from conftest import QUICK


def pandas_frame(columns):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(columns)
    frame.index = [f"row {i}" for i in range(len(frame))]
    return frame


def test_pandas_types_and_index(columns, model):
    pandas = pytest.importorskip("pandas")
    frame = pandas_frame(columns)
    frame["kind"] = frame["kind"].astype("category")
    frame["colour"] = frame["colour"].astype("string")
    frame["count"] = frame["count"].astype("Int16")
    frame.loc["row 5", "count"] = pandas.NA
    frame.loc["row 6", "when"] = pandas.NaT
    frame["extra"] = 1
    with pytest.warns(nade.Warning, match="extra"):
        filled = model.impute(frame)
    assert list(filled.columns) == list(frame.columns)
    assert filled.index.equals(frame.index)
    assert (filled.dtypes == frame.dtypes).all()
    assert not filled.isna().any(axis=None)
    pandas.testing.assert_frame_equal(filled[frame.notna().all(axis=1)], frame[frame.notna().all(axis=1)])
    scores = model.log_density(frame.drop(columns="extra"))
    assert scores.index.equals(frame.index) and scores.name == "log_density"


def test_pandas_in_and_out_of_fit(columns):
    pytest.importorskip("pandas")
    frame = pandas_frame(columns)
    frame["kind"] = frame["kind"].astype("category")
    frame["count"] = frame["count"].astype("int32")
    drawn = nade.fit(frame, **QUICK).sample(20)
    assert (drawn.dtypes == frame.dtypes).all()
    assert set(drawn["kind"]) <= {"high", "low"} and set(drawn["colour"]) <= {"red", "green", "blue"}


def test_pandas_with_time_zones(columns):
    pandas = pytest.importorskip("pandas")
    frame = pandas_frame(columns)[["x", "when"]]
    frame["when"] = frame["when"].dt.tz_localize("Europe/Berlin")
    model = nade.fit(frame, **QUICK)
    holed = frame.copy()
    holed.loc["row 3", "when"] = pandas.NaT
    filled = model.impute(holed)
    assert filled["when"].dtype == frame["when"].dtype
    assert filled["when"].drop("row 3").equals(frame["when"].drop("row 3"))
    assert 2018 < filled.loc["row 3", "when"].year < 2025
    assert model.sample(3)["when"].dtype == frame["when"].dtype


def test_zones_are_the_same_in_all_frames(columns):
    pandas = pytest.importorskip("pandas")
    pyarrow = pytest.importorskip("pyarrow")
    polars = pytest.importorskip("polars")
    frame = pandas.DataFrame({"x": columns["x"], "when": pandas.to_datetime(columns["when"]).tz_localize("Asia/Tokyo")})
    model = nade.fit(frame, **QUICK)
    assert model.columns[1].form.endswith("Z")
    expected = model.log_density(frame).tolist()
    holed = frame.copy()
    holed.loc[7, "when"] = pandas.NaT
    filled = model.impute(holed).loc[7, "when"]
    for other in (pyarrow.Table.from_pandas(holed), polars.from_pandas(holed)):
        assert model.log_density(other).to_numpy().tolist()[8:] == expected[8:]
        again = model.impute(other)["when"][7]
        assert (again.as_py() if hasattr(again, "as_py") else again) == filled.to_pydatetime()
    where = {"when": (pandas.Timestamp("2021-01-01", tz="Asia/Tokyo").to_pydatetime(), None)}
    assert (model.where(where).sample(20)["when"] >= pandas.Timestamp("2021-01-01", tz="Asia/Tokyo")).all()


def test_numbers_of_rows_are_left_out_of_frames_not_of_arrays(numbers):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"id": np.arange(1000, 1300), "x": numbers[:, 0], "y": numbers[:, 1]})
    with pytest.warns(nade.Warning, match="id"):
        assert nade.fit(frame, **QUICK).names == ["x", "y"]
    assert len(nade.fit(frame.to_numpy(), **QUICK).columns) == 3


def test_small_floats_are_their_decimals(numbers):
    model = nade.fit(numbers.astype(np.float32), **QUICK)
    assert [column.step for column in model.columns] == [0.001] * 4
    assert model.to_bytes() == nade.fit(numbers, **QUICK).to_bytes()


def test_polars(columns, model):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({name: array if array.dtype.kind in "fi" else array.tolist()
                              for name, array in columns.items()}).with_columns(
        polars.col("kind").cast(polars.Categorical), polars.col("size").fill_nan(None))
    scores = model.log_density(frame)
    assert isinstance(scores, polars.Series)
    assert scores.to_list() == model.log_density(columns).tolist()
    filled = model.impute(frame)
    assert filled.schema == frame.schema
    assert filled.null_count().sum_horizontal().item() == 0
    assert filled.filter(frame["size"].is_not_null())["size"].equals(frame["size"].drop_nulls())
    drawn = nade.fit(frame, **QUICK).sample(9)
    assert drawn.schema == frame.schema and drawn.height == 9
    assert model.log_density(frame.lazy()).equals(scores)


def test_pyarrow(columns, model):
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table({name: pyarrow.array(array, from_pandas=True) for name, array in columns.items()})
    table = table.set_column(4, "colour", table["colour"].dictionary_encode())
    expected = model.log_density(columns).tolist()
    assert model.log_density(table).to_pylist() == expected
    filled = model.impute(table)
    assert filled.schema == table.schema
    assert sum(column.null_count for column in filled.columns) == 0
    assert nade.fit(table, **QUICK).sample(5).schema.types == table.schema.types
    batch = table.combine_chunks().to_batches()[0]
    assert isinstance(model.impute(batch), pyarrow.RecordBatch)
    # A stream of many batches, as a reader of Parquet is one.
    reader = pyarrow.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=37))
    assert model.log_density(reader).tolist() == expected


def test_duckdb(columns, model):
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    frame = pandas_frame(columns)  # noqa: F841  (the query names it)
    found = model.log_density(duckdb.sql("select * from frame"))
    assert found.tolist() == model.log_density(columns).tolist()


def test_arrays(numbers, number_model):
    expected = number_model.log_density(numbers)
    for same in (np.asfortranarray(numbers), numbers[::-1][::-1], numbers.tolist(),
                 np.hstack([numbers, numbers])[:, :4]):
        np.testing.assert_array_equal(number_model.log_density(same), expected)
    holed = numbers.astype(np.float32)
    holed[3, 2] = np.nan
    filled = number_model.impute(holed)
    assert filled.dtype == np.float32 and not np.isnan(filled).any()
    assert np.isnan(holed[3, 2]), "what is given is not changed"
    assert number_model.sample(3).shape == (3, 4)
    assert isinstance(number_model.impute(holed.tolist()), list)


def test_memory_maps(numbers, number_model, tmp_path):
    np.save(tmp_path / "numbers.npy", numbers)
    mapped = np.load(tmp_path / "numbers.npy", mmap_mode="r")
    np.testing.assert_array_equal(number_model.log_density(mapped), number_model.log_density(numbers))


def test_dicts_and_records(columns, model):
    names = list(columns)
    records = [dict(zip(names, row)) for row in zip(*(array.tolist() for array in columns.values()))]
    expected = model.log_density(columns)
    np.testing.assert_array_equal(model.log_density(records), expected)
    np.testing.assert_array_equal([model.log_density(record)[0] for record in records[:20]], expected[:20])
    filled = model.impute(records)
    assert isinstance(filled, list) and filled[1]["x"] == records[1]["x"] and filled[0]["size"] is not None
    one = model.impute({**records[8], "kind": None})
    assert one["kind"] in ("high", "low") and one["when"] == records[8]["when"]


def test_lists_of_mixed_rows():
    rows = [[float(i % 7), "a" if i % 2 else "b", None if i % 5 == 0 else i / 3] for i in range(60)]
    model = nade.fit(rows, **QUICK)
    filled = model.impute(rows)
    assert isinstance(filled, list) and all(isinstance(row[2], float) for row in filled)
    assert {row[1] for row in model.sample(20).tolist()} <= {"a", "b"}


def test_objects_are_what_they_hold():
    """Columns of Python's objects: whole numbers, truth values, dates and mixtures, with None."""
    days = [datetime.date(2020, 1, 1) + datetime.timedelta(days=3 * i % 400) for i in range(200)]
    data = {"number": np.array([None if i % 9 == 0 else i % 50 for i in range(200)], dtype=object),
            "truth": np.array([None if i % 8 == 0 else i % 3 == 0 for i in range(200)], dtype=object),
            "day": np.array(days, dtype=object),
            "mixed": np.array(["one" if i % 2 else 2 for i in range(200)], dtype=object)}
    model = nade.fit(data, **QUICK)
    types = {column.name: column.type for column in model.columns}
    assert types["day"] == "date" and types["truth"] == "binary" and types["mixed"] == "binary"
    assert set(model.columns[3].labels) == {"one", "2"}


def test_loaded_models_draw_plain_types(model, tmp_path):
    pandas = pytest.importorskip("pandas")
    model.save(tmp_path / "model.nade")
    drawn = nade.load(tmp_path / "model.nade").sample(10)
    assert isinstance(drawn, pandas.DataFrame)
    assert drawn["count"].dtype.kind == "i" and drawn["when"].dtype.kind == "M" and drawn["x"].dtype == float


def test_truth_values_with_holes(columns, model):
    pandas = pytest.importorskip("pandas")
    flag = pandas.array([None if i % 9 == 0 else bool(truth) for i, truth in enumerate(columns["flag"])],
                        dtype="boolean")
    objects = np.array([None if i % 9 == 0 else bool(truth) for i, truth in enumerate(columns["flag"])], dtype=object)
    frame = pandas_frame(columns).assign(flag=flag)
    np.testing.assert_array_equal(model.log_density(frame), model.log_density({**columns, "flag": objects}))
    filled = model.impute(frame)["flag"]
    assert filled.dtype == "boolean" and not filled.isna().any()


def test_masked_arrays(numbers, number_model, columns, model):
    mask = np.random.default_rng(2).random(numbers.shape) < 0.1
    holed = np.where(mask, np.nan, numbers)
    masked = np.ma.array(numbers, mask=mask)
    np.testing.assert_array_equal(number_model.log_density(masked), number_model.log_density(holed))
    np.testing.assert_array_equal(number_model.impute(masked), number_model.impute(holed))
    whole = np.ma.array(np.rint(numbers).astype(int), mask=mask)
    np.testing.assert_array_equal(number_model.log_density(whole), number_model.log_density(np.rint(holed)))
    np.testing.assert_array_equal(number_model.log_density(np.ma.array(numbers)), number_model.log_density(numbers))
    gone = np.arange(400) % 6 == 0
    expected = {name: np.where(gone, None, array) for name, array in columns.items()}
    found = {name: np.ma.array(array, mask=gone) for name, array in columns.items()}
    found["x"] = np.ma.array(np.where(gone, np.inf, columns["x"]), mask=gone)
    np.testing.assert_array_equal(model.log_density(found), model.log_density(expected))
    points = np.ma.array([0.0, 1.0], mask=[False, True])
    density = number_model.density("0")
    np.testing.assert_array_equal(density.log_pdf(points), density.log_pdf([0.0, np.nan]))


def test_filled_objects_are_of_their_classes():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(3)
    picks, first = rng.integers(0, 300, 200), datetime.date(2020, 1, 1)
    noon, zone = datetime.datetime(2020, 1, 1, 12), datetime.timezone(datetime.timedelta(hours=2))
    made = {"truth": lambda i: bool(i % 2), "number": lambda i: int(i),
            "decimal": lambda i: decimal.Decimal(int(i)) / 4, "day": lambda i: first + datetime.timedelta(days=int(i)),
            "moment": lambda i: noon + datetime.timedelta(days=int(i)),
            "aware": lambda i: noon.replace(tzinfo=zone) + datetime.timedelta(days=int(i)),
            "stamp": lambda i: pandas.Timestamp(noon) + pandas.Timedelta(days=int(i)),
            "date64": lambda i: np.datetime64(first) + int(i), "float": lambda i: float(i) / 8}
    data = {name: np.array([None, *map(make, picks[1:])], dtype=object) for name, make in made.items()}
    model = nade.fit(data, **QUICK)
    filled = model.impute(data)
    assert {name: type(array[0]) for name, array in filled.items()} == {
        name: type(array[1]) for name, array in data.items()}
    assert filled["aware"][0].tzinfo == zone and datetime.date(2018, 1, 1) < filled["day"][0]
    frame = pandas.DataFrame(data, dtype=object)
    assert {name: type(frame[name][1]) for name in data} == {
        name: type(value) for name, value in model.impute(frame).iloc[0].items()}
    rows = [list(row) for row in zip(*data.values())]
    assert [type(cell) for cell in nade.fit(rows, **QUICK).impute(rows)[0]] == [type(cell) for cell in rows[1]]


def test_batches(model, columns):
    """A record batch comes back as one, without rows too."""
    pyarrow = pytest.importorskip("pyarrow")
    batch = pyarrow.record_batch(columns)
    for part in (batch, batch.slice(0, 0)):
        filled = model.impute(part)
        assert isinstance(filled, pyarrow.RecordBatch) and filled.schema == batch.schema
        assert filled.num_rows == part.num_rows and sum(column.null_count for column in filled.columns) == 0


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "dict", "array"])
def test_parts_without_rows(model, number_model, columns, numbers, kind):
    """As engines hand them out: answers without rows, of the same kind."""
    if kind in ("pandas", "polars", "pyarrow"):
        package = pytest.importorskip(kind)
        fine = {name: array.astype("datetime64[us]") if array.dtype.kind == "M" else array
                for name, array in columns.items()}
        whole = (package.table if kind == "pyarrow" else package.DataFrame)(fine)
        none = whole.slice(0, 0) if kind == "pyarrow" else whole[:0]
    else:
        none = {name: array[:0] for name, array in columns.items()} if kind == "dict" else numbers[:0]
    asked = number_model if kind == "array" else model
    name = asked.names[0]
    assert len(asked.log_density(none)) == 0
    filled = asked.impute(none)
    assert type(filled) is type(none) and len(asked.impute(none, draws=2, interval=0.5)) == 3
    answers = [asked.surprise(none), asked.surprise(none, of=name), asked.predict(none, of=name)]
    assert all(len(answer[name] if isinstance(answer, dict) and name in answer else []) == 0 for answer in answers)
    assert np.shape(asked.density(name, none).mean()) == (0,)
    if kind == "pandas":
        assert filled.equals(none) and list(answers[0].columns) == asked.names
    with pytest.raises(nade.Error, match="has (no|0) rows"):
        asked.check(none)


@pytest.mark.parametrize("nothing", [None, 3, "no-such-file.csv"])
def test_no_tables(nothing):
    with pytest.raises(nade.Error, match="expected a table|no-such-file.csv: cannot be opened"):
        nade.fit(nothing)


def test_prices_that_end_alike_stay_what_they_are(tmp_path):
    """Their step is 1, yet they are no whole numbers."""
    prices = np.random.default_rng(0).integers(5, 60, 400) + 0.99
    nade.fit({"price": prices, "x": np.arange(400) % 7 + 0.5}, **QUICK).save(tmp_path / "m")
    model = nade.load(tmp_path / "m")
    assert "0.99" in model.columns[0].kind
    drawn = model.sample(50, kind="dict")["price"]
    np.testing.assert_allclose(drawn - np.floor(drawn), 0.99)


def test_labels_are_numbers_only_where_these_say_all(tmp_path):
    """Codes come back as the file has them; labels that are plain numbers, whole or not, as numbers."""
    rng = np.random.default_rng(5)
    texts = {"ward": ["007", "012", "045", "103"], "zip": ["01234", "02139", "94110"], "signed": ["+5", "+7", "x"],
             "short": ["1e3", "2e3", "5e3"], "version": ["1.10", "1.2", "2"], "under": ["1_0", "2_0", "30"],
             "grade": ["1", "2", "3"], "half": ["0.5", "1", "1.5"], "float": ["1.0", "2.0", "3.0"]}
    rows = {name: rng.choice(labels, 400) for name, labels in texts.items()}
    path = tmp_path / "codes.csv"
    path.write_text("\n".join([",".join(rows), *(",".join(row) for row in zip(*rows.values()))]) + "\n")
    fitted = nade.fit(path, types={name: "categorical" for name in texts}, **QUICK)
    model = nade.from_bytes(fitted.to_bytes())
    assert {column.name: sorted(column.labels) for column in model.columns} == {
        name: sorted(labels) for name, labels in texts.items()}
    numbers = {"grade": [1, 2, 3], "half": [0.5, 1, 1.5], "float": [1, 2, 3]}
    drawn = model.sample(200, kind="dict")
    for frame in (drawn, {name: np.asarray(column) for name, column in model.impute(path).items()}):
        assert {name: sorted(set(frame[name].tolist())) for name in texts} == {**texts, **numbers}
        assert [frame[name].dtype.kind for name in texts] == ["O"] * 6 + ["i", "f", "i"]
    answer = model.predict(rows, of="ward")
    assert set(answer["ward"].tolist()) <= {name.partition("=")[2] for name in answer if "=" in name}
    assert model.density("zip").mode() in texts["zip"] and set(model.density("zip").sample(9)) <= set(texts["zip"])
    assert model.where(ward=12).sample(2, kind="dict")["ward"].tolist() == ["012", "012"]


@pytest.fixture(scope="module")
def stays(tmp_path_factory):
    """A file with durations, an amount in euros and marks of missing cells, and a model of it."""
    rng = np.random.default_rng(6)
    seconds, euros = rng.integers(0, 9000, 300), rng.normal(2000, 300, 300).round(1)
    path = tmp_path_factory.mktemp("stays") / "stays.csv"
    lines = [f"{s // 3600}:{s // 60 % 60:02}:{s % 60:02};{'-' if i % 20 == 3 else f'{e:.2f} €'.replace('.', ',')};"
             f"{'ab'[i % 2]}" for i, (s, e) in enumerate(zip(seconds, euros))]
    path.write_text("\n".join(["operation;price;kind", *lines]) + "\n", encoding="utf-8")
    return path, nade.fit(path, **QUICK), seconds


def test_texts_count_as_in_a_file(stays):
    pandas = pytest.importorskip("pandas")
    path, model, _ = stays
    frame = pandas.read_csv(path, sep=";", dtype=str)
    assert frame["price"][3] == "-"
    np.testing.assert_array_equal(model.log_density(frame), model.log_density(path))
    filled = model.impute(frame)
    assert filled["price"].drop(range(3, 300, 20)).equals(frame["price"].drop(range(3, 300, 20)))
    assert "-" not in set(filled["price"])
    with pytest.raises(nade.BadInput, match="row 0, column 'price': found '--', expected a number"):
        model.log_density(frame.assign(price="--"))


def test_durations_are_seconds(stays):
    """Of a file and of frames of all kinds, whatever their units; they come back in the frame's type."""
    pandas = pytest.importorskip("pandas")
    path, model, seconds = stays
    frame = pandas.read_csv(path, sep=";", dtype=str)
    expected = model.log_density(path).tolist()
    columns = {name: frame[name].to_numpy(dtype=object) for name in frame}
    lengths = seconds.astype("timedelta64[s]")
    objects = lengths.astype("timedelta64[us]").astype(object)
    for form in (lengths, lengths.astype("timedelta64[ns]"), objects):
        assert model.log_density({**columns, "operation": form}).tolist() == expected
    holed = lengths.astype("timedelta64[us]").copy()
    holed[5] = np.timedelta64("NaT")
    frame["operation"] = holed
    frames = [frame, {**columns, "operation": holed}]
    for package in ("polars", "pyarrow"):
        module = pytest.importorskip(package)
        frames.append(module.from_pandas(frame) if package == "polars" else module.Table.from_pandas(frame))
    for one in frames:
        assert np.asarray(model.log_density(one)).tolist()[6:] == expected[6:]
        before, after = one["operation"], model.impute(one)["operation"]
        cells = after.to_pylist() if hasattr(after, "to_pylist") else list(np.asarray(after).astype(object))
        assert type(after) is type(before) and getattr(after, "dtype", 0) == getattr(before, "dtype", 0)
        assert all(isinstance(cell, datetime.timedelta) for cell in cells[:9])
        assert datetime.timedelta(0) <= cells[5] < datetime.timedelta(hours=3)
        drawn = nade.fit(one, drop="price", **QUICK).sample(4)["operation"]
        kind = "type" if hasattr(before, "type") else "dtype"
        assert str(getattr(drawn, kind)) == str(getattr(before, kind))
    filled = model.impute(frame.astype({"operation": object}))["operation"]
    assert filled.dtype == object and type(filled[5]) is type(filled[6]) is pandas.Timedelta
    where = model.where(operation=(datetime.timedelta(hours=1), np.timedelta64(2, "h"))).sample(50, kind="dict")
    assert 3600 <= where["operation"].min() and where["operation"].max() <= 7200
    assert model.prob(operation=(datetime.timedelta(hours=1), None)) == model.prob(operation=(3600, None))


def test_answers_of_files_are_frames(stays):
    pandas = pytest.importorskip("pandas")
    path, model, _ = stays
    answers = [model.predict(path, of="kind"), model.surprise(path), *model.impute(path, interval=0.5)]
    assert all(isinstance(answer, pandas.DataFrame) and len(answer) == 300 for answer in answers)
    frame = model.impute(path).drop(columns="kind")
    assert list(answers[0].columns) == list(model.predict(frame, of="kind").columns) == ["kind", "kind=a", "kind=b"]
