"""The C library as ctypes sees it: where it is, its structures and its functions.

Everything here says again in Python what include/nade/*.h says in C; tests/test_header.py holds the two together.
Nothing is compiled at import, and a call gives up the interpreter's lock while the library works.
"""
from __future__ import annotations

import ctypes
import os
from ctypes import (CFUNCTYPE, POINTER, Structure, c_char, c_char_p, c_double, c_float, c_int, c_int64, c_size_t,
                    c_uint, c_uint32, c_uint64, c_void_p)

__all__ = ["library", "path"]

# ---- structures ------------------------------------------------------------------------------------------------------

ALLOCATE = CFUNCTYPE(c_void_p, c_void_p, c_size_t)
RELEASE = CFUNCTYPE(None, c_void_p, c_void_p)
WARN = CFUNCTYPE(None, c_void_p, c_char_p)
SHARE_DONE = CFUNCTYPE(c_int, c_void_p, c_double)

# Enumerations are ints.
Status = c_int
Type = c_int
Device = c_int
Precision = c_int


class Allocator(Structure):
    _fields_ = [("user", c_void_p), ("allocate", ALLOCATE), ("release", RELEASE)]


class ContextOptions(Structure):
    _fields_ = [("size", c_size_t), ("allocator", Allocator), ("warn", WARN), ("warn_user", c_void_p),
                ("threads", c_uint), ("max_memory", c_size_t), ("budget_of", c_void_p), ("world", c_void_p)]


class ReadOptions(Structure):
    _fields_ = [("size", c_size_t), ("delimiter", c_char), ("header", c_int), ("columns", c_char_p),
                ("drop", c_char_p), ("names", POINTER(c_char_p)), ("name_count", c_size_t), ("rows", c_char_p),
                ("keep_text", c_int), ("missing", c_char_p), ("missing_only", c_int), ("decimal", c_char),
                ("thousands", c_char), ("written", POINTER(c_char_p)), ("array", c_char_p), ("map", c_int)]


class Column(Structure):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("named", c_int), ("type", Type), ("numeric", c_int),
                ("missing", c_size_t), ("label_count", c_size_t), ("labels", POINTER(c_char_p)), ("kind", c_char_p),
                ("form", c_char_p), ("written", c_char_p), ("left_out", c_char_p), ("holds", c_char * 256),
                ("separator", c_char), ("step", c_double), ("missing_values", POINTER(c_double)),
                ("missing_value_count", c_size_t)]


class Progress(Structure):
    _fields_ = [("size", c_size_t), ("stage", c_uint64), ("stages", c_uint64), ("iteration", c_uint64),
                ("iterations", c_uint64), ("update", c_uint64), ("updates", c_uint64), ("iteration_done", c_int),
                ("learning_rate", c_double), ("train_loss", c_double), ("valid_loss", c_double),
                ("best_valid_loss", c_double), ("best_iteration", c_uint64), ("seconds", c_double),
                ("soonest", c_uint64), ("fold", c_uint64), ("folds", c_uint64), ("start_loss", c_double),
                ("trial", c_uint64), ("trials", c_uint64), ("trial_done", c_int), ("chosen", c_uint64),
                ("ahead", c_uint64), ("width", c_size_t), ("dropout", c_double), ("direct", c_int),
                ("weight_decay", c_double), ("longer", c_int), ("folds_cut", c_int), ("member", c_uint64),
                ("members", c_uint64),
                ("components", c_size_t), ("prior", c_double), ("mixture_loss", c_double),
                ("mixture_components", c_size_t), ("mixture_cut", c_int), ("made", c_uint64),
                ("column_components", c_size_t), ("augment", c_uint64)]


class TrainPlan(Structure):
    _fields_ = [("size", c_size_t), ("train_rows", c_size_t), ("valid_rows", c_size_t), ("columns", c_size_t),
                ("inputs", c_size_t), ("outputs", c_size_t), ("parameters", c_size_t), ("updates", c_uint64),
                ("memory", c_uint64), ("folds", c_size_t), ("model", c_void_p), ("trials", c_size_t),
                ("members", c_size_t), ("copies", c_size_t), ("groups", c_size_t), ("open", c_int)]


