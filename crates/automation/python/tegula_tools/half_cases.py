#!/usr/bin/env python3
"""Models of one op, or of one formula, in 16-bit floats, and what they compute in f64 by NumPy.

  half_cases.py DIR

DIR/<case>/model.onnx, DIR/<case>/<name>.npy of each input, and of each output `<name>.npy`, the result in f64 that is not
rounded, and `<name>_slack.npy`, how far a sum in f32 may be from it.  Inputs are f32 numbers that the element type has.
DIR/cases.json lists {name, dtype, elements, inputs, outputs}.  Nothing here is Tegula's or ONNX Runtime's.  Needs numpy and
onnx."""
import json
import os
import sys
import zlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

UNIT = 2.0 ** -24  # of f32, half a step
DTYPES = {"f16": TensorProto.FLOAT16, "bf16": TensorProto.BFLOAT16}
SIZES = [1, 7, 768, 4096, 65536, 1_000_000]
MAGNITUDES = [1.0, 10.0, 300.0, 60000.0]
OPSET = 23
CASES = []


def in_type(x, dtype):
    """The nearest number of the type, as f32."""
    if dtype == "f16":
        return np.clip(x, -65504, 65504).astype(np.float16).astype(np.float32)
    bits = np.asarray(x, np.float32).view(np.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)
    return rounded.view(np.float32)


def additions(n):
    """Additions in a run and runs, of `docs/numerics.md`."""
    return 64 + n / 64


class Sum:
    """A sum in f64 along axes and how far one in f32 may be from it."""

    def __init__(self, terms, axes):
        axes = tuple(axes)
        n = int(np.prod([terms.shape[axis] for axis in axes])) if axes else 1
        self.n = n
        self.value = terms.sum(axes, keepdims=True)
        # Each term may be rounded once, and so may the sum.
        self.slack = UNIT * (additions(n) + 4) * np.abs(terms).sum(axes, keepdims=True)


def case(name, dtype, nodes, inputs, outputs, constants=()):
    """`inputs`: names and f32 arrays; `outputs`: names, results in f64 and slacks."""
    CASES.append((f"{name}_{dtype}", dtype, nodes, inputs, outputs, constants))


def drawn(name, dtype, shape, magnitude, lift=0.0):
    """Elements of a size about `magnitude`, `lift` of them away from 0."""
    rng = np.random.Generator(np.random.PCG64(zlib.crc32(name.encode())))
    return in_type(rng.uniform(-1, 1, shape) * magnitude * (1 - lift) + magnitude * lift, dtype)


def node(op, inputs, outputs=("y",), **attributes):
    return helper.make_node(op, list(inputs), list(outputs), **attributes)


def axes_of(values):
    return numpy_helper.from_array(np.array(values, np.int64), "axes")


# --- sums and what is made of them -----------------------------------------------------------------------------------

def reductions(x, axes):
    """Each op of the family: its name, its result and its slack."""
    wide = x.astype(np.float64)
    plain, size, square = Sum(wide, axes), Sum(np.abs(wide), axes), Sum(wide * wide, axes)
    yield "ReduceSum", plain.value, plain.slack
    yield "ReduceMean", plain.value / plain.n, plain.slack / plain.n
    yield "ReduceL1", size.value, size.slack
    yield "ReduceSumSquare", square.value, square.slack
    root = np.sqrt(square.value)
    yield "ReduceL2", root, square.slack / np.maximum(2 * root, 1e-30) + 4 * UNIT * root
    positive = Sum(np.abs(wide), axes)
    if (x > 0).all():
        log = np.log(positive.value)
        yield "ReduceLogSum", log, positive.slack / positive.value + 4 * UNIT * np.abs(log)
    largest = wide.max(tuple(axes), keepdims=True)
    grown = Sum(np.exp(wide - largest), axes)
    together = np.log(grown.value) + largest
    slack = grown.slack / grown.value + 8 * UNIT * (np.abs(largest) + np.abs(together) + 1)
    yield "ReduceLogSumExp", together, slack
    yield "ReduceMax", largest, 0 * largest


