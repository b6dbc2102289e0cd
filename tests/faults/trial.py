"""Runs a scenario in a folder of its own and judges what came of it."""
import csv
import dataclasses
import hashlib
import json
import pathlib
import re
import shutil
import subprocess

from scenarios import ENVIRONMENT, OLD, SHORT

SECONDS = 60  # a run that takes longer hangs: undisturbed ones take hundredths
# Numbers of stderr that speak of time: "0.0 s", "2478 updates/s", "0:00 left", "seconds":0.01, "0 s for training".
TIMES = re.compile(rb"\d[\d.]* s\b|\d+ updates/s|\d+:\d\d(:\d\d)? left|\"seconds\":[\d.e-]+")


def without_seconds(text):
    """A summary of training with --json, in which nothing else changes from run to run."""
    return re.sub(rb'"seconds":[-+0-9.e]+', b'"seconds":0', text)


@dataclasses.dataclass
class Outcome:
    status: int  # negative: the number of a signal; None: it hung
    stdout: bytes
    stderr: bytes
    files: dict  # path in the folder: bytes
    left: int = 0  # temporary files among them

    def sentences(self):
        """The errors on stderr, plain or as JSON."""
        lines = self.stderr.decode(errors="replace").splitlines()
        plain = [line for line in lines if line.startswith("nade: ") and not line.startswith("nade: warning: ")]
        return plain + [line for line in lines if line.startswith('{"error":')]


def is_temporary(name):
    return ".tmp-" in name