REPORT = CFUNCTYPE(c_int, c_void_p, POINTER(Progress))
PLANNED = CFUNCTYPE(c_int, c_void_p, POINTER(TrainPlan))


class TrainOptions(Structure):
    _fields_ = [("size", c_size_t), ("hidden", POINTER(c_size_t)), ("layers", c_size_t), ("components", c_size_t),
                ("activation", c_int), ("masks", c_int), ("batch", c_size_t), ("iterations", c_uint64),
                ("updates", c_uint64), ("optimizer", c_int), ("learning_rate", c_double), ("momentum", c_double),
                ("weight_decay", c_double), ("patience", c_uint64), ("time_limit", c_double),
                ("valid_fraction", c_double), ("seed", c_uint32), ("device", Device), ("progress", REPORT),
                ("progress_user", c_void_p), ("order", c_int), ("ordering", POINTER(c_size_t)),
                ("pretrain", c_uint64), ("checkpoint", c_char_p), ("resume", c_char_p), ("precision", Precision),
                ("atoms", c_int), ("given", POINTER(c_size_t)), ("given_count", c_size_t), ("planned", PLANNED),
                ("planned_user", c_void_p), ("replication", c_void_p), ("clip", c_double), ("maps", c_int),
                ("cooldown", c_int), ("low", POINTER(c_double)), ("high", POINTER(c_double)), ("holes", c_int),
                ("average", c_double), ("blocks", c_size_t), ("width", c_size_t), ("dropout", c_double),
                ("direct", c_int), ("direct_decay", c_double), ("warmup", c_uint64), ("schedule", c_int),
                ("stratify", c_int), ("start", c_int), ("retries", c_uint64), ("folds", c_uint64),
                ("effort", c_int), ("members", c_uint64), ("bootstrap", c_int), ("kind", c_int), ("factors", c_size_t),
                ("prior", c_double), ("focus", c_uint32), ("compare", c_int), ("augment", c_uint64)]


class ScoreOptions(Structure):
    _fields_ = [("size", c_size_t), ("orderings", c_size_t), ("seed", c_uint32), ("order", POINTER(c_size_t)),
                ("device", Device), ("of", c_char_p), ("given", c_char_p), ("progress", SHARE_DONE),
                ("progress_user", c_void_p), ("unseen_missing", c_int), ("cells", c_int), ("precision", Precision),
                ("each", POINTER(c_double)), ("session", c_void_p), ("independent", POINTER(c_double)),
                ("values", POINTER(c_double)), ("value_rows", c_size_t)]


class ScoreSummary(Structure):
    _fields_ = [("size", c_size_t), ("rows", c_size_t), ("mean", c_double), ("standard_error", c_double),
                ("mean_ordering", c_double), ("mean_spread", c_double), ("gain", c_double),
                ("bits_per_cell", c_double), ("cells", c_size_t), ("orderings", c_size_t), ("unseen", c_size_t),
                ("first_unseen", c_char * 256), ("empty_rows", c_size_t)]


class SampleOptions(Structure):
    _fields_ = [("size", c_size_t), ("orderings", c_size_t), ("seed", c_uint32), ("order", POINTER(c_size_t)),
                ("first", c_uint64), ("device", Device), ("exact", c_int), ("low", POINTER(c_double)),
                ("high", POINTER(c_double)), ("precision", Precision), ("session", c_void_p), ("holes", c_int)]


class ImputeOptions(Structure):
    _fields_ = [("size", c_size_t), ("method", c_int), ("interval", c_double), ("seed", c_uint32),
                ("first", c_uint64), ("draws", c_uint32), ("first_draw", c_uint32), ("device", Device),
                ("exact", c_int), ("precision", Precision), ("session", c_void_p), ("by_member", c_int)]