def add_reductions():
    for dtype in DTYPES:
        for n in SIZES:
            for magnitude in MAGNITUDES if n < 1_000_000 else MAGNITUDES[-1:]:
                for lift in (0.0, 0.9):
                    # Rows, and columns, along which nothing is in lanes.
                    for shape, axes in ([(2, n), (1,)], [(n, 3), (0,)]) if n < 1_000_000 else ([(1, n), (1,)],):
                        title = f"{n}_{magnitude:g}_{lift:g}_{axes[0]}"
                        x = drawn(title, dtype, shape, magnitude, lift)
                        family = list(reductions(x, axes))
                        nodes = [node(op, ["x", "axes"], [op]) for op, _, _ in family]
                        case(f"Reduce_{title}", dtype, nodes, {"x": x},
                             {op: (value, slack) for op, value, slack in family}, [axes_of(axes)])


def add_scans():
    for dtype in DTYPES:
        for n in (7, 4096, 65536):
            for magnitude in MAGNITUDES:
                x = drawn(f"scan {n} {magnitude}", dtype, (2, n), magnitude, 0.5)
                wide = x.astype(np.float64)
                value = np.cumsum(wide, 1)
                # In index order: each addition rounds.
                slack = UNIT * np.arange(1, n + 1) * np.cumsum(np.abs(wide), 1)
                case(f"CumSum_{n}_{magnitude:g}", dtype, [node("CumSum", ["x", "axis"])], {"x": x},
                     {"y": (value, slack)}, [numpy_helper.from_array(np.array(1, np.int64), "axis")])


def add_pools():
    for dtype in DTYPES:
        for side in (7, 112, 224):
            for magnitude in MAGNITUDES:
                x = drawn(f"pool {side} {magnitude}", dtype, (1, 3, side, side), magnitude, 0.9)
                wide, axes = x.astype(np.float64), (2, 3)
                mean, square = Sum(wide, axes), Sum(wide * wide, axes)
                title = f"{side}_{magnitude:g}"
                case(f"GlobalAveragePool_{title}", dtype, [node("GlobalAveragePool", ["x"])], {"x": x},
                     {"y": (mean.value / mean.n, mean.slack / mean.n)})
                case(f"AveragePool_{title}", dtype, [node("AveragePool", ["x"], kernel_shape=[side, side])], {"x": x},
                     {"y": (mean.value / mean.n, mean.slack / mean.n)})
                root = np.sqrt(square.value)
                case(f"GlobalLpPool_{title}", dtype, [node("GlobalLpPool", ["x"])], {"x": x},
                     {"y": (root, square.slack / (2 * root) + 4 * UNIT * root)})


def add_means_of_operands():
    for dtype in DTYPES:
        for count in (2, 40):
            for magnitude in MAGNITUDES:
                x = {f"x{i}": drawn(f"mean {count} {magnitude} {i}", dtype, (3, 50), magnitude, 0.9)
                     for i in range(count)}
                total = Sum(np.stack([value.astype(np.float64) for value in x.values()]), (0,))
                case(f"Mean_{count}_{magnitude:g}", dtype, [node("Mean", list(x))], x,
                     {"y": (total.value[0] / count, total.slack[0] / count)})


# --- softmax and norms -----------------------------------------------------------------------------------------------

def add_softmax():
    for dtype in DTYPES:
        for n in (7, 768, 4096, 65536):
            for magnitude in (1.0, 10.0, 60000.0):
                x = drawn(f"softmax {n} {magnitude}", dtype, (2, n), magnitude)
                wide = x.astype(np.float64)
                shifted = wide - wide.max(1, keepdims=True)
                grown = Sum(np.exp(shifted), (1,))
                value = np.exp(shifted) / grown.value
                relative = grown.slack / grown.value + 8 * UNIT
                case(f"Softmax_{n}_{magnitude:g}", dtype, [node("Softmax", ["x"], axis=-1)], {"x": x},
                     {"y": (value, value * relative)})
                log = shifted - np.log(grown.value)
                case(f"LogSoftmax_{n}_{magnitude:g}", dtype, [node("LogSoftmax", ["x"], axis=-1)], {"x": x},
                     {"y": (log, relative + 4 * UNIT * np.abs(log))})


