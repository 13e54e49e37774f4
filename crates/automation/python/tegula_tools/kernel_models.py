#!/usr/bin/env python3
"""Writes ONNX models of one op each, for `bench kernels`.

  kernel_models.py FOLDER

FOLDER/<name>.onnx, and FOLDER/cases.json: a list of {name, group, arithmetic, operations, bytes}:
  arithmetic   f32, bf16 or u8s8: what the multiply-adds are of
  operations   a run's, a multiply-add counts two; 0 where an op has none to speak of
  bytes        inputs, weights and outputs once each
Weights are drawn by numpy's PCG64 from fixed seeds; inputs are made up by whoever runs a model.  Needs numpy and onnx."""
import json
import os
import sys

import numpy as np
from onnx import TensorProto, checker, helper, numpy_helper, save

TYPES = {
    "f32": TensorProto.FLOAT,
    "bf16": TensorProto.BFLOAT16,
    "u8": TensorProto.UINT8,
    "s8": TensorProto.INT8,
    "s32": TensorProto.INT32,
}
SIZES = {"f32": 4, "bf16": 2, "u8": 1, "s8": 1, "s32": 4}


def count(shape):
    return int(np.prod(shape))


class Cases:
    def __init__(self, folder):
        self.folder, self.rows = folder, []

    def write(self):
        with open(os.path.join(self.folder, "cases.json"), "w") as f:
            json.dump(self.rows, f, indent=1)

    def add(self, name, group, nodes, inputs, outputs, weights, operations=0, arithmetic="f32"):
        """`inputs` and `outputs` are name -> (type, shape), `weights` name -> TensorProto."""
        value = lambda item: helper.make_tensor_value_info(item[0], TYPES[item[1][0]], item[1][1])
        values = [list(map(value, side.items())) for side in (inputs, outputs)]
        graph = helper.make_graph(nodes, name, *values, list(weights.values()))
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])
        model.ir_version = 9
        checker.check_model(model, full_check=True)
        save(model, os.path.join(self.folder, name + ".onnx"))
        tensors = [*inputs.values(), *outputs.values()]
        moved = sum(SIZES[kind] * count(shape) for kind, shape in tensors)
        moved += sum(len(weight.raw_data) for weight in weights.values())
        row = {"name": name, "group": group, "arithmetic": arithmetic, "operations": operations, "bytes": moved}
        self.rows.append(row)


def weight(name, kind, shape):
    rng = np.random.Generator(np.random.PCG64(len(name) + sum(shape)))
    if kind == "s8":
        return numpy_helper.from_array(rng.integers(-127, 128, shape).astype(np.int8), name)
    values = rng.standard_normal(shape).astype(np.float32)
    if kind == "bf16":
        # The upper half of each f32: rounded towards zero, which weights that are drawn may be.
        halves = (values.view(np.uint32) >> 16).astype(np.uint16)
        return helper.make_tensor(name, TensorProto.BFLOAT16, shape, halves.tobytes(), raw=True)
    return numpy_helper.from_array(values, name)


def matmul(cases, name, m, n, k, arithmetic="f32", constant=True):
    left, right, out = {"f32": ("f32",) * 3, "bf16": ("bf16",) * 3, "u8s8": ("u8", "s8", "s32")}[arithmetic]
    op = "MatMulInteger" if arithmetic == "u8s8" else "MatMul"
    inputs, weights = {"a": (left, [m, k])}, {}
    if constant:
        weights["b"] = weight("b", right, [k, n])
    else:
        inputs["b"] = (right, [k, n])
    nodes = [helper.make_node(op, ["a", "b"], ["c"])]
    cases.add(name, "matmul", nodes, inputs, {"c": (out, [m, n])}, weights, 2 * m * n * k, arithmetic)


