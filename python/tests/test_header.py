"""The structures, functions and words of _library.py are those of include/nade/*.h."""
from __future__ import annotations

import ctypes
import pathlib
import re
import shutil
import subprocess

import pytest

from nade import _library as c
from nade import _train

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADERS = [ROOT / "include" / "nade" / name for name in ("nade.h", "train_options.h", "arrow.h", "check.h")]

pytestmark = pytest.mark.skipif(not HEADERS[0].exists() or shutil.which("cc") is None,
                                reason="needs the headers and a C compiler")

TIDIES = ["ABSENCE", "SENTINELS", "COLUMNS", "WEIGHTS", "GROUPS", "TIMES"]
ENUMS = {"nade_status", "nade_type", "nade_tidy", "nade_device", "nade_precision"}


def run_c(body: str, folder: pathlib.Path) -> list[list[str]]:
    """The lines that a C program with this body prints, split at blanks."""
    source = folder / "print.c"
    source.write_text('#include <stdio.h>\n#include <stddef.h>\n#include "nade/arrow.h"\n#include "nade/check.h"\nint main(void)\n{\n'
                      + body + "    return 0;\n}\n")
    subprocess.run(["cc", "-I", str(ROOT / "include"), "-o", str(folder / "print"), str(source)], check=True)
    printed = subprocess.run([str(folder / "print")], check=True, capture_output=True, text=True).stdout
    return [line.split() for line in printed.splitlines()]


def all_headers() -> str:
    """Without comments."""
    return "".join(re.sub(r"/\*.*?\*/", " ", header.read_text(), flags=re.DOTALL) for header in HEADERS)


def members_of(name: str) -> list[str]:
    """The members of a structure, in the header's order."""
    body = re.search(r"struct " + name + r" \{(.*?)\n\}", all_headers(), re.DOTALL).group(1)
    names = []
    for declaration in body.split(";"):
        function = re.search(r"\(\*(\w+)\)", declaration)
        if function:
            names.append(function.group(1))
        elif declaration.strip():
            names += [re.search(r"(\w+)(\[\w+\])?\s*$", part).group(1) for part in declaration.split(",")]
    return names


@pytest.mark.parametrize("name", [*c.STRUCTURES, "ArrowSchema", "ArrowArray", "ArrowArrayStream"])
def test_structures(name, tmp_path):
    ours = c.STRUCTURES.get(name) or getattr(c, name)
    members = [member for member, *_ in ours._fields_]
    assert members == members_of(name)
    tag = f"struct {name}"
    lines = run_c(f'    printf("size %zu 0\\n", sizeof({tag}));\n' + "".join(
        f'    printf("{member} %zu %zu\\n", offsetof({tag}, {member}), sizeof((({tag} *)0)->{member}));\n'
        for member in members), tmp_path)
    assert int(lines[0][1]) == ctypes.sizeof(ours)
    for member, offset, size in lines[1:]:
        field = getattr(ours, member)
        assert (member, field.offset, field.size) == (member, int(offset), int(size))


def declared_functions() -> dict[str, tuple[str, list[str]]]:
    found = {}
    for result, name, arguments in re.findall(r"NADE_API\s+([\w\s*]+?)\s*(nade_\w+)\(([^;]*)\);", all_headers()):
        found[name] = (result, [] if arguments.strip() == "void" else arguments.split(","))
    return found


def kind_of_argument(argument: str) -> str:
    if argument.endswith("]"):
        return "text"
    words = argument.replace("const", " ").replace("*", " * ").split()
    stars, base = words.count("*"), [word for word in words[:-1] if word not in ("*", "struct")][0]
    if stars:
        return "text" if base == "char" and stars == 1 else "pointer"
    return "int" if base in ENUMS or base == "int" else base


def kind_of_ours(type_) -> str:
    if type_ is ctypes.c_char_p:
        return "text"
    if type_ is ctypes.c_void_p or not isinstance(type_._type_, str):
        return "pointer"
    return {ctypes.c_int: "int", ctypes.c_size_t: "size_t"}[type_]


