"""The model of docs/model.md in plain NumPy, double precision: an oracle for the C library.

Written from the paper (Uria, Murray, Larochelle, ICML 2014) and the project's contract, never from the C sources, so
that a mistake has to be made twice to go unnoticed.  Clarity before speed.  test_reference.py tests it.

Letters: N rows, D columns, H hidden units, L hidden layers, C mixture components, o an ordering (zero-based column
numbers).  Cells are in the model's units: 0 or 1, the number of a label, a standardised real; NaN is missing.
"""

import itertools
import math
from collections import namedtuple

import numpy as np

# ---- random numbers: Philox4x32-10, no state -----------------------------------------------------------------------

TRAIN_DRAW, TRAIN_KEYS, VALID_DRAW, VALID_KEYS, INITIAL, ORDERING, SPLIT = range(1, 8)
DROPOUT = 12

WORD = 0xFFFFFFFF


def philox(counter, key):
    """The four words of Philox4x32-10 for a counter of four words and a key of two."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c0, 0xCD9E8D57 * c2
        c0, c1, c2, c3 = (p1 >> 32) ^ c1 ^ k0, p1 & WORD, (p0 >> 32) ^ c3 ^ k1, p0 & WORD
        k0, k1 = (k0 + 0x9E3779B9) & WORD, (k1 + 0xBB67AE85) & WORD
    return c0, c1, c2, c3


def random_word(seed, purpose, draw, row, word):
    """The 32-bit word that the contract assigns to (seed, purpose, draw, row, word)."""
    return philox((draw & WORD, row, word // 4, draw >> 32), (seed, purpose))[word % 4]


def random_below(word, limit):
    """A draw from 0..limit-1: the high half of word times limit."""
    return (word * limit) >> 32


def random_uniform(word):
    """A draw from [0, 1) in steps of 2^-24."""
    return (word >> 8) * 2.0**-24


def sorted_by_key(columns, seed, purpose, draw, row):
    """The columns in the order of (random key, column number)."""
    return sorted(columns, key=lambda c: (random_word(seed, purpose, draw, row, c), c))


def ordering(seed, k, columns):
    """The k-th ordering of an ensemble."""
    return sorted_by_key(range(columns), seed, ORDERING, k, 0)


# ---- network -------------------------------------------------------------------------------------------------------

# kind: "binary", "real", "categorical" or "count"; values: V of a categorical column; floor: least scale of a real one;
# atoms: the values of a real one that have probabilities of their own, those of its first components.  gaussians: how
# many a real column has beside its atoms; 0: the atoms are among the network's components.  atom_inputs: whether each
# atom has an input that is 1 there.
Column = namedtuple("Column", "kind values floor atoms gaussians atom_inputs", defaults=[(), 0, False])

# columns: list of Column; hidden: units of each layer; components: C; activation: "relu", "sigmoid" or "tanh".
# blocks: 0, or those of a residual network, which has hidden = [its width]; direct: whether it has the linear path.
Network = namedtuple("Network", "columns hidden components activation masks blocks direct", defaults=[0, False])


def input_width(column):
    if column.atom_inputs:
        return 1 + len(column.atoms)
    return column.values if column.kind == "categorical" else 1


def output_width(column, components):
    if column.gaussians:
        return len(column.atoms) + 3 * column.gaussians
    return {"binary": 1, "categorical": column.values, "real": 3 * components, "count": 3 * components}[column.kind]


def output_slices(net):
    """Where each column's block lies in the outputs, in column order."""
    ends = np.cumsum([0] + [output_width(c, net.components) for c in net.columns])
    return [slice(a, b) for a, b in zip(ends[:-1], ends[1:])]


