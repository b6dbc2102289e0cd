#!/usr/bin/env python3
"""PyTorch at the same work: an order-agnostic update with fresh masks for each row, and exact scoring of one ordering.

Written as a careful user of PyTorch would: eager, captured in a CUDA graph, and compiled in bfloat16 within a graph.
Prints one JSON object; bench/measure calls it.
"""
import argparse
import json
import math
import sys
import time

import torch
from torch.nn import functional

from cases import CASES, operations, products


class Network(torch.nn.Module):
    """A chain of affine layers with relu, on the observed cells and the mask."""

    def __init__(self, case):
        super().__init__()
        sizes = [2 * case.columns] + [case.units] * case.layers
        self.hidden = torch.nn.ModuleList(torch.nn.Linear(a, b) for a, b in zip(sizes, sizes[1:]))
        self.output = torch.nn.Linear(case.units, case.columns * max(1, 3 * case.components))
        self.components = case.components

    def losses(self, rows, mask):
        """-log p of each cell given the observed ones, (rows, columns)."""
        state = torch.cat([rows * mask, mask], 1)
        for layer in self.hidden:
            state = functional.relu(layer(state))
        out = self.output(state)
        if self.components == 0:
            return functional.binary_cross_entropy_with_logits(out, rows, reduction="none")
        weight, mean, log_scale = out.view(*rows.shape, 3, self.components).unbind(2)
        distance = (rows.unsqueeze(2) - mean) * torch.exp(-log_scale)
        terms = functional.log_softmax(weight, 2) - log_scale - 0.5 * distance.square()
        return 0.5 * math.log(2 * math.pi) - torch.logsumexp(terms, 2)

    def objective(self, rows, mask, weight):
        return (self.losses(rows, mask) * (1 - mask) * weight).sum(1).mean()


def draw_masks(rows):
    """The first d-1 columns of a random ordering of each row, and D / (D - d + 1)."""
    count, columns = rows.shape
    observed = torch.randint(columns, (count, 1), device=rows.device)
    keys = torch.rand(count, columns, device=rows.device)
    limit = keys.sort(1).values.gather(1, observed)
    return (keys < limit).float(), columns / (columns - observed.float())


def make_rows(case, count, device):
    if case.components:
        return torch.randn(count, case.columns, device=device)
    return (torch.rand(count, case.columns, device=device) < 0.3).float()


def make_update(case, device, compiled=False, half=False):
    """One update on a batch gathered from a table."""
    torch.manual_seed(0)
    network = Network(case).to(device)
    optimizer = torch.optim.SGD(network.parameters(), lr=1e-4, momentum=0.9, nesterov=True, fused=device == "cuda")
    table = make_rows(case, 10000, device)
    objective = torch.compile(network.objective) if compiled else network.objective

    def update():
        rows = table[torch.randint(table.shape[0], (case.batch,), device=device)]
        mask, weight = draw_masks(rows)
        with torch.autocast(device, torch.bfloat16, enabled=half):
            loss = objective(rows, mask, weight)
        optimizer.zero_grad(set_to_none=False)
        loss.backward()
        optimizer.step()
    return update


