#!/usr/bin/env python3
"""PyTorch at the same work: an order-agnostic update with fresh masks for each row, and exact scoring of one ordering.

Written as a careful user of PyTorch would, at each precision that nade has: eager, captured in a CUDA graph, and by
torch.compile (on a GPU within a graph).  bench/measure calls it.  A measurement is printed as soon as it is made, a
line of JSON each: {"at": [names of objects, from the outermost], "is": the figure, or {"failed": why there is none}}.
On the CPU it waits for lines "update CASE", "compiled CASE", "products CASE" and "score CASE" and answers each, so that bench/measure can take turns.
"""
import argparse
import json
import math
import os
import subprocess
import sys
import time

os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "4")  # of each process that compiles; read on import

import torch  # pylint: disable=wrong-import-position
from torch.nn import functional

from cases import CASES, RESIDUAL, products

# For each precision: the type of matrices that are multiplied as such, whether float32 is multiplied as tf32, autocast.
PRECISIONS = {"fp32": (torch.float32, False, False), "tf32": (torch.float32, True, False),
              "bf16": (torch.bfloat16, False, True)}


class Block(torch.nn.Module):
    """A block of a residual network."""

    def __init__(self, units):
        super().__init__()
        self.norm, self.up, self.down = (torch.nn.LayerNorm(units), torch.nn.Linear(units, units),
                                         torch.nn.Linear(units, units))

    def forward(self, stream):
        return stream + self.down(functional.gelu(self.up(self.norm(stream))))


class Blocks(torch.nn.Module):
    """Input layer, blocks, and norm and gelu before the output."""

    def __init__(self, case):
        super().__init__()
        self.first, self.norm = torch.nn.Linear(2 * case.columns, case.units), torch.nn.LayerNorm(case.units)
        self.blocks = torch.nn.Sequential(*(Block(case.units) for _ in range(case.blocks)))

    def forward(self, state):
        return functional.gelu(self.norm(self.blocks(self.first(state))))


class Network(torch.nn.Module):
    """A chain of affine layers with relu, or residual blocks beside a linear path, on the observed cells and the mask."""

    def __init__(self, case):
        super().__init__()
        sizes = [2 * case.columns] + [case.units] * case.layers
        outputs = case.columns * max(1, 3 * case.components)
        self.hidden = torch.nn.ModuleList(torch.nn.Linear(a, b) for a, b in zip(sizes, sizes[1:]))
        self.blocks = Blocks(case) if case.blocks else None
        self.direct = torch.nn.Linear(2 * case.columns, outputs, bias=False) if case.blocks else None
        self.output = torch.nn.Linear(case.units, outputs)
        self.components = case.components

    def losses(self, rows, mask):
        """-log p of each cell given the observed ones, (rows, columns)."""
        state = torch.cat([rows * mask, mask], 1)
        if self.blocks:
            out = self.output(self.blocks(state)) + self.direct(state)
        else:
            for layer in self.hidden:
                state = functional.relu(layer(state))
            out = self.output(state)
        out = out.float()
        if self.components == 0:
            return functional.binary_cross_entropy_with_logits(out, rows, reduction="none")
        weight, mean, log_scale = out.view(*rows.shape, 3, self.components).unbind(2)
        distance = (rows.unsqueeze(2) - mean) * torch.exp(-log_scale)
        terms = functional.log_softmax(weight, 2) - log_scale - 0.5 * distance.square()
        return 0.5 * math.log(2 * math.pi) - torch.logsumexp(terms, 2)

    def objective(self, rows, mask, weight):
        return (self.losses(rows, mask) * (1 - mask) * weight).sum(1).mean()

    def cell_losses(self, rows, mask, column):
        """-log p of one cell of each row."""
        return self.losses(rows, mask).gather(1, column)


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


def compile_anew(function):
    """PyTorch gives up compiling a function that has met too many shapes, so those of earlier cases are forgotten."""
    torch.compiler.reset()
    return torch.compile(function, dynamic=False)


