"""The cases that are timed: columns D, hidden layers L of H units, mixture components C (0: binary columns), batch B."""
import collections

Case = collections.namedtuple("Case", "columns units layers components batch blocks", defaults=[0])

CASES = {
    "uci1": Case(123, 500, 1, 0, 100),
    "wine2": Case(11, 50, 2, 20, 100),
    "mnist1": Case(784, 500, 1, 0, 1000),
    "mnist2": Case(784, 500, 2, 0, 1000),
    "bsds6": Case(63, 1000, 6, 10, 1000),
}

# Residual networks of so many blocks as plain `nade train` trains them on a CPU: small tables, and those of 5000 rows and
# more; binary columns and real ones.
RESIDUAL = {
    "res128": Case(15, 128, 0, 20, 50, 2),
    "res256": Case(15, 256, 0, 20, 200, 2),
    "res256b": Case(123, 256, 0, 0, 200, 2),
}


def layers(case):
    """(inputs, outputs) of each layer, input masks included."""
    width = 3 * case.components if case.components else 1
    if case.blocks:
        return ([(2 * case.columns, case.units)] + [(case.units, case.units)] * (2 * case.blocks) +
                [(case.units, case.columns * width)])
    sizes = [2 * case.columns] + [case.units] * case.layers + [case.columns * width]
    return list(zip(sizes, sizes[1:]))


def products(case):
    """The matrix products of one update as (m, k, n): forward, weight gradient and, but for the first layer, backward."""
    shapes = []
    for number, (inputs, outputs) in enumerate(layers(case)):
        shapes.append((case.batch, inputs, outputs))
        shapes.append((outputs, case.batch, inputs))
        if number > 0:
            shapes.append((case.batch, outputs, inputs))
    return shapes


def operations(case):
    """Floating-point operations of an update's products."""
    return sum(2 * m * k * n for m, k, n in products(case))
