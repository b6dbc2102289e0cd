#!/usr/bin/python3
"""Tests of reference.py by itself: known answers, central differences, sums and integrals over all rows."""

import itertools
import math
import sys

import numpy as np

sys.dont_write_bytecode = True  # the source tree stays clean

import reference as ref

CASES = [("bbbb", [5], 1, "relu", True), ("brc", [5, 4], 2, "sigmoid", True), ("r2r", [4, 3], 3, "tanh", False),
         ("brcr", [6, 5, 4], 2, "relu", True), ("c", [3], 1, "tanh", True), ("arba", [5, 4], 4, "tanh", True)]


def check(true, what):
    if not true:
        raise SystemExit(f"reference.py is wrong: {what}")


def close(a, b, tolerance):
    a, b = np.asarray(a), np.asarray(b)
    return bool(np.all(np.abs(a - b) <= tolerance * max(1e-300, float(np.max(np.abs(b))))))


def network(kinds, hidden, components, activation, masks):
    return ref.Network(ref.columns_of(kinds), hidden, components, activation, masks)


def random_sets(cells, seed):
    """Observed sets that leave every row at least one target."""
    words = [ref.random_word(seed, ref.EXAMPLE + 3, 0, i, 0) for i in range(len(cells))]
    return np.array([ref.observed_set(row, words[i], seed, ref.EXAMPLE + 4, 0, i) for i, row in enumerate(cells)])


