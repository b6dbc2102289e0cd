"""What tools/faults and tools/kills run: small tables and models made with the command itself, and calls of every verb.

A scenario is one call of the command in a folder of its own.  `outputs` are the files that it writes there; before a run
each holds OLD, so that one can see whether it was kept or replaced.
"""
import dataclasses
import gzip
import io
import os
import pathlib
import random
import struct
import subprocess
import zipfile

OLD = b"what was there before\n"
SHORT = "--components 2 --batch 20 --iterations 2 --updates 3 --threads 1".split()
TRAIN = ["--hidden", "8,8", *SHORT]
ROW_COLUMNS = ("--weights", "b", "--groups", "d", "--columns", "a,c,e")
NUMBERS = ("--columns", "b,e")
ENVIRONMENT = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "NADE_CUDA_BACKEND": "", "LC_ALL": "C"}


@dataclasses.dataclass
class Scenario:
    name: str
    arguments: list
    outputs: tuple = ()
    inputs: tuple = ()  # (fixture, name): copies that the run may change
    checkpoint: str = ""  # of the outputs, the one that grows; any that resumes to the same model is right
    table: tuple = ()  # of the arguments, those about the table, which a resumed run needs too
    log: str = ""  # of the outputs, the CSV of iterations: whole lines at any time
    stdin: str = ""
    timed: bool = False  # stderr speaks of seconds
    folders: tuple = ()  # outputs in here are made by the run


def table(rows, seed, holes=0.0):
    draw = random.Random(seed)
    lines = ["a,b,c,d,e"]
    for _ in range(rows):
        x = draw.random()
        cells = [str(int(x < 0.5)), f"{x * 10:.3f}", str(int(x * 4)), draw.choice(("red", "green", '"blue, light"')),
                 f"{draw.gauss(0, 1):.2f}"]
        lines.append(",".join("" if draw.random() < holes and i != 2 else cell for i, cell in enumerate(cells)))
    return "\n".join(lines) + "\n"


def arff(text):
    rows = text.split("\n", 1)[1].replace('"blue, light"', "'blue, light'")
    types = ("{0,1}", "real", "integer", "{red,green,'blue, light'}", "numeric")
    return "@relation r\n" + "".join(f"@attribute {name} {kind}\n" for name, kind in zip("abcde", types)) + "@data\n" + rows


def numbers(rows, columns, seed):
    draw = random.Random(seed)
    return [[draw.gauss(0, 1) for _ in range(columns)] for _ in range(rows)]


def npy(values):
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({len(values)}, {len(values[0])}), }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    cells = b"".join(struct.pack(f"<{len(row)}d", *row) for row in values)
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + cells


def npz(values):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("train.npy", npy(values))
    return archive.getvalue()


def idx(rows, height, width, seed):
    draw = random.Random(seed)
    pixels = bytes(draw.choice((0, 1)) for _ in range(rows * height * width))
    return struct.pack(">4B3I", 0, 0, 8, 3, rows, height, width) + pixels


RECIPE = """{"table": "mine", "data_set": "made", "title": "a test", "kind": "patches",
 "data": {"train": "images", "test": "images", "valid_images": 1, "side": 3, "pool": 60, "fresh": 0, "valid_rows": 20,
          "test_rows": 30},
 "model": {"hidden": [6], "components": 2},
 "training": {"optimizer": "nag", "momentum": 0.9, "batch": 20, "iterations": 1, "updates": 2, "pretrain": 0,
              "lr": [0.01]},
 "seeds": [0], "orderings": [1, 2], "paper": {"1": 2.5}}
"""

BOLTZMANN = """{"table": "mine", "data_set": "made", "title": "a test", "kind": "split",
 "data": {"train": "images.idx", "valid": "images.idx", "test": "images.idx"}, "model": {"rbm": [3, 2]},
 "training": {"steps": 1, "batch": 2, "iterations": 1, "updates": 2, "momentum": 0.5, "lr": [0.01]},
 "estimate": {"length": 2, "rows": 2, "samples": 2, "sample_steps": 1}, "seeds": [0], "paper": {}}
"""