class Trial:
    """A scenario with what it gives when nothing goes wrong."""

    def __init__(self, nade, scenario, fixtures, folder):
        self.nade, self.scenario, self.fixtures = nade, scenario, fixtures
        self.resumes = {}
        self.reference = self.run(folder)
        again = self.run(folder)
        if self.reference.status != 0:
            raise SystemExit(f"{scenario.name} fails undisturbed: {self.reference.stderr.decode()}")
        faults = self.judge(again, "", folder)
        if faults:
            raise SystemExit(f"{scenario.name} is not the same when run twice: {faults}")

    def command(self):
        """nade paper is another program: called by itself, its calls are counted from its own beginning."""
        verb, *words = self.scenario.arguments
        return [self.nade + "-paper", *words] if verb == "paper" else [self.nade, verb, *words]

    def run(self, folder, prefix=(), environment=()):
        folder = pathlib.Path(folder)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        scenario = self.scenario
        for output in scenario.outputs:
            (folder / output).write_bytes(OLD)
        for source, name in scenario.inputs:
            shutil.copyfile(self.fixtures / source, folder / name)
        with open(scenario.stdin or "/dev/null", "rb") as stdin:
            try:
                done = subprocess.run([*prefix, *self.command()], cwd=folder, stdin=stdin,
                                      env={**ENVIRONMENT, **dict(environment)}, capture_output=True, timeout=SECONDS)
            except subprocess.TimeoutExpired as late:
                return Outcome(None, late.stdout or b"", late.stderr or b"", {})
        files = {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
        return Outcome(done.returncode, without_seconds(done.stdout), done.stderr, files, sum(map(is_temporary, files)))

    def judge(self, outcome, words, folder, killed=False, left=False):
        """What is wrong with an outcome: a list of sentences.  words: a pattern that the error must hold, "" for any;
        left: temporary files may be left, since they could not be removed."""
        if left or killed:
            outcome.files = {name: content for name, content in outcome.files.items() if not is_temporary(name)}
        if outcome.status is None:
            return ["it hangs"]
        if killed and outcome.status == -9:
            return self.judge_files(outcome, folder)
        if outcome.status not in (0, 1, 2):
            return [f"it ends with {outcome.status}: {outcome.stderr.decode(errors='replace').strip()[-200:]}"]
        if outcome.status == 0:
            return self.judge_success(outcome, folder)
        faults = self.judge_files(outcome, folder)
        sentences = outcome.sentences()
        # A full disk may keep several outputs from being written; each has its sentence.
        if not 1 <= len(sentences) <= max(1, sum("could not be written" in x for x in sentences)):
            faults.append(f"{len(sentences)} sentences: {outcome.stderr.decode(errors='replace').strip()[-200:]}")
        elif not all(re.search(words, sentence) for sentence in sentences):
            faults.append(f"the wrong words: {sentences}")
        if not self.reference.stdout.startswith(outcome.stdout):
            faults.append("other bytes on stdout before the error")
        return faults

    def judge_success(self, outcome, folder):
        faults = []
        if outcome.stdout != self.reference.stdout:
            faults.append("other bytes on stdout with status 0")
        if outcome.stderr != self.reference.stderr and not self.scenario.timed:
            faults.append("another summary with status 0: " + outcome.stderr.decode(errors="replace").strip()[-200:])
        names = sorted(set(outcome.files) ^ set(self.reference.files))
        if b"could not be removed" in outcome.stderr:
            names = [name for name in names if not name.endswith(".checkpoint")]
        if names:
            faults.append(f"other files with status 0: {names}")
        for name in set(outcome.files) & set(self.reference.files):
            if not self.same(name, outcome.files[name]) and not self.is_warned_of(name, outcome, folder):
                faults.append(f"other bytes in {name} with status 0")
        return faults

    def is_warned_of(self, name, outcome, folder):
        """A checkpoint that can't be written does not end training: there is a warning, and the one before is kept."""
        if name != self.scenario.checkpoint or f"nade: warning: {name} ".encode() not in outcome.stderr:
            return False
        return outcome.files[name] == OLD or self.resumes_to_same(outcome.files[name], folder)

    def same(self, name, content):
        expected = self.reference.files[name]
        if name == self.scenario.log:
            return log_lines(content) == log_lines(expected)
        if name.endswith(".json"):
            return figures(content) == figures(expected)
        return content == expected

    def judge_files(self, outcome, folder):
        """After a failure or a kill every output is the old or the new one."""
        faults = []
        inputs = {name: (self.fixtures / source).read_bytes() for source, name in self.scenario.inputs}
        for name in self.scenario.outputs:
            content = outcome.files.get(name)
            if content is None:
                faults.append(f"{name} is gone")
            elif content == inputs.get(name, OLD) or content == self.reference.files[name]:
                continue
            elif name == self.scenario.log:
                if not log_is_prefix(content, self.reference.files[name]):
                    faults.append(f"the log has other lines: {content!r}")
            elif name != self.scenario.checkpoint or not self.resumes_to_same(content, folder):
                faults.append(f"{name} is neither the old nor the new one ({len(content)} bytes)")
        for name in sorted(set(outcome.files) - set(self.scenario.outputs)):
            if not name.startswith(tuple(part + "/" for part in self.scenario.folders)) or is_temporary(name):
                faults.append(f"{name} is left behind" if not is_temporary(name) else "a temporary file is left behind")
            elif name.endswith(".json") and not figures(outcome.files[name]):
                faults.append(f"{name} is no whole result")
        return faults

    def resumes_to_same(self, checkpoint, folder):
        """Whether training goes on from a checkpoint to the model of the undisturbed run."""
        key = hashlib.sha256(checkpoint).digest()
        if key not in self.resumes:
            place = pathlib.Path(str(folder) + ".resumed")
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir(parents=True)
            (place / "c").write_bytes(checkpoint)
            subprocess.run([self.nade, "train", self.scenario.arguments[1], "-o", "m", "--resume", "c", "--quiet",
                            *self.scenario.table, *SHORT[-2:]], cwd=place, env=ENVIRONMENT, capture_output=True, timeout=SECONDS)
            model = place / "m"
            self.resumes[key] = model.exists() and model.read_bytes() == self.reference.files["m"]
        return self.resumes[key]


def figures(content):
    """The figures of the results of nade paper, the rest of which speaks of time; None where it has none."""
    try:
        return [run["figures"] for run in json.loads(content)["runs"]]
    except (ValueError, KeyError):
        return None


def log_lines(content):
    """The lines of a training log without the column of seconds."""
    return [row[:7] + row[8:] for row in csv.reader(content.decode(errors="replace").splitlines())]


def log_is_prefix(content, expected):
    """Whole lines as expected, perhaps fewer; the last may be torn."""
    whole = content[:content.rfind(b"\n") + 1]
    lines = log_lines(whole)
    return lines == log_lines(expected)[:len(lines)]