def conv(cases, name, channels, size, filters, kernel, stride=1, groups=1, arithmetic="f32", channels_last=True):
    """Inside of a network an activation lies as the kernels want it, and who compiles the model says how: inputs and
    outputs with the channels last stand for that. With the channels first their way in and out is in the time."""
    pad = kernel // 2
    place = (size + 2 * pad - kernel) // stride + 1
    shape = [filters, channels // groups, kernel, kernel]
    kind, out = ("u8", "s32") if arithmetic == "u8s8" else ("f32", "f32")
    op, weight_kind = ("ConvInteger", "s8") if arithmetic == "u8s8" else ("Conv", "f32")
    inner, outer = ("moved", "result") if channels_last else ("x", "y")
    nodes = [
        helper.make_node(
            op, [inner, "w"], [outer], kernel_shape=[kernel] * 2, pads=[pad] * 4, strides=[stride] * 2, group=groups
        )
    ]
    ends = [[1, channels, size, size], [1, filters, place, place]]
    if channels_last:
        nodes.insert(0, helper.make_node("Transpose", ["x"], [inner], perm=[0, 3, 1, 2]))
        nodes.append(helper.make_node("Transpose", [outer], ["y"], perm=[0, 2, 3, 1]))
        ends = [[batch, rows, columns, depth] for batch, depth, rows, columns in ends]
    # Products that exist: a window's places in the padding have none.
    taps = sum(
        0 <= at * stride + tap - pad < size for at in range(place) for tap in range(kernel)
    )
    operations = 2 * filters * (channels // groups) * taps * taps
    weights = {"w": weight("w", weight_kind, shape)}
    cases.add(name, "convolution", nodes, {"x": (kind, ends[0])}, {"y": (out, ends[1])}, weights, operations, arithmetic)


def rows(cases, name, op, shape, n_inputs=1, **attributes):
    """An op whose time is that of its memory: what it computes is not counted."""
    inputs = {"xyz"[index]: ("f32", shape) for index in range(n_inputs)}
    weights = {}
    if op == "LayerNormalization":
        weights = {name: weight(name, "f32", shape[-1:]) for name in ("scale", "bias")}
    node = helper.make_node(op, [*inputs, *weights], ["out"], **attributes)
    group = "elementwise" if not attributes else "rows"
    cases.add(name, group, [node], inputs, {"out": ("f32", shape)}, weights)


def main():
    cases = Cases(sys.argv[1])
    for size in (256, 512, 1024, 2048):
        for arithmetic in ("f32", "bf16", "u8s8"):
            matmul(cases, f"matmul-{size}-{arithmetic}", size, size, size, arithmetic)
    matmul(cases, "matmul-2048-f32-inputs", 2048, 2048, 2048, constant=False)
    for m in (1, 4, 16):
        for arithmetic in ("f32", "bf16", "u8s8"):
            matmul(cases, f"matmul-m{m}-{arithmetic}", m, 2048, 2048, arithmetic)
    for name, m, n, k in (("17x1000x333", 17, 1000, 333), ("127x129x131", 127, 129, 131), ("1023", 1023, 1023, 1023)):
        for arithmetic in ("f32", "u8s8"):
            matmul(cases, f"matmul-{name}-{arithmetic}", m, n, k, arithmetic)

    conv(cases, "conv-1x1-64-256-56", 64, 56, 256, 1)
    conv(cases, "conv-1x1-256-64-56", 256, 56, 64, 1)
    conv(cases, "conv-1x1-256-64-56-channels-first", 256, 56, 64, 1, channels_last=False)
    conv(cases, "conv-1x1-512-512-7", 512, 7, 512, 1)
    conv(cases, "conv-3x3-64-64-56", 64, 56, 64, 3)
    conv(cases, "conv-3x3-256-256-14", 256, 14, 256, 3)
    conv(cases, "conv-3x3-stride-128-256-28", 128, 28, 256, 3, stride=2)
    conv(cases, "conv-3x3-64-64-56-u8s8", 64, 56, 64, 3, arithmetic="u8s8")
    conv(cases, "conv-1x1-256-64-56-u8s8", 256, 56, 64, 1, arithmetic="u8s8")
    conv(cases, "depthwise-3x3-96-56", 96, 56, 96, 3, groups=96)
    conv(cases, "depthwise-3x3-stride-96-112", 96, 112, 96, 3, stride=2, groups=96)
    conv(cases, "depthwise-5x5-240-28", 240, 28, 240, 5, groups=240)
    conv(cases, "first-layer-7x7-224", 3, 224, 64, 7, stride=2)
    conv(cases, "first-layer-3x3-320", 3, 320, 16, 3, stride=2)

    for size in (1 << 14, 1 << 18, 1 << 23):
        rows(cases, f"add-{size}", "Add", [size], 2)
        rows(cases, f"relu-{size}", "Relu", [size])
        rows(cases, f"sigmoid-{size}", "Sigmoid", [size])
        rows(cases, f"erf-{size}", "Erf", [size])
    for shape in ([256, 64], [1536, 128], [1024, 1024], [64, 50000]):
        rows(cases, f"softmax-{shape[0]}x{shape[1]}", "Softmax", shape, axis=-1)
    for shape in ([128, 384], [1024, 1024], [4096, 768]):
        rows(cases, f"layer-norm-{shape[0]}x{shape[1]}", "LayerNormalization", shape, axis=-1)
    cases.write()


if __name__ == "__main__":
    main()