class Fixtures:
    """The files that scenarios read, in a folder."""

    def __init__(self, folder, nade, write_jpegs=None):
        self.folder, self.nade = pathlib.Path(folder).resolve(), nade
        self.folder.mkdir(parents=True, exist_ok=True)
        self.write("table.csv", table(60, 1).encode())
        self.write("holes.csv", table(12, 2, 0.3).encode())
        self.write("table.csv.gz", gzip.compress(table(60, 1).encode(), mtime=0))
        self.write("quotes.tsv", table(40, 3).replace(",", "\t").replace("blue\t", "blue,").encode())
        self.write("table.arff", arff(table(40, 6)).encode())
        values = numbers(40, 4, 4)
        self.write("array.npy", npy(values))
        self.write("array.npy.gz", gzip.compress(npy(values), mtime=0))
        self.write("array.npz", npz(values))
        self.write("images.idx", idx(30, 4, 4, 5))
        self.write("boltzmann.json", BOLTZMANN.encode())
        self.write("rows.txt", b"0\n3\n5\n7\n11\n13\n17\n19\n23\n29\n31\n37\n")
        self.write("order.txt", b"4,3,2,1,0\n")
        self.write("types.txt", b"a,real\nd,categorical\n")
        self.train("table.csv", "model.st", *TRAIN, "--seed", "3")
        self.train("table.csv", "fixed.st", *SHORT, "--order", "fixed", "--hidden", "8")
        self.train("table.csv", "count.st", *TRAIN, "--count", "c")
        self.train("table.csv", "members.st", *TRAIN, "--members", "3", "--count", "c")
        self.train("table.csv", "mixture.st", "--kind", "mixture", "--components", "3", "--count", "c")
        self.train("table.csv", "mog.st", "--kind", "mog", "--components", "2", *NUMBERS)
        self.train("holes.csv", "holes.st", *TRAIN, "--holes")
        self.train("images.idx", "image.st", *TRAIN)
        self.train("table.csv", "part.st", *TRAIN, "--checkpoint", self / "checkpoint.st", "--log", self / "part.csv",
                   "--time-limit", "0.000001")
        bits = subprocess.run([nade, "sample", self / "image.st", "-n", "6"], env=ENVIRONMENT, check=True,
                              capture_output=True).stdout.decode().splitlines()
        self.write("bits.csv", ("\n".join([bits[0]] + ["," * 8 + row.split(",", 8)[8] for row in bits[1:]]) + "\n").encode())
        if write_jpegs:
            (self / "images").mkdir(exist_ok=True)
            subprocess.run([write_jpegs, self / "images", "3", "12", "0"], check=True)
            self.write("recipe.json", RECIPE.encode())

    def __truediv__(self, name):
        return self.folder / name

    def write(self, name, content):
        (self / name).write_bytes(content)

    def train(self, data, model, *more):
        subprocess.run([self.nade, "train", self / data, "-o", self / model, "--quiet", *more],
                       env=ENVIRONMENT, check=True)


