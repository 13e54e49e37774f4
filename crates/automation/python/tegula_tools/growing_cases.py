#!/usr/bin/env python3
"""Loops whose carried values change their sizes, and what ONNX Runtime gives for them.

  growing_cases.py DIR [--count N]

Each form draws its sizes, its number of rounds (a constant, an input, none; data may end each) and where
it starts, by a fixed seed.  DIR/<case>/model.onnx and the .npy files of inputs and results; DIR/cases.json lists
{name, rtol, atol, inputs, outputs} as onnx_node_cases.py does.  Needs numpy, onnx and onnxruntime."""
import argparse
import json
import os
import shutil

import numpy as np
import onnx
import onnxruntime as ort
from onnx import parser

COUNT = 200
HEAD = '<ir_version: 10, opset_import: ["" : 17]>'


class Loop:
    """A model of one loop: `carried` has name, input's value, type in the body; `body` is the text of its nodes."""

    def __init__(self, rng):
        self.rng = rng
        self.inputs, self.constants = {}, []

    def int(self, low, high):
        return int(self.rng.integers(low, high + 1))

    def pick(self, *options):
        return options[self.rng.integers(len(options))]

    def values(self, *shape):
        return self.rng.standard_normal(shape).astype(np.float32)

    def constant(self, name, value):
        value = np.asarray(value)
        kind = {"f": "float", "i": "int64", "b": "bool"}[value.dtype.kind]
        sizes = f"[{','.join(map(str, value.shape))}]" if value.ndim else ""
        self.constants.append(f"{kind}{sizes} {name} = {{{','.join(str(int(v) if kind == 'bool' else v) for v in value.flatten().tolist())}}}")

    def text(self, carried, body, rounds, ends, extra=""):
        """`carried`: (name, value, is an input); `ends`: a node that gives `go`."""
        kinds = {"f": "float", "i": "int64"}
        kind = lambda value: kinds[value.dtype.kind]
        takes, gives, starts, leaves = [], [], [], []
        for name, value, is_input in carried:
            open_sizes = ",".join(f"{name}_{axis}" for axis in range(value.ndim))
            takes.append(f"{kind(value)}[{open_sizes}] {name}")
            gives.append(f"{kind(value)}[{open_sizes}_] {name}_next")
            starts.append(f"{name}_start")
            leaves.append(f"{kind(value)}[{','.join(f'{name}_r{axis}' for axis in range(value.ndim))}] {name}_out")
            if is_input:
                self.inputs[f"{name}_start"] = value
            else:
                self.constant(f"{name}_start", value)
        if rounds != "input":
            self.constant("rounds", np.int64(2 ** 63 - 1 if rounds == "open" else self.n))
        else:
            self.inputs["rounds"] = np.asarray(self.n, np.int64)
        outer = ", ".join(f"{kind(value)}{self.sizes(key, value)} {key}" for key, value in self.inputs.items())
        self.constant("yes", np.asarray(True))
        self.constant("one", np.int64([1]))
        self.constant("zero", np.int64([0]))
        stacked = ", float[s] row" if extra else ""
        return f"""{HEAD}
growing ({outer}) => ({', '.join(leaves)}{', float[k,s] rows' if extra else ''})
<{', '.join(self.constants)}>
{{
  {', '.join(f'{name}_out' for name, _, _ in carried)}{', rows' if extra else ''} = Loop (rounds, yes, {', '.join(starts)})
  <body: graph = body (int64 i, bool on, {', '.join(takes)}) => (bool go, {', '.join(gives)}{stacked}) {{
    {body}
    {extra}
    {ends}
  }}>
}}"""

    def sizes(self, key, value):
        """Of an input: numbers, or symbols; none for a scalar."""
        sizes = [f"{key}_{axis}" if self.open else str(size) for axis, size in enumerate(value.shape)]
        return f"[{','.join(sizes)}]" if sizes else ""