def capture(work):
    """The work as a CUDA graph's replay."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            work()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        work()
    return graph.replay


def time_on_gpu(work, repeats):
    """Microseconds of one call: the mean of `repeats`, the best of three such means."""
    for _ in range(5):
        work()
    best = math.inf
    for _ in range(3):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        for _ in range(repeats):
            work()
        end.record()
        torch.cuda.synchronize()
        best = min(best, 1000 * begin.elapsed_time(end) / repeats)
    return round(best, 2)


def time_on_cpu(work, seconds):
    work()
    begin, count = time.perf_counter(), 0
    while time.perf_counter() - begin < seconds or count < 3:
        work()
        count += 1
    return round(1e6 * (time.perf_counter() - begin) / count, 2)


@torch.no_grad()
def score(network, rows, order, most):
    """log p of rows along one ordering: all positions are passes of their own, `most` rows at a time."""
    count, columns = rows.shape
    place = torch.empty_like(order)
    place[order] = torch.arange(columns, device=rows.device)
    total = torch.zeros(count, device=rows.device, dtype=torch.float64)
    together = max(1, most // count)
    for first in range(0, columns, together):
        steps = torch.arange(first, min(columns, first + together), device=rows.device)
        mask = (place[None, :] < steps[:, None]).float()[:, None, :].expand(-1, count, -1).reshape(-1, columns)
        cells = rows[None].expand(len(steps), -1, -1).reshape(-1, columns)
        picked = network.losses(cells, mask).gather(1, order[steps].repeat_interleave(count)[:, None])
        total -= picked.view(len(steps), count).double().sum(0)
    return total


def time_scoring(case, device, count, most):
    """Rows scored per second and ordering."""
    network = Network(case).to(device)
    rows, order = make_rows(case, count, device), torch.randperm(case.columns, device=device)
    wait = torch.cuda.synchronize if device == "cuda" else lambda: None
    score(network, rows[:10], order, most)
    wait()
    begin = time.perf_counter()
    score(network, rows, order, most)
    wait()
    return round(count / (time.perf_counter() - begin), 1)


PRECISIONS = {"fp32": (torch.float32, False), "tf32": (torch.float32, True), "bf16": (torch.bfloat16, False)}


def product_loop(shapes, dtype, device):
    """A function that multiplies once each of the shapes."""
    operands = [(torch.randn(m, k, device=device, dtype=dtype), torch.randn(k, n, device=device, dtype=dtype),
                 torch.empty(m, n, device=device, dtype=dtype)) for m, k, n in shapes]

    def multiply():
        for left, right, result in operands:
            torch.mm(left, right, out=result)
    return multiply


def matrix_rates():
    """TFLOP/s of a product of 8192 cubed at each precision."""
    rates = {}
    for name, (dtype, tf32) in PRECISIONS.items():
        torch.backends.cuda.matmul.allow_tf32 = tf32
        rates[name] = round(2 * 8192 ** 3 / (1e6 * time_on_gpu(product_loop([(8192,) * 3], dtype, "cuda"), 10)), 1)
    return rates


def attempt(measure):
    """The measurement, or why there is none."""
    try:
        return measure()
    except Exception as problem:  # pylint: disable=broad-except
        return {"failed": str(problem).splitlines()[0][:200]}


def measure_gpu(case, compiled):
    torch.backends.cuda.matmul.allow_tf32 = True
    found = {"eager_us": attempt(lambda: time_on_gpu(make_update(case, "cuda"), 200)),
             "graph_us": attempt(lambda: time_on_gpu(capture(make_update(case, "cuda")), 300))}
    if compiled:
        found["compiled_bf16_graph_us"] = attempt(
            lambda: time_on_gpu(capture(make_update(case, "cuda", compiled=True, half=True)), 300))
    rows = 2000 if case.columns > 500 else 20000
    found["rows_per_second_and_ordering"] = attempt(lambda: time_scoring(case, "cuda", rows, 1 << 16))
    found["products_us"] = {}
    for name, (dtype, tf32) in PRECISIONS.items():
        torch.backends.cuda.matmul.allow_tf32 = tf32
        found["products_us"][name] = attempt(
            lambda chosen=dtype: time_on_gpu(capture(product_loop(products(case), chosen, "cuda")), 300))
    return found


def measure_cpu(case, seconds):
    rows = 4 if case.columns > 500 else 200
    return {"eager_us": attempt(lambda: time_on_cpu(make_update(case, "cpu"), seconds)),
            "rows_per_second_and_ordering": attempt(lambda: time_scoring(case, "cpu", rows, 4096)),
            "products_us": attempt(lambda: time_on_cpu(product_loop(products(case), torch.float32, "cpu"), seconds))}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("device", choices=["gpu", "cpu"])
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=4, help="CPU: how long to repeat a measurement")
    parser.add_argument("--no-compiled", action="store_true", help="GPU: leave out torch.compile, which takes minutes")
    options = parser.parse_args()
    if options.threads:
        torch.set_num_threads(options.threads)
    found = {"version": torch.__version__, "threads": torch.get_num_threads(), "cases": {}}
    if options.device == "gpu":
        found.update(gpu=torch.cuda.get_device_name(), cuda=torch.version.cuda, matrix_tflops=matrix_rates())
    for name in options.cases.split(","):
        case = CASES[name]
        found["cases"][name] = (measure_gpu(case, not options.no_compiled) if options.device == "gpu"
                                else measure_cpu(case, options.seconds))
        found["cases"][name]["operations"] = operations(case)
        print(f"torch {name}: {json.dumps(found['cases'][name])}", file=sys.stderr, flush=True)
    print(json.dumps(found))


main()