def scenarios(fixtures):
    def f(name):
        return str(fixtures / name)

    model, data, holes = f("model.st"), f("table.csv"), f("holes.csv")
    found = [
        Scenario("train", ["train", data, "-o", "m", *TRAIN], ("m",), timed=True),
        Scenario("train.checkpoint", ["train", data, "-o", "m", "--checkpoint", "c", "--log", "l", "--pretrain", "1",
                                      *TRAIN], ("m", "c", "l"), checkpoint="c", log="l", timed=True),
        Scenario("train.resume", ["train", data, "-o", "m", "--resume", "c", "--checkpoint", "c", "--log", "l",
                                  "--threads", "1"], ("m", "c", "l"), (("checkpoint.st", "c"), ("part.csv", "l")),
                 checkpoint="c", log="l", timed=True),
        Scenario("train.rates", ["train", data, "-o", "m", "--lr", "0.01,0.001", "--rows", f("rows.txt"), "--json",
                                 *TRAIN], ("m",), timed=True),
        Scenario("train.types", ["train", data, "-o", "m", "--types", f("types.txt"), *TRAIN], ("m",), timed=True),
        Scenario("train.dry-run", ["train", data, "-o", "m", "--dry-run", *TRAIN], ("m",)),
        Scenario("train.count", ["train", data, "-o", "m", "--count", "c", *TRAIN], ("m",), timed=True),
        Scenario("train.mixture", ["train", data, "-o", "m", "--count", "c", "--kind", "mixture", "--components", "3",
                                   "--threads", "2"], ("m",), timed=True),
        Scenario("train.mixture-folds", ["train", data, "-o", "m", "--kind", "mixture", "--components", "2", "--folds", "2",
                                         "--iterations", "2", "--threads", "1"], ("m",), timed=True),
        Scenario("train.mog", ["train", data, "-o", "m", *NUMBERS, "--kind", "mog", "--effort", "quick",
                               "--iterations", "2", "--max-memory", "64M", "--threads", "2"], ("m",), timed=True),
        Scenario("train.mfa", ["train", data, "-o", "m", *NUMBERS, "--kind", "mfa", "--components", "2",
                               "--prior", "1", "--effort", "quick", "--iterations", "2", "--threads", "1"], ("m",), timed=True),
        Scenario("score.mog", ["score", f("mog.st"), holes, "--of", "b", "--given", "e", "--threads", "1"]),
        Scenario("sample.mog", ["sample", f("mog.st"), "-n", "9", "--where", "2<=b<8", "--threads", "1"]),
        Scenario("impute.mog", ["impute", f("mog.st"), holes, "--method", "median", "--threads", "1"]),
        Scenario("train.holes", ["train", holes, "-o", "m", "--holes", *TRAIN], ("m",), timed=True),
        Scenario("train.folds", ["train", data, "-o", "m", "--folds", "2", "--start", "marginals", "--average", "0.9",
                                 "--retries", "1", *TRAIN], ("m",), timed=True),
        Scenario("train.trials", ["train", data, "-o", "m", "--log", "l", "--width", "3", "--folds", "2", *SHORT], ("m", "l"),
                 log="l", timed=True),
        Scenario("train.members", ["train", data, "-o", "m", "--checkpoint", "c", "--log", "l", "--members", "2",
                                   *TRAIN], ("m", "c", "l"), checkpoint="c", log="l", timed=True),
        Scenario("train.row-columns", ["train", data, "-o", "m", "--checkpoint", "c", "--members", "2", "--bootstrap",
                                       *ROW_COLUMNS, *TRAIN], ("m", "c"), checkpoint="c", table=ROW_COLUMNS, timed=True),
        Scenario("train.grouped-folds", ["train", data, "-o", "m", "--weights", "c", "--groups", "d", "--folds", "2",
                                         *TRAIN], ("m",), timed=True),
        Scenario("train.split-by", ["train", data, "-o", "m", "--split-by", "b", *TRAIN], ("m",), timed=True),
        Scenario("score.mixture", ["score", f("mixture.st"), holes, "--of", "a,b", "--given", "c", "--threads", "1"]),
        Scenario("score.mixture-cells", ["score", f("mixture.st"), holes, "--per-column", "--threads", "1"]),
        Scenario("sample.mixture", ["sample", f("mixture.st"), "-n", "9", "--where", "2<=b<8", "--threads", "1"]),
        Scenario("score.members", ["score", f("members.st"), data, "--threads", "1"]),
        Scenario("score.members-cells", ["score", f("members.st"), holes, "--per-column", "--threads", "1"]),
        Scenario("sample.members", ["sample", f("members.st"), "-n", "9", "--where", "2<=b<8", "--threads", "1"]),
        Scenario("impute.members", ["impute", f("members.st"), holes, "--method", "median", "--interval", "0.9",
                                    "--threads", "1"]),
        Scenario("info.members", ["info", f("members.st")]),
        Scenario("train.lion-gelu", ["train", data, "-o", "m", "--checkpoint", "c", "--optimizer", "lion", "--activation",
                                     "gelu", "--clip", "1", "--average", "0.9", *TRAIN], ("m", "c"), checkpoint="c", timed=True),
        Scenario("score", ["score", model, data, "--threads", "1"]),
        Scenario("score.count", ["score", f("count.st"), holes, "--per-column", "--threads", "1"]),
        Scenario("score.threads", ["score", model, data, "--threads", "2", "-o", "s"], ("s",)),
        Scenario("score.spread", ["score", model, "-", "--spread", "--threads", "1", "-o", "s"], ("s",), stdin=data),
        Scenario("score.cells", ["score", model, holes, "--cells", "--json", "--threads", "1"]),
        Scenario("score.per-column", ["score", model, holes, "--per-column", "--threads", "1"]),
        Scenario("score.of-given", ["score", model, data, "--of", "a,1", "--given", "d", "--ordering-file",
                                    f("order.txt"), "--threads", "1"]),
        Scenario("score.fixed", ["score", f("fixed.st"), data, "--threads", "1"]),
        Scenario("sample", ["sample", model, "-n", "20", "--threads", "1", "-o", "s"], ("s",)),
        Scenario("sample.where", ["sample", model, "-n", "9", "--where", "d=red", "--where", "2<=b<8", "--where",
                                  "e>-1", "--threads", "1"]),
        Scenario("sample.holes", ["sample", f("holes.st"), "-n", "9", "--holes", "--where", "2<=b<8", "--threads", "1"]),
        Scenario("sample.png", ["sample", f("image.st"), "-n", "4", "--image", "4x4", "--png", "p", "-o", "s",
                                "--threads", "1"], ("p", "s")),
        Scenario("impute", ["impute", model, holes, "--draws", "2", "--threads", "1"]),
        Scenario("impute.long", ["impute", f("members.st"), holes, "--draws", "2", "--form", "long", "--threads", "1", "-o",
                                 "s"], ("s",)),
        Scenario("impute.wide", ["impute", model, holes, "--draws", "2", "--form", "wide", "--json", "--threads", "1"]),
        Scenario("impute.mean", ["impute", model, holes, "--method", "mean", "--interval", "0.9", "--threads", "1", "-o",
                                 "s"], ("s",)),
        Scenario("impute.median", ["impute", model, holes, "--method", "median", "--threads", "1"]),
        Scenario("impute.mode", ["impute", model, holes, "--method", "mode", "--json", "--threads", "1"]),
        Scenario("impute.png", ["impute", f("image.st"), f("bits.csv"), "--image", "4x4", "--png", "p", "--draws", "3",
                                "--threads", "1"], ("p",)),
        Scenario("impute.count", ["impute", f("count.st"), holes, "--method", "median", "--threads", "1"]),
        Scenario("predict", ["predict", model, data, "--of", "b,d", "--threads", "1"]),
        Scenario("predict.joint", ["predict", model, holes, "--of", "a,d", "--joint", "--threads", "1"]),
        Scenario("prob", ["prob", model, "--where", "b<5", "--given", "d=red", "--draws", "40", "--threads", "1"]),
        Scenario("prob.draws", ["prob", model, "--where", "b<5", "--where", "d=red", "--draws", "40", "--threads", "1"]),
        Scenario("prob.json", ["prob", f("count.st"), "--where", "1<=c<3", "--draws", "40", "--json", "--threads", "1"]),
        Scenario("compare", ["compare", model, f("count.st"), holes, "--of", "a,b,d,e", "--per-column", "--threads", "1"]),
        Scenario("compare.gaussian", ["compare", "gaussian", model, holes, "--per-column", "--threads", "1"]),
        Scenario("compare.mixture", ["compare", f("count.st"), "mixture", holes, "--train", data, "--json", "--threads", "1"]),
        Scenario("compare.independent", ["compare", model, "independent", data, "--cells", "--json", "--threads", "1"]),
        Scenario("check", ["check", model, holes, "--threads", "1"]),
        Scenario("check.png", ["check", f("count.st"), data, "--rows", "20", "--json", "--png", "p", "--threads", "1"], ("p",)),
        Scenario("outliers", ["outliers", model, holes, "--draws", "20", "--threads", "1"]),
        Scenario("outliers.cell", ["outliers", model, holes, "--by", "cell", "--json", "--threads", "1"]),
        Scenario("outliers.reference", ["outliers", f("members.st"), holes, "--reference", data, "--top", "3", "--cells",
                                        "2", "--json", "--threads", "1", "-o", "s"], ("s",)),
        Scenario("info", ["info", model]),
        Scenario("info.json", ["info", model, "--json"]),
        Scenario("help", ["train", "--help"]),
    ]
    for file in ("table.csv.gz", "quotes.tsv", "array.npy", "array.npy.gz", "array.npz", "images.idx", "table.arff"):
        found.append(Scenario("load." + file, ["train", f(file), "-o", "m", *TRAIN], ("m",), timed=True))
    if (fixtures / "recipe.json").exists():
        found.append(Scenario("paper.patches", ["paper", f("recipe.json"), "--data", str(fixtures.folder), "--results",
                                                "r", "--threads", "1"], folders=("r",), timed=True))
    found.append(Scenario("paper.boltzmann", ["paper", f("boltzmann.json"), "--data", str(fixtures.folder), "--results", "r",
                                              "--threads", "1"], folders=("r",), timed=True))
    return found
