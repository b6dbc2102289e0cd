"""The tables of docs/data.md with their training and test rows, the same for all experiments."""
import csv
import gzip
import random

# census has test rows of its own.  Of the others these shares of the rows test, the first ones of an order drawn with this seed.
TEST_SHARES = {"tables": 0.1, "small": 0.2}
TEST_SHARE = 0.1  # of tables in other folders
SPLIT_SEED = 20160502
FOLDS = 5
MISSING = ("", "?", "NA")


def list_tables(data):
    """{name: files}: one file to split, or the training and the test rows."""
    found = {"census": [data / "census" / "train.csv.gz", data / "census" / "test.csv.gz"]}
    for folder in TEST_SHARES:
        found.update({path.name.removesuffix(".csv.gz"): [path] for path in sorted((data / folder).glob("*.csv.gz"))})
    return found


WINE = ["fixed acidity", "volatile acidity", "citric acid", "residual sugar", "chlorides", "free sulfur dioxide", "total sulfur dioxide",
        "density", "pH", "sulphates", "alcohol"]
PARKINSONS = ["test_time", "motor_UPDRS", "total_UPDRS", "Jitter(Abs)", "Jitter:PPQ5", "Jitter:DDP", "Shimmer(dB)", "Shimmer:APQ5",
              "Shimmer:APQ11", "Shimmer:DDA", "NHR", "HNR", "RPDE", "DFA", "PPE"]


def list_number_tables(data):
    """{name: (files, columns)}: the tables that have columns of numbers, of which these columns are kept (None: all)."""
    found = {"red_wine": ([data / "red_wine" / "winequality-red.csv"], WINE),
             "white_wine": ([data / "white_wine" / "winequality-white.csv"], WINE),
             "parkinsons": ([data / "parkinsons" / "parkinsons_updrs.csv.gz"], PARKINSONS)}
    for name, files in list_tables(data).items():
        if files[0].parent.name != "small":
            found[name] = (files, None)
    return found


def is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


def read_rows(path):
    """The names of the columns, c0, c1, … where the file has none, and the rows."""
    with gzip.open(path, "rt", newline="") if path.suffix == ".gz" else open(path, newline="") as file:
        delimiter = ";" if ";" in file.readline() else ","
        file.seek(0)
        rows = [row for row in csv.reader(file, skipinitialspace=True, delimiter=delimiter) if row]
    if all(map(is_number, rows[0])):
        return [f"c{i}" for i in range(len(rows[0]))], rows
    return rows[0], rows[1:]


def split_rows(files):
    names, rows = read_rows(files[0])
    if len(files) > 1:
        return names, rows, read_rows(files[1])[1]
    random.Random(SPLIT_SEED).shuffle(rows)
    held = round(TEST_SHARES.get(files[0].parent.name, TEST_SHARE) * len(rows))
    return names, rows[held:], rows[:held]


def write_split(folder, files, kept=None):
    """train.csv and test.csv, with the columns that are kept (None: all)."""
    names, train, test = split_rows(files)
    places = [names.index(name) for name in kept] if kept else range(len(names))
    for part, rows in (("train", train), ("test", test)):
        write_table(folder / f"{part}.csv", [names[place] for place in places], [[row[place] for place in places] for row in rows])


def write_table(path, names, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([names, *rows])


def read_table(path):
    """The names of the columns and the rows of a file of write_table's or of nade's."""
    with open(path, newline="") as file:
        rows = list(csv.reader(file))
    return rows[0], rows[1:]


def write_folds(folder, path):
    """foldN/train.csv and test.csv: every row is in the test rows of one fold, by its place in an order drawn with the seed."""
    names, rows = read_rows(path)
    random.Random(SPLIT_SEED).shuffle(rows)
    for fold in range(FOLDS):
        write_table(folder / f"fold{fold}" / "train.csv", names, [row for i, row in enumerate(rows) if i % FOLDS != fold])
        write_table(folder / f"fold{fold}" / "test.csv", names, [row for i, row in enumerate(rows) if i % FOLDS == fold])
