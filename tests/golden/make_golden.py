#!/usr/bin/python3
"""Writes golden.txt, what reference.py says the C library has to compute; --check compares instead.

    python3 make_golden.py            writes golden.txt beside this file
    python3 make_golden.py --check    fails unless golden.txt says the same within 1e-12

Each line is `name count v v v ...`; names begin with their case.  Numbers read back exactly.  Shapes:

    CASE.kinds         (D) character codes of tests/support's letters: b, r, a, g, c, o, n, or a digit for so many labels
    CASE.architecture  components, activation (0 relu, 1 sigmoid, 2 tanh), masks; of a residual network also blocks, direct
    CASE.hidden        (L); of a residual network its width
    CASE.ordering      (D), only of networks of one ordering
    CASE.TENSOR        every tensor of the model file, (out, in) row-major
    CASE.train_cells, CASE.valid_cells   (rows, D), nan is missing
    CASE.observed      (training rows, D), the sets for CASE.loss and CASE.gradient.TENSOR; not with one ordering
    CASE.orders        (4, D), the first orderings of CASE.ordering_seed
    CASE.density       (4, validation rows), log p under each order
    CASE.density_given     the same orders with the first column given
    CASE.density_part      the first half (rounded up) of each order alone
    CASE.ensemble      (validation rows), the log of the mean of the four densities
    CASE.valid_loss    seed, repeats, loss on the validation rows (with one ordering the exact mean of -log p)
    CASE.nag, CASE.adam    rule: learning rate, momentum, weight decay, total updates, batch, seed; of a residual network
                           also the decay of direct, dropout
    CASE.nag.losses    (20) of each update; CASE.nag.TENSOR after the last; the same for adam
"""

import math
import os
import sys

import numpy as np

sys.dont_write_bytecode = True  # the source tree stays clean

import reference as ref

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden.txt")

ACTIVATIONS = ["relu", "sigmoid", "tanh"]
TRAIN_ROWS, VALID_ROWS, ORDERS, UPDATES, REPEATS = 13, 9, 4, 20, 3
ORDERING_SEED, TRAIN_SEED, VALID_SEED = 17, 4000000007, 23
RULES = [ref.UpdateRule("nag", 0.02, 0.9, 0.01, 25, 7, TRAIN_SEED),
         ref.UpdateRule("adam", 0.01, 0.9, 0.02, 25, 7, TRAIN_SEED)]
RESIDUAL_RULES = [RULES[0]._replace(learning_rate=0.005, direct_decay=0.05, dropout=0.3), RULES[1]._replace(direct_decay=0.3, dropout=0.15)]

# name, kinds, hidden, components, activation, masks, share of missing cells; the ordering if there is only one; of a
# residual network None, blocks, direct
CASES = [
    ("binary_relu", "bbbbbb", [5], 1, "relu", True, 0.0),
    ("binary_sigmoid", "bbbbb", [5, 4], 1, "sigmoid", True, 0.0),
    ("binary_unmasked", "bbbbb", [6], 1, "relu", False, 0.0),
    ("real_tanh", "rrrr", [5, 4], 3, "tanh", True, 0.0),
    ("mixed_relu", "brcr4b", [9, 8, 7], 2, "relu", True, 0.0),
    ("mixed_missing", "brcr4b", [9, 8, 7], 2, "relu", True, 0.3),
    ("mixed_unmasked", "rcbbr", [7, 3], 2, "sigmoid", False, 0.2),
    ("categorical", "c2c5", [5], 1, "tanh", True, 0.0),
    ("single_binary", "b", [3], 1, "relu", True, 0.0),
    ("single_real", "r", [3, 2], 2, "tanh", True, 0.0),
    ("fixed_binary", "bbbbbbb", [8], 1, "relu", False, 0.0, [4, 0, 6, 2, 5, 1, 3]),
    ("fixed_mixed", "brcr4b", [9], 2, "sigmoid", False, 0.3, [5, 3, 4, 0, 1, 2]),
    ("atoms_tanh", "ara", [5, 4], 3, "tanh", True, 0.0),
    ("atoms_missing", "bac4ar", [7, 6], 4, "relu", True, 0.3),
    ("fixed_atoms", "arab", [8], 3, "relu", False, 0.2, [2, 3, 0, 1]),
    ("counts_tanh", "nnn", [5, 4], 3, "tanh", True, 0.0),
    ("counts_missing", "nbrnc", [7, 6], 2, "relu", True, 0.3),
    ("fixed_counts", "nbn", [8], 2, "sigmoid", False, 0.2, [2, 0, 1]),
    ("shapes_tanh", "gog", [5, 4], 3, "tanh", True, 0.0),
    ("shapes_missing", "bgorgg", [7, 6], 1, "relu", True, 0.3),
    ("shapes_unmasked", "gco", [6], 4, "sigmoid", False, 0.2),
    ("fixed_shapes", "gorg", [8], 3, "relu", False, 0.2, [2, 3, 0, 1]),
    ("residual_binary", "bbbbbb", [5], 1, "relu", True, 0.0, None, 1, True),
    ("residual_real", "rrr", [6], 3, "relu", True, 0.0, None, 2, False),
    ("residual_mixed", "brcg4b", [7], 2, "relu", True, 0.3, None, 3, True),
    ("residual_unmasked", "rcbo", [5], 2, "relu", False, 0.2, None, 2, True),
]