def tensor_shapes(net):
    """Names and shapes of all tensors, in the order of the model file; a weight is (out, in)."""
    width = sum(input_width(c) for c in net.columns) + (len(net.columns) if net.masks else 0)
    shapes = {}
    if net.blocks:
        return residual_shapes(net, width)
    for layer, units in enumerate(net.hidden):
        shapes[f"hidden.{layer}.weight"] = (units, width)
        shapes[f"hidden.{layer}.bias"] = (units,)
        width = units
    outputs = sum(output_width(c, net.components) for c in net.columns)
    shapes["output.weight"] = (outputs, width)
    shapes["output.bias"] = (outputs,)
    return shapes


def encode(net, cells, observed):
    """[x where observed, else 0; observed] (rows, inputs); a categorical x is one-hot."""
    parts = []
    for c, column in enumerate(net.columns):
        seen = observed[:, c] != 0
        if column.kind == "categorical":
            part = np.zeros((len(cells), column.values))
            part[seen, cells[seen, c].astype(int)] = 1.0
        else:
            part = np.where(seen, cells[:, c], 0.0)[:, None]
        if column.atom_inputs:
            is_atom = (cells[:, c, None] == np.array(column.atoms)) & seen[:, None]
            part = np.concatenate([part, is_atom.astype(float)], axis=1)
        parts.append(part)
    if net.masks:
        parts.append((observed != 0).astype(float))
    return np.concatenate(parts, axis=1)


def log_sigmoid(z):
    return -np.logaddexp(0.0, -z)


def sigmoid(z):
    return np.exp(log_sigmoid(z))


ACTIVATION = {"relu": lambda a: np.maximum(a, 0.0), "sigmoid": sigmoid, "tanh": np.tanh}

# The derivative of each activation, from the activation itself.
ACTIVATION_SLOPE = {"relu": lambda h: (h > 0.0).astype(float), "sigmoid": lambda h: h * (1.0 - h),
                    "tanh": lambda h: 1.0 - h * h}


def forward(net, parameters, cells, observed):
    """Inputs, each hidden layer and the linear outputs, in this order: a list of (rows, units)."""
    if net.blocks:
        return [residual_forward(net, parameters, encode(net, cells, observed))[0]]
    layers = [encode(net, cells, observed)]
    for layer in range(len(net.hidden)):
        a = layers[-1] @ parameters[f"hidden.{layer}.weight"].T + parameters[f"hidden.{layer}.bias"]
        layers.append(ACTIVATION[net.activation](a))
    layers.append(layers[-1] @ parameters["output.weight"].T + parameters["output.bias"])
    return layers


# ---- residual networks ---------------------------------------------------------------------------------------------

NORM_EPSILON = 1e-5


def residual_shapes(net, inputs):
    width, outputs = net.hidden[0], sum(output_width(c, net.components) for c in net.columns)
    linear = [("input", width, inputs)]
    for b in range(net.blocks):
        linear += [(f"block.{b}.up", width, width), (f"block.{b}.down", width, width)]
    shapes = {}
    for name, rows, columns in linear + [("output", outputs, width)]:
        shapes[name + ".weight"], shapes[name + ".bias"] = (rows, columns), (rows,)
    for name in [f"block.{b}.norm" for b in range(net.blocks)] + ["norm"]:
        shapes[name + ".weight"], shapes[name + ".bias"] = (width,), (width,)
    if net.direct:
        shapes["direct.weight"] = (outputs, inputs)
    return shapes


def normal_cdf(a):
    return 0.5 * (1.0 + np.vectorize(math.erf)(a / math.sqrt(2.0)))


def gelu(a):
    return a * normal_cdf(a)


def gelu_slope(a):
    return normal_cdf(a) + a * np.exp(-0.5 * a * a) / math.sqrt(2.0 * math.pi)


def linear_map(parameters, name, x):
    return x @ parameters[name + ".weight"].T + parameters[name + ".bias"]


def norm(parameters, name, h):
    """LayerNorm of each row; also what its gradient needs."""
    deviation = np.sqrt(h.var(axis=1, keepdims=True) + NORM_EPSILON)
    unit = (h - h.mean(axis=1, keepdims=True)) / deviation
    return unit * parameters[name + ".weight"] + parameters[name + ".bias"], (unit, deviation)


