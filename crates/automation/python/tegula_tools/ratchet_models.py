#!/usr/bin/env python3
"""Writes the ONNX models of `ratchets`: one op or a few each, over the classes of kernels, of sizes that callgrind runs
in a second.

  ratchet_models.py FOLDER

FOLDER/<name>.onnx and FOLDER/cases.json, as `kernel_models.py` writes them.  Needs numpy and onnx."""
import sys

import numpy as np
from onnx import helper, numpy_helper

from tegula_tools.fit_models import integers, op
from tegula_tools.kernel_models import Cases, conv, matmul, rows, weight


def several(cases, name, nodes, inputs, output, weights):
    """A small program on f32; the last of `nodes` gives `out`."""
    inputs = {key: ("f32", shape) for key, shape in inputs.items()}
    cases.add(name, "program", nodes, inputs, {"out": ("f32", output)}, weights)


def scale(name, value):
    return numpy_helper.from_array(np.float32(value), name)


def quantised(cases, name, op, inputs, weights, output, image=False, **attributes):
    """Bytes by bytes to bytes: an epilogue of many instructions stands behind the sums of all tiles. An image is floats, with
    channels last."""
    parameters = {part: scale(part, 0.02) for part in ("x_scale", "w_scale", "y_scale")}
    parameters["x_zero"] = numpy_helper.from_array(np.uint8(7), "x_zero")
    parameters["w_zero"] = numpy_helper.from_array(np.int8(0), "w_zero")
    parameters["y_zero"] = numpy_helper.from_array(np.uint8(9), "y_zero")
    names = ["x", "x_scale", "x_zero", "w", "w_scale", "w_zero", "y_scale", "y_zero"]
    node = helper.make_node(op, names, ["y"], **attributes)
    weights = {"w": weight("w", "s8", weights), **parameters}
    if not image:
        cases.add(name, "program", [node], {"x": ("u8", inputs)}, {"y": ("u8", output)}, weights)
        return
    nodes = [
        helper.make_node("QuantizeLinear", ["image", "x_scale", "x_zero"], ["bytes"]),
        helper.make_node("Transpose", ["bytes"], ["x"], perm=[0, 3, 1, 2]),
        node,
    ]
    cases.add(name, "program", nodes, {"image": ("f32", inputs)}, {"y": ("u8", output)}, weights)


def main():
    cases = Cases(sys.argv[1])
    matmul(cases, "matmul-64x192x96", 64, 192, 96)
    matmul(cases, "matmul-64x192x96-inputs", 64, 192, 96, constant=False)
    matmul(cases, "matmul-1x1024x768", 1, 1024, 768)
    matmul(cases, "matmul-64x192x96-bytes", 64, 192, 96, "u8s8")
    # Rows and columns end within a tile.
    matmul(cases, "matmul-33x72x192", 33, 72, 192)
    matmul(cases, "matmul-33x72x192-bytes", 33, 72, 192, "u8s8")
    conv(cases, "conv-1x1-64-20-96", 64, 20, 96, 1)
    conv(cases, "conv-3x3-24-20-48", 24, 20, 48, 3)
    conv(cases, "conv-3x3-stride-24-28-48", 24, 28, 48, 3, stride=2)
    conv(cases, "conv-3x3-32-20-48-bytes", 32, 20, 48, 3, arithmetic="u8s8")
    quantised(cases, "conv-1x1-32-28-64-quantised", "QLinearConv", [1, 32, 28, 28], [64, 32, 1, 1], [1, 64, 28, 28])
    quantised(cases, "matmul-48x96x384-quantised", "QLinearMatMul", [48, 96], [96, 384], [48, 384])
    quantised(cases, "matmul-1x512x768-quantised", "QLinearMatMul", [1, 512], [512, 768], [1, 768])
    conv(cases, "first-layer-3x3-80", 3, 80, 16, 3, stride=2)
    pixels = {"image": True, "strides": [2, 2], "pads": [3, 3, 3, 3]}
    quantised(cases, "first-layer-7x7-56-quantised", "QLinearConv", [1, 56, 56, 3], [32, 3, 7, 7], [1, 32, 28, 28], **pixels)
    conv(cases, "depthwise-3x3-96-40", 96, 40, 96, 3, groups=96)
    conv(cases, "conv-3x3-64-20-16-groups", 64, 20, 64, 3, groups=16)
    rows(cases, "softmax-400x96", "Softmax", [400, 96], axis=-1)
    rows(cases, "layer-norm-400x96", "LayerNormalization", [400, 96], axis=-1)
    rows(cases, "add-200000", "Add", [200000], 2)
    rows(cases, "relu-200000", "Relu", [200000])
    rows(cases, "sigmoid-60000", "Sigmoid", [60000])
    rows(cases, "erf-60000", "Erf", [60000])
    op(cases, "turn-400x300", "Transpose", [[400, 300]], [300, 400], "movement", perm=[1, 0])
    op(cases, "turn-3x40x70", "Transpose", [[3, 40, 70]], [40, 70, 3], "movement", perm=[1, 2, 0])
    op(cases, "mean-600x300", "ReduceMean", [[600, 300]], [600, 1], "reduction", integers("axes", [1]))
    op(cases, "sum-600x300", "ReduceSum", [[600, 300]], [1, 300], "reduction", integers("axes", [0]))
    window = {"kernel_shape": [3, 3], "strides": [2, 2]}
    op(cases, "pool-3x3-64-51", "MaxPool", [[1, 64, 51, 51]], [1, 64, 25, 25], "pool", **window)
    op(cases, "gather-700", "Gather", [[900, 256]], [700, 256], "movement", integers("i", [(i * 37) % 900 for i in range(700)]))
    several(
        cases,
        "attention-64x48",
        [
            helper.make_node("MatMul", ["q", "k"], ["scores"]),
            helper.make_node("Softmax", ["scores"], ["shares"], axis=-1),
            helper.make_node("MatMul", ["shares", "v"], ["out"]),
        ],
        {"q": [4, 64, 48], "k": [4, 48, 64], "v": [4, 64, 48]},
        [4, 64, 48],
        {},
    )
    for name, queries in [("heads-4x128x32", 128), ("heads-4x20x128x32", 20)]:
        several(
            cases,
            name,
            [
                helper.make_node("Transpose", ["k"], ["turned"], perm=[0, 1, 3, 2]),
                helper.make_node("MatMul", ["q", "turned"], ["scores"]),
                helper.make_node("Div", ["scores", "root"], ["scaled"]),
                helper.make_node("Softmax", ["scaled"], ["shares"], axis=-1),
                helper.make_node("MatMul", ["shares", "v"], ["heads"]),
                helper.make_node("Transpose", ["heads"], ["out"], perm=[0, 2, 1, 3]),
            ],
            {"q": [1, 4, queries, 32], "k": [1, 4, 128, 32], "v": [1, 4, 128, 32]},
            [1, queries, 4, 32],
            {"root": weight("root", "f32", [1])},
        )
    several(
        cases,
        "layer-96-384",
        [
            helper.make_node("MatMul", ["x", "up"], ["wide"]),
            helper.make_node("Relu", ["wide"], ["kept"]),
            helper.make_node("MatMul", ["kept", "down"], ["narrow"]),
            helper.make_node("Add", ["narrow", "x"], ["out"]),
        ],
        {"x": [32, 96]},
        [32, 96],
        {"up": weight("up", "f32", [96, 384]), "down": weight("down", "f32", [384, 96])},
    )
    cases.write()


if __name__ == "__main__":
    main()