def append(c):
    """A row, computed from the round, behind or before what is there."""
    width, start = c.int(1, 5), c.pick(0, 0, 1, 2, 3)
    x = c.values(start, width)
    c.constant("w", c.values(1, width))
    parts = c.pick("x, row", "row, x", "x, row, row")
    return [("x", x, c.pick(True, False))], f"""f = Cast <to = 1> (i)
    row = Mul (f, w)
    x_next = Concat <axis = 0> ({parts})"""


def columns(c):
    """What is appended is computed from all that is there."""
    x = c.values(c.int(1, 3), c.int(1, 3))
    return [("x", x, True)], """sum = ReduceMean <axes = [1], keepdims = 1> (x)
    x_next = Concat <axis = 1> (x, sum)"""


def cache(c):
    """Attention over a cache that grows."""
    width = c.int(2, 6)
    c.constant("w", c.values(width, width))
    start = c.values(c.pick(0, 1, 2), width)
    return [("h", c.values(1, width), True), ("x", start, c.pick(True, False))], """k = MatMul (h, w)
    x_next = Concat <axis = 0> (x, k)
    t = Transpose (x_next)
    s = MatMul (h, t)
    p = Softmax <axis = -1> (s)
    h_next = MatMul (p, x_next)"""


def tokens(c):
    """Greedy choice of the next token."""
    n = c.int(3, 9)
    c.constant("table", c.values(n, n))
    c.constant("last", np.int64(-1))
    start = c.rng.integers(0, n, (c.int(1, 3), c.int(1, 3)))
    return [("x", start, True)], """t = Gather <axis = 1> (x, last)
    l = Gather <axis = 0> (table, t)
    a = ArgMax <axis = -1, keepdims = 1> (l)
    x_next = Concat <axis = 1> (x, a)"""


def shrink(c):
    """The first row goes while there is one."""
    c.constant("far", np.int64([1000]))
    return [("x", c.values(c.int(3, 9), c.int(1, 4)), True)], """y = Slice (x, one, far, zero)
    half = Mul (y, y)
    x_next = Tanh (half)"""


def chosen(c):
    """Boxes below a limit go."""
    c.constant("limit", np.float32(-0.6))
    return [("x", c.values(c.int(3, 9)), True)], """m = Greater (x, limit)
    y = Compress <axis = 0> (x, m)
    d = Cast <to = 1> (i)
    c2 = Add (d, d)
    s = Cos (y)
    x_next = Sub (s, y)"""


def window(c):
    """Grows up to a number of rows, then forgets the oldest."""
    most = c.int(2, 5)
    c.constant("from", np.int64([-most]))
    c.constant("far", np.int64([1000]))
    width = c.int(1, 3)
    c.constant("w", c.values(1, width))
    return [("x", c.values(c.pick(0, 1, 2), width), c.pick(True, False))], """f = Cast <to = 1> (i)
    row = Add (w, f)
    long = Concat <axis = 0> (x, row)
    x_next = Slice (long, from, far, zero)"""


def doubled(c):
    c.n = min(c.n, 5)
    return [("x", c.values(c.int(1, 3)), False)], "y = Neg (x)\n    x_next = Concat <axis = 0> (x, y)"


def both(c):
    """A square that grows along both axes."""
    c.constant("pads", np.int64([0, 0, 1, 1]))
    n = c.int(0, 2)
    return [("x", c.values(n, n), c.pick(True, False))], """f = Cast <to = 1> (i)
    x_next = Pad (x, pads, f)"""


def two(c):
    """Two lists, one of which takes up the other."""
    return [("x", c.values(c.int(1, 2)), True), ("z", c.values(c.int(0, 2)), c.pick(True, False))], """f = Cast <to = 1> (i)
    row = Unsqueeze (f, zero)
    x_next = Concat <axis = 0> (x, row)
    m = ReduceSum <keepdims = 1> (x)
    z_next = Concat <axis = 0> (z, m)"""