def residual_forward(net, parameters, z, factors=None):
    """Outputs, and a list of what each block and the end saw.  factors (rows, blocks + 1, H): dropout's."""
    factor = (lambda place: 1.0) if factors is None else (lambda place: factors[:, place])
    h, seen = linear_map(parameters, "input", z), []
    for b in range(net.blocks):
        normed, kept = norm(parameters, f"block.{b}.norm", h)
        a = linear_map(parameters, f"block.{b}.up", normed)
        g = gelu(a) * factor(b)
        seen.append((normed, kept, a, g))
        h = h + linear_map(parameters, f"block.{b}.down", g)
    normed, kept = norm(parameters, "norm", h)
    g = gelu(normed) * factor(net.blocks)
    seen.append((normed, kept, normed, g))
    outputs = linear_map(parameters, "output", g)
    return outputs + z @ parameters["direct.weight"].T if net.direct else outputs, seen


def residual_gradients(net, parameters, z, seen, delta, factors=None):
    """The gradient of every tensor from that of the outputs, delta (rows, outputs)."""
    gradients = {}
    factor = (lambda place: 1.0) if factors is None else (lambda place: factors[:, place])

    def through_linear(name, x, d):
        gradients[name + ".weight"], gradients[name + ".bias"] = d.T @ x, d.sum(axis=0)
        return d @ parameters[name + ".weight"]

    def through_norm(name, kept, d):
        unit, deviation = kept
        gradients[name + ".weight"], gradients[name + ".bias"] = (d * unit).sum(axis=0), d.sum(axis=0)
        d = d * parameters[name + ".weight"]
        return (d - d.mean(axis=1, keepdims=True) - unit * (d * unit).mean(axis=1, keepdims=True)) / deviation

    if net.direct:
        gradients["direct.weight"] = delta.T @ z
    _, kept, a, g = seen[-1]
    d = through_linear("output", g, delta) * factor(net.blocks) * gelu_slope(a)
    stream = through_norm("norm", kept, d)
    for b in reversed(range(net.blocks)):
        normed, kept, a, g = seen[b]
        d = through_linear(f"block.{b}.down", g, stream) * factor(b) * gelu_slope(a)
        stream = stream + through_norm(f"block.{b}.norm", kept, through_linear(f"block.{b}.up", normed, d))
    through_linear("input", z, stream)
    return {name: gradients[name] for name in tensor_shapes(net)}