class Normal:
    """`(x - mean) / sqrt(variance + eps)` along axes, or without the mean."""

    def __init__(self, x, axes, eps, centred=True):
        wide = x.astype(np.float64)
        total = Sum(wide, axes)
        mean = total.value / total.n if centred else 0.0
        moved = total.slack / total.n + UNIT * np.abs(mean) if centred else 0.0
        distance = wide - mean
        square = Sum(distance * distance, axes)
        variance = square.value / square.n
        deviation = np.sqrt(variance + eps)
        self.value = distance / deviation
        # What the mean and the distances are off by makes squares off; eps keeps a row of equals from 0 / 0.
        off = moved + UNIT * np.abs(wide)
        squares = (2 * np.abs(distance) * off + off * off).mean(tuple(axes), keepdims=True) + square.slack / square.n
        relative = squares / (2 * (variance + eps)) + 8 * UNIT
        self.slack = off / deviation + np.abs(self.value) * relative


def add_norms():
    eps = 1e-5
    for dtype in DTYPES:
        for n in (7, 768, 4096, 65536):
            for magnitude in MAGNITUDES if n < 65536 else MAGNITUDES[-1:]:
                for lift in (0.0, 0.9):
                    title = f"{n}_{magnitude:g}_{lift:g}"
                    x = drawn(f"norm {title}", dtype, (2, n), magnitude, lift)
                    ones = np.ones(n, np.float32)
                    normal, root = Normal(x, (1,), eps), Normal(x, (1,), eps, centred=False)
                    case(f"LayerNormalization_{title}", dtype,
                         [node("LayerNormalization", ["x", "scale"], axis=-1, epsilon=eps)],
                         {"x": x, "scale": ones}, {"y": (normal.value, normal.slack)})
                    case(f"RMSNormalization_{title}", dtype,
                         [node("RMSNormalization", ["x", "scale"], axis=-1, epsilon=eps)],
                         {"x": x, "scale": ones}, {"y": (root.value, root.slack)})
                    image = x.reshape(1, 2, 1, n)
                    two = {"scale": np.ones(2, np.float32), "bias": np.zeros(2, np.float32)}
                    channels = Normal(image, (2, 3), eps)
                    case(f"InstanceNormalization_{title}", dtype,
                         [node("InstanceNormalization", ["x", "scale", "bias"], epsilon=eps)],
                         {"x": image, **two}, {"y": (channels.value, channels.slack)})
                    groups = Normal(image, (1, 2, 3), eps)
                    case(f"GroupNormalization_{title}", dtype,
                         [node("GroupNormalization", ["x", "scale", "bias"], num_groups=1, epsilon=eps)],
                         {"x": image, **two}, {"y": (groups.value, groups.slack)})
                    for p in (1, 2):
                        powered = Sum(np.abs(x.astype(np.float64)) ** p, (1,))
                        norm = powered.value ** (1 / p)
                        value = x / norm
                        case(f"LpNormalization_{p}_{title}", dtype, [node("LpNormalization", ["x"], axis=1, p=p)],
                             {"x": x}, {"y": (value, np.abs(value) * (powered.slack / powered.value + 8 * UNIT))})


def main(folder):
    for add in (add_reductions, add_scans, add_pools, add_means_of_operands, add_softmax, add_norms):
        add()
    listed = []
    for name, dtype, nodes, inputs, outputs, constants in CASES:
        own = os.path.join(folder, name)
        os.makedirs(own, exist_ok=True)
        info = [helper.make_tensor_value_info(name, DTYPES[dtype], x.shape) for name, x in inputs.items()]
        out = [helper.make_tensor_value_info(name, DTYPES[dtype], value.shape) for name, (value, _) in outputs.items()]
        graph = helper.make_graph(nodes, "half", info, out, list(constants))
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)
        onnx.save(model, os.path.join(own, "model.onnx"))
        for key, x in inputs.items():
            np.save(os.path.join(own, f"{key}.npy"), x)
        for key, (value, slack) in outputs.items():
            np.save(os.path.join(own, f"{key}.npy"), np.ascontiguousarray(value, np.float64))
            np.save(os.path.join(own, f"{key}_slack.npy"), np.ascontiguousarray(np.broadcast_to(slack, value.shape)))
        elements = max(x.size for x in inputs.values())
        listed.append(dict(name=name, dtype=dtype, elements=elements, inputs=list(inputs), outputs=list(outputs)))
    with open(os.path.join(folder, "cases.json"), "w") as file:
        json.dump(listed, file, indent=1)


if __name__ == "__main__":
    main(sys.argv[1])