def test_functions():
    declared = declared_functions()
    assert set(declared) == set(c.FUNCTIONS)
    for name, (result, arguments) in declared.items():
        ours = c.FUNCTIONS[name]
        assert [kind_of_ours(type_) for type_ in ours[1]] == [kind_of_argument(one) for one in arguments], name
        expected = {"void": None, "nade_status": ctypes.c_int, "size_t": ctypes.c_size_t,
                    "const char *": ctypes.c_char_p,
                    "const float *": ctypes.POINTER(ctypes.c_float)}[" ".join(result.split())]
        assert ours[0] is expected, name


def test_train_options(tmp_path):
    """Every row of the list is an option of fit, with the default that the library sets."""
    rows = run_c('#define ROW(member, type, usual, ...) printf("%s %s %.17g\\n", #member, #type, (double)(usual));\n'
                 "    NADE_TRAIN_OPTIONS(ROW)\n", tmp_path)
    assert sorted(name for name, *_ in rows) == sorted(_train.OPTIONS)
    options = c.TrainOptions()
    c.library.nade_train_options_init(ctypes.byref(options), ctypes.sizeof(options))
    fields = dict(c.TrainOptions._fields_)
    types = {"SIZE": ctypes.c_size_t, "COUNT": ctypes.c_uint64, "WORD": ctypes.c_uint32, "REAL": ctypes.c_double}
    for name, type_, usual in rows:
        assert getattr(options, name) == float(usual), name
        assert fields[name] is types.get(type_, ctypes.c_int), name
        assert (name in c.WORDS) == (type_ not in types and type_ != "FLAG"), name


def test_words(tmp_path):
    lists = {"activation": "NADE_ACTIVATIONS", "optimizer": "NADE_OPTIMIZERS", "schedule": "NADE_SCHEDULES",
             "start": "NADE_STARTS", "effort": "NADE_EFFORTS", "kind": "NADE_KINDS", "order": "NADE_ORDERS"}
    body = "".join(f'#define ROW(value, word) printf("{member} %d %s\\n", (int)value, word);\n    {rows}(ROW)\n'
                   "#undef ROW\n" for member, rows in lists.items())
    for member, word in (("device", "DEVICE"), ("precision", "PRECISION"), ("method", "IMPUTE")):
        body += "".join(f'    printf("{member} %d {name}\\n", (int)NADE_{word}_{name.upper()});\n'
                        for name in c.WORDS[member])
    body += "".join(f'    printf("tidy %d {name}\\n", (int)NADE_TIDY_{name});\n'
                    for name in TIDIES)
    for member, words in (("baseline", c.BASELINES), ("fault", c.FAULTS)):
        body += "".join(f'    printf("{member} %d {word}\\n", (int)NADE_{member.upper()}_{word.upper()});\n'
                        for word in words)
    body += "".join(f'    printf("check_{word} %d {word}\\n", (int)NADE_CHECK_{word.upper()} - {number});\n'
                    for word, number in (("levels", c.CHECK_LEVELS), ("bins", c.CHECK_BINS), ("worst", c.CHECK_WORST)))
    found: dict[str, list[str]] = {}
    for member, number, word in run_c(body, tmp_path):
        assert int(number) == len(found.setdefault(member, []))
        found[member].append(word)
    assert found.pop("tidy") == TIDIES == sorted(TIDIES, key=lambda name: getattr(c, f"TIDY_{name}"))
    assert (tuple(found.pop("baseline")), tuple(found.pop("fault"))) == (c.BASELINES, c.FAULTS)
    assert [found.pop(f"check_{word}") for word in ("levels", "bins", "worst")] == [["levels"], ["bins"], ["worst"]]
    assert {member: tuple(words) for member, words in found.items()} == c.WORDS
    types = [c.library.nade_type_name(i) for i in range(7)]
    assert [name and name.decode() for name in types] == [*_train.TYPES, None]
