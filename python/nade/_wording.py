"""The library's sentences speak of its own options; Python's users have arguments."""
from __future__ import annotations

import re

# What a sentence of the library has, and what is said here instead. A %s stands for any text, which comes again at the
# %s, or as Python writes it at the %r, of what is said. The tests look whether src/ still has each of these.
WORDINGS = {
    "leave column '%s' out": "leave the column out with drop=%r",
    "leave column %zu out": "leave one out with drop=",
    "leave such columns out": "leave the column out with drop=",
    "leave names of rows out": "leave names of rows out with drop=",
    "leave their rows or columns out": "leave out their rows, or the column with drop=",
    "make column '%s' categorical": "give types={%r: 'categorical'}",
    "the list of columns whose absence is a value": "missing_as_value",
    "name the form of its dates": "name its form, as in types={'the column': 'date=DD/MM/YYYY'}",
    "the list of columns to keep": "keep",
    "name the columns to keep if something can": "name them with keep= if something can",
    "the list of columns that keep their sentinels": "keep_sentinels",
    "name the columns that keep their sentinels if these are values":
        "if they are values, name the columns with keep_sentinels=",
    "the list of %s columns": "types: %s columns",
    "`unseen_missing`": 'unseen="missing"',
    "training with `resume` goes on from it and writes one": "nade.fit(…, resume=…) goes on from it and returns one",
    "name the text in `missing`": "name the text with missing=",
    "name the marks in `decimal` and `thousands`": "name the marks with decimal= and thousands=",
    "name the mark in `decimal`": "name the mark with decimal=",
    "name the mark in `thousands`": "name the mark with thousands=",
    "name one in `array`": "name one with array=",
    "name what need not be there in `may_lack`": "name those that it has with given=",
    "trained with `holes`": "fitted with holes=True",
    " (`max_memory`)": "",
    "the column of weights": "weights",
    "the column of groups": "groups",
    "the column to split by": "times",
}

# Frames of all kinds come to the library as one of these.
_TABLE = re.compile(r"(?:^|(?<=columns of )|(?<=column of ))the (?:Arrow table|array)(?=[ ,:])")
# A text in quotes is the user's: a column may be named as our options are. The ' of "row's" or "can't" is no quote.
_QUOTED = r"(?<!\w)'.*?'(?!\w)"
_OPTION = r"`(\w+)`"


def _pattern(library: str) -> str:
    return re.sub(r"%(?:s|zu)", lambda _: "(.*?)", re.escape(library))


_PARTS = [f"(?P<w{i}>{_pattern(library)})" for i, library in enumerate(WORDINGS)]
_ALL = re.compile("|".join([*_PARTS, f"(?P<quoted>{_QUOTED})", _OPTION]))
_EACH = [(re.compile(_pattern(library)), here) for library, here in WORDINGS.items()]


def _said(match: re.Match[str]) -> str:
    if match.lastgroup == "quoted":
        return match.group()
    if match.lastgroup is None:  # an option that has the same name here
        return match.group()[1:-1]
    pattern, here = _EACH[int(match.lastgroup[1:])]
    found = pattern.fullmatch(match.group())
    assert found is not None
    any_ = found.group(1) if found.groups() else ""
    return here.replace("%s", any_).replace("%r", repr(any_))


def in_python(sentence: str) -> str:
    """A sentence of the library with the names of Python's arguments in place of the library's words."""
    return _ALL.sub(_said, _TABLE.sub("the table", sentence))