class Prediction(Structure):
    _fields_ = [("size", c_size_t), ("column", c_size_t), ("device", Device), ("precision", Precision),
                ("session", c_void_p), ("exact", c_int), ("levels", POINTER(c_double)), ("level_count", c_size_t),
                ("points", POINTER(c_double)), ("point_count", c_size_t), ("probability", POINTER(c_double)),
                ("mean", POINTER(c_double)), ("quantile", POINTER(c_double)), ("below", POINTER(c_double)),
                ("upto", POINTER(c_double)), ("above", POINTER(c_double)), ("onward", POINTER(c_double)),
                ("log_density", POINTER(c_double))]


CHECK_LEVELS, CHECK_BINS, CHECK_WORST = 4, 20, 5


class ColumnCheck(Structure):
    _fields_ = [("size", c_size_t), ("cells", c_size_t), ("p_value", c_double), ("distance", c_double),
                ("off", c_double), ("inside", c_double * CHECK_LEVELS), ("hits", c_double),
                ("expected_hits", c_double), ("gain", c_double), ("standard_error", c_double),
                ("histogram", c_size_t * CHECK_BINS), ("fault", c_int), ("words", c_char * 256)]


class WorstRow(Structure):
    _fields_ = [("row", c_size_t), ("log_density", c_double), ("column", c_size_t), ("tail", c_double)]


class CheckSummary(Structure):
    _fields_ = [("size", c_size_t), ("rows", c_size_t), ("mean", c_double), ("standard_error", c_double),
                ("gain", c_double), ("gain_standard_error", c_double), ("mean_spread", c_double),
                ("level", c_double), ("harm", c_double), ("interval", c_double * CHECK_LEVELS),
                ("by_column", c_int), ("sample_rows", c_size_t), ("energy_distance", c_double),
                ("shuffled_columns", c_double), ("sample_p_value", c_double), ("samples_differ", c_int),
                ("worst", WorstRow * CHECK_WORST), ("worst_count", c_size_t), ("good", c_int),
                ("verdict", c_char * 512), ("unseen", c_size_t), ("first_unseen", c_char * 256)]


class BaselineOptions(Structure):
    _fields_ = [("size", c_size_t), ("kind", c_int), ("seed", c_uint32), ("cells", c_int),
                ("columns", POINTER(c_size_t)), ("column_count", c_size_t), ("train", POINTER(c_double)),
                ("train_rows", c_size_t), ("progress", SHARE_DONE), ("progress_user", c_void_p)]


class ArrowSchema(Structure):
    """Of the Arrow C data interface."""


class ArrowArray(Structure):
    """Of the Arrow C data interface."""


class ArrowArrayStream(Structure):
    """Of the Arrow C stream interface."""


RELEASE_SCHEMA = CFUNCTYPE(None, POINTER(ArrowSchema))
RELEASE_ARRAY = CFUNCTYPE(None, POINTER(ArrowArray))

ArrowSchema._fields_ = [("format", c_char_p), ("name", c_char_p), ("metadata", c_char_p), ("flags", c_int64),
                        ("n_children", c_int64), ("children", POINTER(POINTER(ArrowSchema))),
                        ("dictionary", POINTER(ArrowSchema)), ("release", RELEASE_SCHEMA), ("private_data", c_void_p)]
ArrowArray._fields_ = [("length", c_int64), ("null_count", c_int64), ("offset", c_int64), ("n_buffers", c_int64),
                       ("n_children", c_int64), ("buffers", POINTER(c_void_p)),
                       ("children", POINTER(POINTER(ArrowArray))), ("dictionary", POINTER(ArrowArray)),
                       ("release", RELEASE_ARRAY), ("private_data", c_void_p)]
ArrowArrayStream._fields_ = [("get_schema", c_void_p), ("get_next", c_void_p), ("get_last_error", c_void_p),
                             ("release", CFUNCTYPE(None, POINTER(ArrowArrayStream))), ("private_data", c_void_p)]