def test_philox():
    """The known answers that the Random123 library publishes with the generator."""
    known = [((0,) * 4, (0,) * 2, "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
             ((ref.WORD,) * 4, (ref.WORD,) * 2, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
             ((0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0),
              "d16cfe09 94fdcceb 5001e420 24126ea1")]
    for counter, key, answer in known:
        words = " ".join(f"{w:08x}" for w in ref.philox(counter, key))
        check(words == answer, f"Philox gives {words} for {counter}, {key}, not {answer}")


def test_gradients():
    """Every number of every tensor against a central difference."""
    for number, case in enumerate(CASES):
        net = network(*case)
        parameters = ref.example_parameters(net, number)
        cells = ref.example_cells(net, 6, number, 0.2)
        observed = random_sets(cells, number)
        loss, gradients = ref.loss_and_gradients(net, parameters, cells, observed)
        check(close(loss, ref.row_losses(net, parameters, cells, observed).mean(), 1e-14), "the two losses differ")
        for name, gradient in gradients.items():
            estimate = np.zeros_like(gradient)
            for at in np.ndindex(gradient.shape):
                side = []
                for step in (1e-5, -1e-5):
                    moved = dict(parameters)
                    moved[name] = parameters[name].copy()
                    moved[name][at] += step
                    side.append(ref.row_losses(net, moved, cells, observed).mean())
                estimate[at] = (side[0] - side[1]) / 2e-5
            error = np.max(np.abs(gradient - estimate)) / max(1e-3, np.max(np.abs(gradient)))
            check(error < 1e-7, f"gradient of {name} of {case} is off by {error:.1e} of its largest entry")


def test_fixed_gradients():
    """One ordering: the loss is the mean of -log p, its gradients are the central differences."""
    for kinds, activation, order in (("bbbb", "relu", [2, 0, 3, 1]), ("rc2b", "tanh", [3, 1, 0, 2]),
                                     ("abar", "tanh", [1, 2, 0, 3]), ("nbn", "tanh", [1, 2, 0])):
        net = network(kinds, [5], 3, activation, False)
        parameters = ref.example_parameters(net, 9)
        cells = ref.example_cells(net, 6, 9, 0.2)
        loss, gradients = ref.fixed_loss_and_gradients(net, parameters, cells, order)
        check(close(loss, -ref.log_density(net, parameters, cells, order).mean(), 1e-13), "the loss is not -log p")
        for name, gradient in gradients.items():
            estimate = np.zeros_like(gradient)
            for at in np.ndindex(gradient.shape):
                side = []
                for step in (1e-5, -1e-5):
                    moved = dict(parameters)
                    moved[name] = parameters[name].copy()
                    moved[name][at] += step
                    side.append(-ref.log_density(net, moved, cells, order).mean())
                estimate[at] = (side[0] - side[1]) / 2e-5
            error = np.max(np.abs(gradient - estimate)) / max(1e-3, np.max(np.abs(gradient)))
            check(error < 1e-7, f"fixed-order gradient of {name} of {kinds} is off by {error:.1e} of its largest entry")


def test_residual_gradients():
    """Residual networks, a third of whose units are dropped or none: every tensor against a central difference."""
    for number, (kinds, blocks, direct, share) in enumerate((("bbbb", 1, True, 0.0), ("brc", 2, False, 0.3),
                                                             ("r2g", 3, True, 0.3))):
        net = ref.Network(ref.columns_of(kinds), [4], 2, "relu", True, blocks, direct)
        parameters = ref.example_parameters(net, number)
        cells = ref.example_cells(net, 5, number, 0.2)
        observed = random_sets(cells, number)
        factors = ref.dropout_factors(net, share, 3, 1 << 33, 5)
        kept = np.mean(factors > 0)
        check(kept == 1.0 if share == 0.0 else 0.4 < kept < 0.95, f"dropout of {share} keeps {kept}")
        gradients = ref.loss_and_gradients(net, parameters, cells, observed, factors)[1]
        for name, gradient in gradients.items():
            estimate = np.zeros_like(gradient)
            for at in np.ndindex(gradient.shape):
                side = []
                for step in (1e-5, -1e-5):
                    moved = dict(parameters)
                    moved[name] = parameters[name].copy()
                    moved[name][at] += step
                    side.append(ref.loss_and_gradients(net, moved, cells, observed, factors)[0])
                estimate[at] = (side[0] - side[1]) / 2e-5
            error = np.max(np.abs(gradient - estimate)) / max(1e-3, np.max(np.abs(gradient)))
            check(error < 1e-7, f"gradient of {name} of the residual {kinds} is off by {error:.1e} of its largest entry")


def states(net):
    """All rows of a discrete network."""
    return np.array(list(itertools.product(*(range(c.values) for c in net.columns))), dtype=float)


def test_sums():
    """Densities of all states sum to one: each ordering, an ensemble, a conditional."""
    for kinds, hidden, masks in (("bbbbbb", [5], True), ("b2c4", [5, 4, 3], True), ("bcb", [4], False)):
        net = network(kinds, hidden, 1, "relu", masks)
        parameters = ref.example_parameters(net, 3)
        orders = [ref.ordering(5, k, len(kinds)) for k in range(4)]
        for order in orders:
            total = np.exp(ref.log_density(net, parameters, states(net), order)).sum()
            check(close(total, 1.0, 1e-12), f"densities of {kinds} under {order} sum to {total}")
        total = np.exp(ref.ensemble_log_density(net, parameters, states(net), orders)).sum()
        check(close(total, 1.0, 1e-12), f"ensemble densities of {kinds} sum to {total}")
        given = states(net)[:, orders[0][0]] == 1
        total = np.exp(ref.log_density(net, parameters, states(net)[given], orders[0], 1)).sum()
        check(close(total, 1.0, 1e-12), f"conditional densities of {kinds} sum to {total}")


def test_marginal():
    """A missing cell at the end of the ordering is what summing over it gives; elsewhere, the order loses it."""
    net = network("bcb", [5, 4], 1, "tanh", True)
    parameters = ref.example_parameters(net, 4)
    order = [2, 0, 1]
    full = np.exp(ref.log_density(net, parameters, states(net), order)).reshape(2, 3, 2)
    holes = states(net)
    holes[:, 1] = math.nan
    part = np.exp(ref.log_density(net, parameters, holes, order)).reshape(2, 3, 2)
    check(close(part[:, 0], full.sum(axis=1), 1e-13), "a missing cell is not marginalised")
    moved = ref.log_density(net, parameters, holes, [1, 2, 0])
    check(close(moved, ref.log_density(net, parameters, holes, order), 0.0), "a missing cell changes the ordering")


def test_integral():
    """The density of two real columns integrates to one (trapezia; the integrand vanishes at the ends)."""
    net = network("rr", [5, 4], 3, "tanh", True)
    parameters = ref.example_parameters(net, 5)
    line = np.linspace(-25.0, 25.0, 801)
    cells = np.array(list(itertools.product(line, line)))
    total = np.exp(ref.log_density(net, parameters, cells, [1, 0])).sum() * (line[1] - line[0]) ** 2
    check(close(total, 1.0, 1e-9), f"the density integrates to {total}")


def test_atoms():
    """The density of a column with atoms: its integral and, times the width, its points add up to one."""
    net = network("ara", [5, 4], 4, "tanh", True)
    parameters = ref.example_parameters(net, 6)
    line, atoms = np.linspace(-25.0, 25.0, 1601) + 0.01, np.array(net.columns[0].atoms)
    places = np.concatenate([line, atoms])
    width = np.concatenate([np.full(len(line), line[1] - line[0]), np.full(2, math.sqrt(12.0) * 0.05)])
    for seen in (0.0, 0.3):
        cells = np.stack([places, np.full(len(places), 0.7), np.full(len(places), seen)], axis=1)
        total = (np.exp(ref.log_density(net, parameters, cells, [1, 2, 0], 2)) * width).sum()
        check(close(total, 1.0, 1e-9), f"integral and points of a column with atoms add up to {total}")


def test_objective():
    """The mean of eq. (12) over all d and observed sets is the mean over orderings of -log p, missing cells or not."""
    for kinds, missing in (("brcb", 0.0), ("brcb", 0.3), ("rb2br", 0.0)):
        net = network(kinds, [5, 4], 2, "relu", True)
        parameters = ref.example_parameters(net, 6)
        row = ref.example_cells(net, 1, 11, missing)
        orders = list(itertools.permutations(range(len(kinds))))
        direct = -np.mean([ref.log_density(net, parameters, row, order)[0] for order in orders])
        present = [c for c in range(len(kinds)) if not math.isnan(row[0, c])]
        estimates = []
        for order, known in itertools.product(itertools.permutations(present), range(len(present))):
            observed = np.zeros(row.shape)
            observed[0, list(order[:known])] = 1
            estimates.append(ref.row_losses(net, parameters, row, observed)[0])
        check(close(np.mean(estimates), direct, 1e-12), f"eq. (12) is biased: {np.mean(estimates)} for {direct}")


def test_draws():
    """d-1 covers 0..n-1, missing cells are never observed, and repeats of a validation row are stratified."""
    net = network("bbbbb", [3], 1, "relu", True)
    cells = ref.example_cells(net, 10, 7, 0.3)
    present = (~np.isnan(cells)).sum(axis=1)
    check(present.min() >= 1 and present.min() < 5, "the example has no missing cells, or an empty row")
    for update in range(50):
        rows, observed = ref.training_draws(cells, 1, update, 7)
        check(np.all(observed.sum(axis=1) < present[rows]), "no target is left")
        check(not np.any(observed[np.isnan(cells[rows])]), "a missing cell is observed")
    sets = ref.validation_draws(np.zeros((10, 5)), 1, 5)
    check(np.all(np.sort(sets.sum(axis=2), axis=0) == np.arange(5)[:, None]), "five repeats do not cover d = 1..5")


def test_training():
    """Both optimisers bring the loss of a tiny problem down; no weight decay means that only gradients move weights."""
    net = network("bbb", [6], 1, "relu", True)
    cells = np.array([[0.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    parameters = ref.example_parameters(net, 8)
    for optimizer, rate in (("nag", 0.05), ("adam", 0.02)):
        rule = ref.UpdateRule(optimizer, rate, 0.9, 0.0, 300, 8, 1)
        losses, trained = ref.train(net, parameters, cells, rule, 300)
        last = np.mean(losses[-30:])
        check(last < 0.5 * np.mean(losses[:30]) and last > math.log(2.0) - 0.1, f"{optimizer} ends at {last}")
        check(not close(trained["output.bias"], parameters["output.bias"], 1e-3), f"{optimizer} moves no bias")


def main():
    for test in (test_philox, test_gradients, test_fixed_gradients, test_residual_gradients, test_sums, test_marginal,
                 test_integral, test_atoms, test_objective, test_draws, test_training):
        test()
        print(f"{test.__name__}: ok")


if __name__ == "__main__":
    main()
