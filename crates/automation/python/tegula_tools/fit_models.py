#!/usr/bin/env python3
"""Writes ONNX models of one op each, for `bench fit`: every class of kernels, with data in each level of the caches, of
odd sizes that no model has, so that what is predicted was not fitted.

  fit_models.py FOLDER

FOLDER/<name>.onnx and FOLDER/cases.json, as `kernel_models.py` writes them.  Needs numpy and onnx."""
import sys

import numpy as np
from onnx import helper, numpy_helper

from tegula_tools.kernel_models import Cases, conv, matmul, rows


def op(cases, name, kind, inputs, output, group, weights=None, **attributes):
    """One op on f32; `inputs` are shapes, `weights` further operands."""
    inputs = {"xyz"[index]: ("f32", shape) for index, shape in enumerate(inputs)}
    weights = weights or {}
    node = helper.make_node(kind, [*inputs, *weights], ["out"], **attributes)
    cases.add(name, group, [node], inputs, {"out": ("f32", output)}, weights)


def integers(name, values):
    return {name: numpy_helper.from_array(np.array(values, dtype=np.int64), name)}


def main():
    cases = Cases(sys.argv[1])
    for size in (11003, 77017, 310019, 1500007, 6400013, 23000009):
        rows(cases, f"add-{size}", "Add", [size], 2)
        rows(cases, f"relu-{size}", "Relu", [size])
        if size < 2000000:
            rows(cases, f"sigmoid-{size}", "Sigmoid", [size])
            rows(cases, f"tanh-{size}", "Tanh", [size])
            rows(cases, f"sqrt-{size}", "Sqrt", [size])
            rows(cases, f"div-{size}", "Div", [size], 2)
    for shape in ([37, 53], [301, 77], [211, 491], [1301, 263], [97, 7001]):
        label = f"{shape[0]}x{shape[1]}"
        rows(cases, f"softmax-{label}", "Softmax", shape, axis=-1)
        rows(cases, f"layer-norm-{label}", "LayerNormalization", shape, axis=-1)
        op(cases, f"turn-{label}", "Transpose", [shape], shape[::-1], "movement", perm=[1, 0])
        op(cases, f"mean-{label}", "ReduceMean", [shape], [shape[0], 1], "reduction", integers("axes", [1]))
        op(cases, f"sum-{label}", "ReduceSum", [shape], [1, shape[1]], "reduction", integers("axes", [0]))
    for channels, size in ((19, 45), (83, 23), (37, 101)):
        halved = (size - 3) // 2 + 1
        shape = [1, channels, size, size]
        window = {"kernel_shape": [3, 3], "strides": [2, 2]}
        op(cases, f"pool-{channels}-{size}", "MaxPool", [shape], [1, channels, halved, halved], "pool", **window)
        conv(cases, f"depthwise-{channels}-{size}", channels, size, channels, 3, groups=channels)
    for m, n, k in ((1, 1207, 611), (1, 3011, 1501), (5, 411, 213), (23, 151, 307), (91, 203, 407), (211, 611, 307)):
        matmul(cases, f"matmul-{m}x{n}x{k}", m, n, k)
        matmul(cases, f"matmul-{m}x{n}x{k}-bytes", m, n, k, "u8s8")
    for channels, size, filters, kernel in ((21, 43, 37, 3), (71, 19, 103, 1), (13, 61, 27, 5), (203, 11, 151, 3)):
        conv(cases, f"conv-{channels}-{size}-{filters}-{kernel}", channels, size, filters, kernel)
    conv(cases, "conv-61-19-67-bytes", 61, 19, 67, 3, arithmetic="u8s8")
    cases.write()


if __name__ == "__main__":
    main()