# The names that the header has for them.
STRUCTURES = {
    "nade_allocator": Allocator, "nade_context_options": ContextOptions, "nade_read_options": ReadOptions,
    "nade_column": Column, "nade_progress": Progress, "nade_train_plan": TrainPlan,
    "nade_train_options": TrainOptions, "nade_score_options": ScoreOptions, "nade_score_summary": ScoreSummary,
    "nade_sample_options": SampleOptions, "nade_impute_options": ImputeOptions, "nade_prediction": Prediction,
    "nade_column_check": ColumnCheck, "nade_worst_row": WorstRow, "nade_check_summary": CheckSummary,
    "nade_baseline_options": BaselineOptions,
}

# ---- words for numbers -----------------------------------------------------------------------------------------------

# Members of option structures whose values are words, each word's place being its number.
WORDS = {
    "activation": ("relu", "sigmoid", "tanh", "gelu", "silu"),
    "optimizer": ("nag", "adam", "lion"),
    "order": ("agnostic", "fixed"),
    "schedule": ("linear", "cosine"),
    "start": ("random", "marginals"),
    "effort": ("quick", "normal", "best"),
    "kind": ("network", "mixture", "gaussian", "mog", "mfa"),
    "device": ("auto", "cpu", "reference", "cuda"),
    "precision": ("auto", "fp32", "tf32", "bf16"),
    "method": ("draw", "mean", "median", "mode"),
}

# What a model is compared with, and whether a column is calibrated, by their numbers.
BASELINES = ("gaussian", "mixture")
FAULTS = ("none", "harmless", "found")

TIDY_ABSENCE, TIDY_SENTINELS, TIDY_COLUMNS, TIDY_WEIGHTS, TIDY_GROUPS, TIDY_TIMES = range(6)

# ---- functions -------------------------------------------------------------------------------------------------------

_DOUBLES = POINTER(c_double)
_SIZES = POINTER(c_size_t)