def observed_sets(cells, seed):
    """Random sets that leave every row a target; the first row observes nothing, the second all present but one."""
    words = [ref.random_word(seed, ref.EXAMPLE + 3, 0, i, 0) for i in range(len(cells))]
    words[0], words[1] = 0, ref.WORD
    return np.array([ref.observed_set(row, words[i], seed, ref.EXAMPLE + 4, 0, i) for i, row in enumerate(cells)])


def describe(kinds, net, parameters):
    yield "kinds", [ord(k) for k in kinds]
    residual = [net.blocks, int(net.direct)] if net.blocks else []
    yield "architecture", [net.components, ACTIVATIONS.index(net.activation), int(net.masks)] + residual
    yield "hidden", net.hidden
    yield from parameters.items()


def densities(net, parameters, cells):
    columns = len(net.columns)
    orders = [ref.ordering(ORDERING_SEED, k, columns) for k in range(ORDERS)]
    yield "ordering_seed", [ORDERING_SEED]
    yield "orders", orders
    yield "density", [ref.log_density(net, parameters, cells, order) for order in orders]
    yield "density_given", [ref.log_density(net, parameters, cells, order, 1) for order in orders]
    yield "density_part", [ref.log_density(net, parameters, cells, order[:(columns + 1) // 2]) for order in orders]
    yield "ensemble", ref.ensemble_log_density(net, parameters, cells, orders)


def trace(net, parameters, cells, rule, order):
    losses, trained = ref.train(net, parameters, cells, rule, UPDATES, order)
    yield rule.optimizer, rule[1:] if net.blocks else rule[1:7]
    yield rule.optimizer + ".losses", losses
    for name, values in trained.items():
        yield f"{rule.optimizer}.{name}", values


def loss_and_gradients(net, parameters, cells, seed, order):
    if order is None:
        observed = observed_sets(cells, seed)
        loss, gradients = ref.loss_and_gradients(net, parameters, cells, observed)
        yield "observed", observed
    else:
        loss, gradients = ref.fixed_loss_and_gradients(net, parameters, cells, order)
        yield "ordering", order
    yield "loss", [loss]
    for name, gradient in gradients.items():
        yield "gradient." + name, gradient


def validation_loss(net, parameters, cells, order):
    if order is None:
        return ref.validation_loss(net, parameters, cells, VALID_SEED, REPEATS)
    return -ref.log_density(net, parameters, cells, order).mean()


def entries_of_case(seed, kinds, hidden, components, activation, masks, missing, order=None, blocks=0, direct=False):
    net = ref.Network(ref.columns_of(kinds, order is not None), hidden, components, activation, masks, blocks, direct)
    parameters = ref.example_parameters(net, seed)
    train_cells = ref.example_cells(net, TRAIN_ROWS, 2 * seed, missing)
    valid_cells = ref.example_cells(net, VALID_ROWS, 2 * seed + 1, missing)
    yield from describe(kinds, net, parameters)
    yield "train_cells", train_cells
    yield "valid_cells", valid_cells
    yield from loss_and_gradients(net, parameters, train_cells, seed, order)
    yield from densities(net, parameters, valid_cells)
    yield "valid_loss", [VALID_SEED, REPEATS, validation_loss(net, parameters, valid_cells, order)]
    for rule in RESIDUAL_RULES if blocks else RULES:
        yield from trace(net, parameters, train_cells, rule, order)


def entries():
    """All names and values, flat."""
    for number, (case, *rest) in enumerate(CASES):
        for name, values in entries_of_case(number + 1, *rest):
            yield f"{case}.{name}", np.asarray(values, dtype=float).ravel()


def read_golden():
    golden = {}
    with open(PATH, encoding="ascii") as lines:
        for line in lines:
            name, count, *values = line.split()
            golden[name] = np.array([float(v) for v in values])
            if len(values) != int(count):
                raise SystemExit(f"golden.txt, {name}: {len(values)} numbers where it says {count}")
    return golden


def difference(found, expected):
    """Largest difference relative to the largest number of the line; infinite where shapes or holes differ."""
    if found is None or found.shape != expected.shape or np.any(np.isnan(found) != np.isnan(expected)):
        return math.inf
    scale = max(1e-300, float(np.nanmax(np.abs(expected))))
    return float(np.nanmax(np.abs(found - expected))) / scale


def check():
    golden = read_golden()
    for name, values in entries():
        off = difference(golden.pop(name, None), values)
        if not off <= 1e-12:
            raise SystemExit(f"golden.txt, {name}: differs from reference.py by {off:.1e}, run make_golden.py")
    if golden:
        raise SystemExit(f"golden.txt has lines that make_golden.py does not write: {', '.join(golden)}")


def write():
    with open(PATH, "w", encoding="ascii", newline="\n") as out:
        for name, values in entries():
            out.write(" ".join([name, str(len(values))] + [f"{v:.17g}" for v in values]) + "\n")


if __name__ == "__main__":
    if sys.argv[1:] not in ([], ["--check"]):
        raise SystemExit("usage: make_golden.py [--check]")
    check() if sys.argv[1:] else write()