def kept(c):
    """One value changes its size, another does not."""
    width = c.int(1, 4)
    return [("x", c.values(c.int(0, 2), width), c.pick(True, False)), ("h", c.values(1, width), True)], """h_next = Tanh (h)
    x_next = Concat <axis = 0> (x, h_next)"""


def sometimes(c):
    """A row in every second round alone."""
    width = c.int(1, 3)
    c.constant("two", np.int64(2))
    c.constant("nought", np.int64(0))
    c.constant("w", c.values(1, width))
    return [("x", c.values(c.int(0, 2), width), c.pick(True, False))], """r = Mod (i, two)
    even = Equal (r, nought)
    x_next = If (even) <then_branch: graph = t () => (float[tn,tw] a) { a = Concat <axis = 0> (x, w) },
      else_branch: graph = e () => (float[en,ew] b) { b = Identity (x) }>"""


FORMS = [append, columns, cache, tokens, shrink, chosen, window, doubled, both, two, kept, sometimes]


def draw(number, attempt):
    form = FORMS[number % len(FORMS)]
    rng = np.random.Generator(np.random.PCG64([7, number, attempt]))
    c = Loop(rng)
    c.n, c.open = c.pick(0, 1, 2, 3, 5, 9, 17), c.pick(True, False)
    carried, body = form(c)
    ends, rounds = "go = Identity (on)", c.pick("constant", "input", "open")
    if c.pick(0, 0, 1):
        # Ended by what was computed: the sum of the last value.
        name, value, _ = carried[-1]
        c.constant("enough", np.float32(c.pick(0.5, 3.0, 30.0)))
        ends = f"""e1 = Cast <to = 1> ({name}_next)
    e2 = Abs (e1)
    e3 = ReduceSum <keepdims = 0> (e2)
    go = Less (e3, enough)"""
    if rounds == "open":
        # Ended by the round's number alone, perhaps before that by data.
        c.n = max(c.n, 1)
        c.constant("final", np.int64(c.n - 1))
        ends = ends.replace("go =", "more =") + "\n    under = Less (i, final)\n    go = And (more, under)"
    name, value, _ = carried[0]
    extra = ""
    if rounds != "open" and value.dtype.kind == "f" and c.pick(0, 0, 0, 1):
        extra = f"q1 = ReduceSum <keepdims = 0> ({name}_next)\n    row = Unsqueeze (q1, zero)"
    text = c.text(carried, body, rounds, ends, extra)
    return form.__name__, parser.parse_model(text), c.inputs


def session(model):
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("dir")
    arguments.add_argument("--count", type=int, default=COUNT)
    arguments = arguments.parse_args()
    shutil.rmtree(arguments.dir, ignore_errors=True)
    listed = []
    for number in range(arguments.count):
        for attempt in range(20):
            try:
                form, model, inputs = draw(number, attempt)
                values = session(model).run(None, inputs)
                break
            except Exception as error:
                if attempt == 19:
                    raise SystemExit(f"{number}: ONNX Runtime takes no draw: {error}")
        name = f"{form}_{number:03}"
        folder = os.path.join(arguments.dir, name)
        os.makedirs(folder)
        onnx.save(model, os.path.join(folder, "model.onnx"))

        def slots(pairs):
            slots = []
            for key, value in pairs:
                np.save(os.path.join(folder, f"{key}.npy"), np.asarray(value, order="C"))
                slots.append(dict(name=key, kind="tensor", dtype=value.dtype.name, file=f"{key}.npy"))
            return slots

        outputs = [output.name for output in model.graph.output]
        listed.append(dict(name=name, rtol=1e-4, atol=2e-5, inputs=slots(inputs.items()),
                           outputs=slots(zip(outputs, values))))
    with open(os.path.join(arguments.dir, "cases.json"), "w") as file:
        json.dump({"cases": listed}, file, indent=1)


if __name__ == "__main__":
    main()