# Name: (result, arguments).  Handles are void pointers: the classes of _context.py and _tables.py keep them apart.
FUNCTIONS = {
    "nade_version": (c_char_p, []),
    "nade_context_options_init": (None, [POINTER(ContextOptions), c_size_t]),
    "nade_context_create": (Status, [POINTER(ContextOptions), POINTER(c_void_p)]),
    "nade_context_free": (None, [c_void_p]),
    "nade_last_error": (c_char_p, [c_void_p]),
    "nade_type_name": (c_char_p, [Type]),
    "nade_read_options_init": (None, [POINTER(ReadOptions), c_size_t]),
    "nade_table_read": (Status, [c_void_p, c_char_p, POINTER(ReadOptions), POINTER(c_void_p)]),
    "nade_reader_open": (Status, [c_void_p, c_char_p, POINTER(ReadOptions), POINTER(c_void_p)]),
    "nade_reader_next": (Status, [c_void_p, c_void_p, c_size_t, POINTER(c_void_p)]),
    "nade_reader_free": (None, [c_void_p]),
    "nade_table_from_array": (Status, [c_void_p, _DOUBLES, c_size_t, c_size_t, POINTER(c_char_p), POINTER(c_void_p)]),
    "nade_table_free": (None, [c_void_p]),
    "nade_table_rows": (c_size_t, [c_void_p]),
    "nade_table_columns": (c_size_t, [c_void_p]),
    "nade_table_column": (None, [c_void_p, c_size_t, POINTER(Column)]),
    "nade_table_text": (c_char_p, [c_void_p, c_size_t, c_size_t]),
    "nade_table_set_type": (Status, [c_void_p, c_void_p, c_char_p, Type]),
    "nade_table_tidy": (Status, [c_void_p, c_void_p, c_int, c_char_p]),
    "nade_choose_device": (Status, [c_void_p, c_void_p, c_void_p, POINTER(Device), POINTER(Precision), c_char_p,
                                    c_size_t]),
    "nade_train_options_init": (None, [POINTER(TrainOptions), c_size_t]),
    "nade_train": (Status, [c_void_p, c_void_p, c_void_p, POINTER(TrainOptions), POINTER(c_void_p)]),
    "nade_model_load": (Status, [c_void_p, c_char_p, POINTER(c_void_p)]),
    "nade_model_save": (Status, [c_void_p, c_void_p, c_char_p]),
    "nade_model_free": (None, [c_void_p]),
    "nade_model_columns": (c_size_t, [c_void_p]),
    "nade_model_column": (None, [c_void_p, c_size_t, POINTER(Column)]),
    "nade_model_description": (c_char_p, [c_void_p]),
    "nade_model_tensor": (POINTER(c_float), [c_void_p, c_char_p, _SIZES, _SIZES]),
    "nade_table_values": (Status, [c_void_p, c_void_p, c_void_p, c_char_p, _DOUBLES, _SIZES, _SIZES, c_char_p]),
    "nade_session_open": (Status, [c_void_p, c_void_p, Device, Precision, POINTER(c_void_p)]),
    "nade_session_free": (None, [c_void_p]),
    "nade_score_options_init": (None, [POINTER(ScoreOptions), c_size_t]),
    "nade_score": (Status, [c_void_p, c_void_p, c_void_p, POINTER(ScoreOptions), _DOUBLES, _DOUBLES,
                            POINTER(ScoreSummary)]),
    "nade_score_cells": (Status, [c_void_p, c_void_p, c_void_p, POINTER(ScoreOptions), _DOUBLES, _DOUBLES,
                                  POINTER(c_int)]),
    "nade_sample_options_init": (None, [POINTER(SampleOptions), c_size_t]),
    "nade_sample": (Status, [c_void_p, c_void_p, POINTER(SampleOptions), c_size_t, _DOUBLES]),
    "nade_impute_options_init": (None, [POINTER(ImputeOptions), c_size_t]),
    "nade_impute": (Status, [c_void_p, c_void_p, POINTER(ImputeOptions), c_size_t, _DOUBLES, _DOUBLES, _DOUBLES]),
    "nade_predict": (Status, [c_void_p, c_void_p, POINTER(Prediction), c_size_t, _DOUBLES]),
    "nade_table_from_arrow": (Status, [c_void_p, POINTER(ArrowSchema), POINTER(ArrowArray), POINTER(ReadOptions),
                                       POINTER(c_void_p)]),
    "nade_check": (Status, [c_void_p, c_void_p, c_void_p, POINTER(ScoreOptions), POINTER(CheckSummary),
                            POINTER(ColumnCheck)]),
    "nade_score_baseline": (Status, [c_void_p, c_void_p, POINTER(BaselineOptions), c_size_t, _DOUBLES, _DOUBLES,
                                     _DOUBLES, _SIZES]),
    "nade_reader_from_arrow": (Status, [c_void_p, POINTER(ArrowArrayStream), POINTER(ReadOptions),
                                        POINTER(c_void_p)]),
}


def _candidates() -> list[str]:
    """Where the library may be, best first: in the package, as NADE_LIBRARY says, beside the sources, installed."""
    here = os.path.dirname(os.path.abspath(__file__))
    found = [os.path.join(here, "libnade.so")]
    if os.environ.get("NADE_LIBRARY"):
        found.append(os.environ["NADE_LIBRARY"])
    checkout = os.path.dirname(os.path.dirname(here))
    if os.path.exists(os.path.join(checkout, "include", "nade", "nade.h")):
        found.append(os.path.join(checkout, "build", "libnade.so"))
    return [name for name in found if os.path.exists(name)] or [_installed()]


def _installed() -> str:
    import ctypes.util  # takes long to import, and is seldom needed

    return ctypes.util.find_library("nade") or "libnade.so.0"


def _open() -> tuple[ctypes.CDLL, str]:
    name = _candidates()[0]
    try:
        opened = ctypes.CDLL(name)
    except OSError as failure:
        raise ImportError(f"libnade was not found ({failure}): install the package with pip, build it with make, or "
                          "name the file in the environment variable NADE_LIBRARY") from None
    for function, (result, arguments) in FUNCTIONS.items():
        try:
            entry = getattr(opened, function)
        except AttributeError:
            raise ImportError(f"{name} has no {function}: it is of another version than this package") from None
        entry.restype, entry.argtypes = result, arguments
    return opened, name


library, path = _open()