def make_update(case, device, half=False, compiled=False):
    """One update on a batch gathered from a table."""
    torch.manual_seed(0)
    network = Network(case).to(device)
    optimizer = (torch.optim.AdamW(network.parameters(), lr=1e-4, fused=True) if case.blocks else
                 torch.optim.SGD(network.parameters(), lr=1e-4, momentum=0.9, nesterov=True, fused=True))
    table = make_rows(case, 10000, device)
    objective = compile_anew(network.objective) if compiled else network.objective

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
    """Microseconds of one call, by the clock and of the processor; the first three, in which things are compiled and
    memory is taken, do not count."""
    for _ in range(3):
        work()
    begin, spent, count = time.perf_counter(), time.process_time(), 0
    while time.process_time() - spent < seconds or count < 3:
        work()
        count += 1
    return {"us_per_update": round(1e6 * (time.perf_counter() - begin) / count, 2),
            "processor_us": round(1e6 * (time.process_time() - spent) / count, 2)}


@torch.no_grad()
def score(cell_losses, rows, order, most):
    """log p of rows along one ordering: all positions are passes of their own, `most` lines at a time."""
    count, columns = rows.shape
    place = torch.empty_like(order)
    place[order] = torch.arange(columns, device=rows.device)
    total = torch.zeros(count, device=rows.device, dtype=torch.float64)
    together = max(1, most // count)
    for first in range(0, columns, together):
        steps = torch.arange(first, min(columns, first + together), device=rows.device)
        mask = (place[None, :] < steps[:, None]).float()[:, None, :].expand(-1, count, -1).reshape(-1, columns)
        cells = rows[None].expand(len(steps), -1, -1).reshape(-1, columns)
        picked = cell_losses(cells, mask, order[steps].repeat_interleave(count)[:, None])
        total -= picked.view(len(steps), count).double().sum(0)
    return total


def time_scoring(case, device, count, most, half=False, compiled=False):
    """Rows scored per second and ordering, the second time that the same rows are scored."""
    torch.manual_seed(0)
    network = Network(case).to(device)
    cell_losses = compile_anew(network.cell_losses) if compiled else network.cell_losses
    rows, order = make_rows(case, count, device), torch.randperm(case.columns, device=device)
    wait = torch.cuda.synchronize if device == "cuda" else lambda: None
    with torch.autocast(device, torch.bfloat16, enabled=half):
        score(cell_losses, rows, order, most)
        wait()
        begin = time.perf_counter()
        score(cell_losses, rows, order, most)
        wait()
    return round(count / (time.perf_counter() - begin), 1)


def product_loop(shapes, dtype, device):
    """A function that multiplies once each of the shapes."""
    operands = [(torch.randn(m, k, device=device, dtype=dtype), torch.randn(k, n, device=device, dtype=dtype),
                 torch.empty(m, n, device=device, dtype=dtype)) for m, k, n in shapes]

    def multiply():
        for left, right, result in operands:
            torch.mm(left, right, out=result)
    return multiply


class Report:
    """Prints what is measured, and measures nothing more once the time is over."""

    def __init__(self, seconds):
        self.end = time.monotonic() + seconds

    def put(self, at, value):
        print(json.dumps({"at": at, "is": value}), flush=True)

    def measure(self, at, work):
        try:
            if time.monotonic() > self.end:
                raise TimeoutError("left out: the time was over")
            value = work()
        except Exception as problem:  # pylint: disable=broad-except
            value = {"failed": (str(problem).splitlines() or [type(problem).__name__])[0][:200]}
        self.put(at, value)


def on_gpu(precision):
    """Lets PyTorch multiply as the precision says; returns the type of matrices and whether to use autocast."""
    dtype, tf32, half = PRECISIONS[precision]
    torch.backends.cuda.matmul.allow_tf32 = tf32
    return dtype, half


def gpu_rows(case):
    return 2000 if case.columns > 500 else 20000


def measure_matrix_rates(report):
    """TFLOP/s of a product of 8192 cubed at each precision."""
    for precision in PRECISIONS:
        dtype, _ = on_gpu(precision)
        report.measure(["matrix_tflops", precision], lambda chosen=dtype: round(
            2 * 8192 ** 3 / (1e6 * time_on_gpu(product_loop([(8192,) * 3], chosen, "cuda"), 10)), 1))


def measure_gpu(report, name, case):
    """All that needs no compiler."""
    for precision in PRECISIONS:
        dtype, half = on_gpu(precision)
        at = ["cases", name, precision]
        report.measure(at + ["products_us"],
                       lambda: time_on_gpu(capture(product_loop(products(case), dtype, "cuda")), 300))
        report.measure(at + ["graph_us"], lambda: time_on_gpu(capture(make_update(case, "cuda", half)), 300))
        report.measure(at + ["eager_us"], lambda: time_on_gpu(make_update(case, "cuda", half), 200))
        report.measure(at + ["rows_per_second_and_ordering"],
                       lambda: time_scoring(case, "cuda", gpu_rows(case), 1 << 16, half))


def measure_compiled_gpu(report, name, case):
    for precision in PRECISIONS:
        _, half = on_gpu(precision)
        at = ["cases", name, precision]
        report.measure(at + ["compiled_graph_us"],
                       lambda: time_on_gpu(capture(make_update(case, "cuda", half, compiled=True)), 300))
        report.measure(at + ["compiled_rows_per_second_and_ordering"],
                       lambda: time_scoring(case, "cuda", gpu_rows(case), 1 << 16, half, compiled=True))


def compile_ahead(names, seconds):
    """Compiles all cases in processes side by side, which takes minutes one after the other; PyTorch keeps what they
    compiled in its cache.  Nothing is timed meanwhile."""
    ahead = [subprocess.Popen([sys.executable, __file__, "gpu", "--cases", name, "--compile-only", "--minutes",
                               str(seconds / 60)], stdout=subprocess.DEVNULL) for name in names]
    end = time.monotonic() + seconds
    for process in ahead:
        try:
            process.wait(max(0.1, end - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def score_twice(case):
    """Rows scored per second, and the processor's microseconds for one."""
    rows = 4 if case.columns > 500 else 200
    time_scoring(case, "cpu", rows, 4096)
    spent = time.process_time()
    rate = time_scoring(case, "cpu", rows, 4096)
    # time_scoring scores the rows twice
    return {"rows_per_second_and_ordering": rate,
            "processor_us": round(1e6 * (time.process_time() - spent) / (2 * rows), 2)}


def serve(seconds):
    """Answers what bench/measure asks for, until it asks no more."""
    cases, ready = {**CASES, **RESIDUAL}, {}
    for line in sys.stdin:
        what, name = line.split()
        if what == "score":
            answer = score_twice(cases[name])
        else:
            if (what, name) not in ready:
                ready[what, name] = (product_loop(products(cases[name]), torch.float32, "cpu") if what == "products" else
                                     make_update(cases[name], "cpu", compiled=what == "compiled"))
            answer = time_on_cpu(ready[what, name], seconds)
        print(json.dumps(answer), flush=True)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("device", choices=["gpu", "cpu"])
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=4, help="CPU: how long to repeat a measurement")
    parser.add_argument("--minutes", type=float, default=60, help="what is not begun by then is left out")
    parser.add_argument("--no-compiled", action="store_true", help="leave out torch.compile")
    parser.add_argument("--compile-only", action="store_true", help="GPU: fill PyTorch's cache, time nothing")
    return parser.parse_args()


def main():
    options = parse()
    if options.threads:
        torch.set_num_threads(options.threads)
    if options.device == "cpu":
        print(json.dumps(torch.__version__), flush=True)
        serve(options.seconds)
        return
    cases = {name: CASES[name] for name in options.cases.split(",")}
    report = Report(60 * options.minutes)
    report.put(["version"], torch.__version__)
    report.put(["threads"], torch.get_num_threads())
    if not options.compile_only:
        report.put(["cuda"], torch.version.cuda)
        measure_matrix_rates(report)
        for name, case in cases.items():
            measure_gpu(report, name, case)
        if not options.no_compiled:
            compile_ahead(cases, 0.7 * max(0, report.end - time.monotonic()))
    for name, case in cases.items() if not options.no_compiled else ():
        measure_compiled_gpu(report, name, case)


main()