def dropout_factors(net, share, seed, update, slots):
    """What each unit of each slot is multiplied with, (slots, blocks + 1, H): its 16 bits, two to a word and the lower
    ones first, below round(share · 65536) drop it."""
    threshold, width = round(share * 65536), net.hidden[0]
    factors = np.zeros((slots, net.blocks + 1, width))
    for slot, place, unit in np.ndindex(factors.shape):
        number = place * width + unit
        bits = random_word(seed, DROPOUT, update, slot, number // 2) >> (16 * (number % 2)) & 0xFFFF
        factors[slot, place, unit] = 0.0 if bits < threshold else 1.0 / (1.0 - threshold / 65536)
    return factors


# ---- heads: log p(x | outputs) and the gradient of -log p with respect to the outputs, row by row ------------------


def log_softmax(z):
    top = z.max(axis=1, keepdims=True)
    return z - top - np.log(np.exp(z - top).sum(axis=1, keepdims=True))


def mixture_terms(column, outputs, x):
    """log weights (rows, C), log N of each component, standardised distances, scales, d scale / d s."""
    if column.gaussians:  # atoms have a logit alone: what stands for their means and scales is never used
        atoms, unused = len(column.atoms), np.zeros((len(x), len(column.atoms)))
        logits, means, s = np.split(outputs, [atoms + column.gaussians, atoms + 2 * column.gaussians], axis=1)
        means, s = np.concatenate([unused, means], axis=1), np.concatenate([unused, s], axis=1)
    else:
        logits, means, s = np.split(outputs, 3, axis=1)
    scale = np.exp(s) + column.floor
    z = (x[:, None] - means) / scale
    log_normal = -0.5 * math.log(2.0 * math.pi) - np.log(scale) - 0.5 * z * z
    return log_softmax(logits), log_normal, z, scale, np.exp(s)


def mixture_joint(column, log_weight, log_normal, x):
    """log of weight times density of each component (rows, C): at an atom its own alone, elsewhere the Gaussians'."""
    is_atom = x[:, None] == np.array(column.atoms, dtype=float)
    points = np.where(is_atom, log_weight[:, :len(column.atoms)] - math.log(math.sqrt(12.0) * column.floor), -math.inf)
    gaussians = np.where(is_atom.any(axis=1)[:, None], -math.inf, log_weight + log_normal)[:, len(column.atoms):]
    return np.concatenate([points, gaussians], axis=1)


COUNT_MEAN, COUNT_SD = 1.0, 0.7  # of log(1 + count) in a count column


def count_terms(outputs, x):
    """log weights (rows, C), log of each component's probability, and its derivatives by log-mean and log-dispersion."""
    logits, log_mean, log_dispersion = np.split(outputs, 3, axis=1)
    k = np.round(np.expm1(COUNT_MEAN + COUNT_SD * x))[:, None]
    mean, size = np.exp(log_mean), np.exp(-log_dispersion)
    steps = np.arange(int(k.max(initial=0)))[:, None, None]  # log Γ(k + size) / (Γ(size) k!) is a sum of k terms
    there = steps < k
    log_choose = np.where(there, np.log((size + steps) / (1.0 + steps)), 0.0).sum(axis=0)
    slope = np.where(there, 1.0 / (size + steps), 0.0).sum(axis=0)
    log_zero = np.log(size / (size + mean))
    log_p = log_choose + size * log_zero + k * np.log(mean / (size + mean))
    by_size = slope + log_zero + (mean - k) / (size + mean)
    return log_softmax(logits), log_p, size * (k - mean) / (size + mean), -size * by_size


def head_log_density(column, outputs, x):
    if column.kind == "binary":
        return log_sigmoid(np.where(x == 1.0, outputs[:, 0], -outputs[:, 0]))
    if column.kind == "categorical":
        return log_softmax(outputs)[np.arange(len(x)), x.astype(int)]
    if column.kind == "count":
        log_weight, log_p, _, _ = count_terms(outputs, x)
        return np.logaddexp.reduce(log_weight + log_p, axis=1)
    log_weight, log_normal, _, _, _ = mixture_terms(column, outputs, x)
    return np.logaddexp.reduce(mixture_joint(column, log_weight, log_normal, x), axis=1)


def head_gradient(column, outputs, x):
    if column.kind == "binary":
        return sigmoid(outputs) - x[:, None]
    if column.kind == "categorical":
        return np.exp(log_softmax(outputs)) - np.eye(column.values)[x.astype(int)]
    if column.kind == "count":
        log_weight, log_p, by_mean, by_dispersion = count_terms(outputs, x)
        responsibility = np.exp(log_softmax(log_weight + log_p))
        return np.concatenate([np.exp(log_weight) - responsibility, -responsibility * by_mean,
                               -responsibility * by_dispersion], axis=1)
    log_weight, log_normal, z, scale, slope = mixture_terms(column, outputs, x)
    responsibility = np.exp(log_softmax(mixture_joint(column, log_weight, log_normal, x)))
    moving = responsibility * (np.arange(responsibility.shape[1]) >= len(column.atoms))  # atoms stay where they are
    kept = slice(len(column.atoms) if column.gaussians else 0, None)
    return np.concatenate([np.exp(log_weight) - responsibility,
                           (-moving * z / scale)[:, kept],
                           (moving * (1.0 - z * z) / scale * slope)[:, kept]], axis=1)


# ---- objective, eq. (12) -------------------------------------------------------------------------------------------


def row_losses(net, parameters, cells, observed):
    """eq. (12) for each row: n/(n-k) · sum over hidden present columns of -log p; n cells are present, k observed."""
    return loss_and_output_gradient(net, forward(net, parameters, cells, observed)[-1], cells, observed)[0]


def loss_and_output_gradient(net, outputs, cells, observed):
    """Each row's loss, and its gradient with respect to that row's outputs."""
    present = ~np.isnan(cells)
    target = present & (observed == 0)
    weight = present.sum(axis=1) / target.sum(axis=1)
    losses = np.zeros(len(cells))
    gradient = np.zeros_like(outputs)
    for c, (column, block) in enumerate(zip(net.columns, output_slices(net))):
        rows = target[:, c]
        losses[rows] -= weight[rows] * head_log_density(column, outputs[rows, block], cells[rows, c])
        gradient[rows, block] = weight[rows, None] * head_gradient(column, outputs[rows, block], cells[rows, c])
    return losses, gradient


def loss_and_gradients(net, parameters, cells, observed, factors=None):
    """The mean over rows of eq. (12), and its gradient with respect to every tensor.  factors: a residual network's
    dropout."""
    if net.blocks:
        z = encode(net, cells, observed)
        outputs, seen = residual_forward(net, parameters, z, factors)
        losses, delta = loss_and_output_gradient(net, outputs, cells, observed)
        return losses.mean(), residual_gradients(net, parameters, z, seen, delta / len(cells), factors)
    layers = forward(net, parameters, cells, observed)
    losses, delta = loss_and_output_gradient(net, layers[-1], cells, observed)
    delta = delta / len(cells)
    names = [f"hidden.{layer}" for layer in range(len(net.hidden))] + ["output"]
    gradients = {}
    for layer in reversed(range(len(names))):
        gradients[names[layer] + ".weight"] = delta.T @ layers[layer]
        gradients[names[layer] + ".bias"] = delta.sum(axis=0)
        if layer > 0:
            delta = (delta @ parameters[names[layer] + ".weight"]) * ACTIVATION_SLOPE[net.activation](layers[layer])
    return losses.mean(), {name: gradients[name] for name in tensor_shapes(net)}


# ---- one fixed ordering, eqs. (1) to (5): every position by a pass of its own, no running sum -----------------------


def fixed_loss_and_gradients(net, parameters, cells, order):
    """The mean over rows of -log p along the order, missing cells deleted from it, and its gradient."""
    loss, gradients = 0.0, {name: np.zeros(shape) for name, shape in tensor_shapes(net).items()}
    observed = np.zeros(cells.shape)
    blocks = output_slices(net)
    for c in order:
        rows = ~np.isnan(cells[:, c])
        inputs, hidden, outputs = forward(net, parameters, cells, observed)
        loss -= head_log_density(net.columns[c], outputs[rows, blocks[c]], cells[rows, c]).sum() / len(cells)
        delta = np.zeros_like(outputs)
        delta[rows, blocks[c]] = head_gradient(net.columns[c], outputs[rows, blocks[c]], cells[rows, c]) / len(cells)
        below = (delta @ parameters["output.weight"]) * ACTIVATION_SLOPE[net.activation](hidden)
        gradients["output.weight"] += delta.T @ hidden
        gradients["output.bias"] += delta.sum(axis=0)
        gradients["hidden.0.weight"] += below.T @ inputs
        gradients["hidden.0.bias"] += below.sum(axis=0)
        observed[rows, c] = 1
    return loss, gradients


# ---- densities, eqs. (1) and (6) -----------------------------------------------------------------------------------


def log_density(net, parameters, cells, order, given=0):
    """log p of each row under one ordering.  The first `given` columns of the order are conditioned on, not scored;
    missing cells are passed over; columns that the order does not list are never read."""
    total = np.zeros(len(cells))
    observed = np.zeros(cells.shape)
    blocks = output_slices(net)
    for position, c in enumerate(order):
        rows = ~np.isnan(cells[:, c])
        if position >= given:
            outputs = forward(net, parameters, cells, observed)[-1]
            total[rows] += head_log_density(net.columns[c], outputs[rows, blocks[c]], cells[rows, c])
        observed[rows, c] = 1
    return total


def ensemble_log_density(net, parameters, cells, orders, given=0):
    """The log of the mean over orderings of the densities."""
    each = [log_density(net, parameters, cells, order, given) for order in orders]
    return np.logaddexp.reduce(each, axis=0) - math.log(len(orders))


# ---- draws ---------------------------------------------------------------------------------------------------------


def observed_set(row_cells, rank_word, seed, purpose, draw, row):
    """0/1 flags: of the present columns in random order, the first d-1 = high half of rank_word · n."""
    present = [c for c in range(len(row_cells)) if not math.isnan(row_cells[c])]
    flags = np.zeros(len(row_cells))
    flags[sorted_by_key(present, seed, purpose, draw, row)[:random_below(rank_word, len(present))]] = 1
    return flags


def training_draws(cells, seed, update, batch):
    """Row numbers and observed sets of one update."""
    rows, observed = [], []
    for slot in range(batch):
        row = random_below(random_word(seed, TRAIN_DRAW, update, slot, 0), len(cells))
        word = random_word(seed, TRAIN_DRAW, update, slot, 1)
        rows.append(row)
        observed.append(observed_set(cells[row], word, seed, TRAIN_KEYS, update, slot))
    return np.array(rows), np.array(observed)


def validation_draws(cells, seed, repeats):
    """Observed sets (repeats, rows, columns): over the repeats of a row d is stratified, over rows it is spread."""
    offset = random_word(seed, VALID_DRAW, 0, 0, 0)
    observed = np.zeros((repeats,) + cells.shape)
    for i, r in itertools.product(range(len(cells)), range(repeats)):
        fraction = (offset + i * 2654435769) & WORD
        observed[r, i] = observed_set(cells[i], ((r << 32) + fraction) // repeats, seed, VALID_KEYS, r, i)
    return observed


def validation_loss(net, parameters, cells, seed, repeats):
    sets = validation_draws(cells, seed, repeats)
    return np.mean([row_losses(net, parameters, cells, observed) for observed in sets])


# ---- training ------------------------------------------------------------------------------------------------------

# optimizer: "nag" or "adam"; learning_rate is that of update 0 and falls linearly to zero at total_updates.
# direct_decay and dropout are for residual networks.
UpdateRule = namedtuple("UpdateRule", "optimizer learning_rate momentum weight_decay total_updates batch seed "
                        "direct_decay dropout", defaults=[0.0, 0.0])

ADAM_BETA2, ADAM_EPSILON = 0.999, 1e-8


def nag_step(rule, rate, decay, p, g, state):
    g = g + decay * p
    state["v"] = rule.momentum * state["v"] + g
    return p - rate * (g + rule.momentum * state["v"])


def adam_step(rule, rate, decay, p, g, state):
    b1, b2 = rule.momentum, ADAM_BETA2
    state["steps"] += 1
    state["m"] = b1 * state["m"] + (1.0 - b1) * g
    state["s"] = b2 * state["s"] + (1.0 - b2) * g * g
    m = state["m"] / (1.0 - b1 ** state["steps"])
    s = state["s"] / (1.0 - b2 ** state["steps"])
    return p - rate * (m / (np.sqrt(s) + ADAM_EPSILON) + decay * p)


STEP = {"nag": nag_step, "adam": adam_step}


def decay_of(rule, name):
    if name == "direct.weight":
        return rule.direct_decay
    return rule.weight_decay if name.endswith(".weight") and "norm." not in name else 0.0


def train(net, parameters, cells, rule, updates, order=None):
    """Runs updates 0..updates-1; returns their losses and the parameters after the last.  With an order the network is
    trained for that one: the rows are drawn as before, nothing else is."""
    parameters = dict(parameters)
    state = {name: {"v": 0.0, "m": 0.0, "s": 0.0, "steps": 0} for name in parameters}
    losses = []
    for update in range(updates):
        rows, observed = training_draws(cells, rule.seed, update, rule.batch)
        if order is None:
            drops = net.blocks and rule.dropout
            factors = dropout_factors(net, rule.dropout, rule.seed, update, rule.batch) if drops else None
            loss, gradients = loss_and_gradients(net, parameters, cells[rows], observed, factors)
        else:
            loss, gradients = fixed_loss_and_gradients(net, parameters, cells[rows], order)
        rate = rule.learning_rate * (1.0 - update / rule.total_updates)
        for name, gradient in gradients.items():
            step = STEP[rule.optimizer]
            parameters[name] = step(rule, rate, decay_of(rule, name), parameters[name], gradient, state[name])
        losses.append(loss)
    return losses, parameters


# ---- seeded parameters and cells, all exact in float32 -------------------------------------------------------------

EXAMPLE = 1000  # a purpose that the library does not use


def columns_of(kinds, fixed=False):
    """Columns from letters: b binary, r real with floor 0.05, a the same with atoms at 0 and 1.25, g the same with atoms
    at -0.5, 0 and 1.25 beside two Gaussians and, unless there is one ordering, with inputs; c categorical with 3 labels,
    a digit so many labels, o ordered with 4 values, n count."""
    made = {"g": Column("real", 0, 0.05, (-0.5, 0.0, 1.25), 2, not fixed), "o": Column("categorical", 4, 0.0),
            "n": Column("count", 0, 0.0),
            "b": Column("binary", 2, 0.0), "r": Column("real", 0, 0.05), "c": Column("categorical", 3, 0.0),
            "a": Column("real", 0, 0.05, (0.0, 1.25))}
    return [made[k] if k in made else Column("categorical", int(k), 0.0) for k in kinds]


def as_float32(values):
    return np.asarray(values, dtype=float).astype(np.float32).astype(float)


def example_parameters(net, seed):
    parameters = {}
    for number, (name, shape) in enumerate(tensor_shapes(net).items()):
        words = [random_word(seed, EXAMPLE, number, 0, w) for w in range(int(np.prod(shape)))]
        reach = 1.6 / math.sqrt(shape[1]) if len(shape) == 2 else 0.3
        uniform = np.array([random_uniform(w) for w in words]).reshape(shape)
        middle = 1.0 if name.endswith("norm.weight") else 0.0
        parameters[name] = as_float32(middle + reach * (2.0 * uniform - 1.0))
    return parameters


def example_cells(net, rows, seed, missing_share):
    """Valid random cells; every row keeps at least one present cell."""
    cells = np.zeros((rows, len(net.columns)))
    for i, c in np.ndindex(cells.shape):
        words = [random_word(seed, EXAMPLE + 1, c, i, w) for w in range(5)]
        u = [random_uniform(w) for w in words]
        column = net.columns[c]
        real = 2.0 * (u[0] + u[1] + u[2]) - 3.0  # mean 0, variance 1
        if column.atoms and u[4] < 0.5:
            real = column.atoms[random_below(words[0], len(column.atoms))]
        count = random_below(words[0], 12) * (3 if u[4] < 0.1 else 1)
        if column.kind == "real":
            cells[i, c] = real
        elif column.kind == "count":
            cells[i, c] = (math.log1p(count) - COUNT_MEAN) / COUNT_SD
        else:
            cells[i, c] = random_below(words[0], column.values)
        if u[3] < missing_share and c != random_below(random_word(seed, EXAMPLE + 2, 0, i, 0), len(net.columns)):
            cells[i, c] = math.nan
    return as_float32(cells)
