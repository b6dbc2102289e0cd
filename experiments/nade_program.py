"""The built command as experiments run it, and what is recorded of how a figure was made."""
import json
import pathlib
import re
import resource
import struct
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))
from source_tree import tree_hash  # noqa: E402, lies in bench/


def run(words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode:
        told = done.stderr.strip()[-300:].replace(f"{ROOT}/", "")
        raise RuntimeError(f"nade {words[1]} ended with {done.returncode}, expected 0: {told}")
    return done


def processor_seconds():
    """Of the programs that this process has run so far; others on the machine make no difference to it."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def read_model(path):
    """What the file says of the model, but its tensors."""
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
    return json.loads(header["__metadata__"]["nade"])


def name_machine(device):
    if device == "cuda":
        asked = ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]
        return subprocess.run(asked, capture_output=True, text=True).stdout.strip() or "cuda"
    found = re.search(r"^model name\s*:\s*(.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return found.group(1).strip() if found else "unknown CPU"


def name_sources(program):
    """What git calls the sources in whose tree the program lies; nothing where one is newer than the program."""
    tree = next((folder / "src" for folder in program.parents if (folder / "include/nade/nade.h").exists()), None)
    if not tree or any(path.stat().st_mtime > program.stat().st_mtime for path in tree.rglob("*") if path.is_file()):
        return ""
    return tree_hash(tree)
