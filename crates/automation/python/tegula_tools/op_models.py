#!/usr/bin/env python3
"""Writes ONNX models of one op each, with their inputs, for `bench ops`: ops, forms and shapes at which an engine may fall
off a cliff. Where `kernel_models.py` has few ops at many sizes, this has many ops at one.

  op_models.py FOLDER

FOLDER/<name>.onnx, FOLDER/<name>.<input>.npy, and FOLDER/cases.json: a list of {name, inputs: {input: file}}.
Numbers are drawn by numpy's PCG64 from one seed.  Needs numpy and onnx."""
import json
import os
import sys

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save, shape_inference

RNG = np.random.Generator(np.random.PCG64(20))
OPSET = 20


def floats(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def u8(*shape):
    return RNG.integers(0, 256, shape).astype(np.uint8)


def s8(*shape):
    return RNG.integers(-127, 128, shape).astype(np.int8)


def below(limit, *shape):
    return RNG.integers(0, limit, shape)


def rows_of_permutations(rows, limit, count):
    return np.stack([RNG.permutation(limit)[:count] for _ in range(rows)])


class Cases:
    def __init__(self, folder):
        self.folder, self.rows = folder, []

    def add(self, name, op, inputs, constants=(), outputs=1, **attributes):
        """`inputs` are arrays that come at run time, `constants` those in the model; None leaves an operand out."""
        operands, values, weights, files = [], [], [], {}
        for array in [*inputs, *constants]:
            if array is None:
                operands.append("")
                continue
            operand = f"x{len(operands)}"
            operands.append(operand)
            array = np.asarray(array)
            if len(values) < len(inputs):
                kind = helper.np_dtype_to_tensor_dtype(array.dtype)
                values.append(helper.make_tensor_value_info(operand, kind, array.shape))
                files[operand] = os.path.join(self.folder, f"{name}.{operand}.npy")
                np.save(files[operand], array)
            else:
                weights.append(numpy_helper.from_array(array, operand))
        results = [f"y{i}" for i in range(outputs)]
        graph = helper.make_graph(
            [helper.make_node(op, operands, results, **attributes)],
            name,
            values,
            [helper.make_tensor_value_info(result, TensorProto.UNDEFINED, None) for result in results],
            weights,
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)])
        model.ir_version = 9
        for output in model.graph.output:
            output.ClearField("type")
        # Types of outputs follow from the op.
        model = shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
        save(model, os.path.join(self.folder, name + ".onnx"))
        self.rows.append({"name": name, "inputs": files})

    def write(self):
        with open(os.path.join(self.folder, "cases.json"), "w") as f:
            json.dump(self.rows, f, indent=1)


def convolutions(cases):
    def conv(name, channels, size, filters, kernel, stride=1, groups=1, dilation=1):
        rank = len(size)
        cases.add(
            f"conv-{name}",
            "Conv",
            [floats(1, channels, *size)],
            [floats(filters, channels // groups, *[kernel] * rank), floats(filters)],
            pads=[dilation * (kernel // 2)] * (2 * rank),
            strides=[stride] * rank,
            dilations=[dilation] * rank,
            group=groups,
        )

    conv("3x3", 64, [56, 56], 64, 3)
    conv("3x3-dilated", 64, [56, 56], 64, 3, dilation=2)
    conv("3x3-32-groups", 128, [28, 28], 128, 3, groups=32)
    conv("3x3-4-groups", 256, [14, 14], 256, 3, groups=4)
    conv("3x3-7", 512, [7, 7], 512, 3)
    conv("5x5", 32, [112, 112], 32, 5)
    conv("7x7", 64, [56, 56], 64, 7)
    conv("7x7-depthwise", 96, [56, 56], 96, 7, groups=96)
    conv("7x7-image", 3, [224, 224], 64, 7, stride=2)
    conv("3x3-image", 3, [224, 224], 32, 3, stride=2)
    conv("3x3-grey", 1, [160, 160], 16, 3)
    conv("1x1-to-one", 64, [56, 56], 1, 1)
    conv("1x1-as-product", 1280, [1, 1], 1000, 1)
    conv("1d", 64, [1000], 64, 3)
    conv("1d-sound", 1, [16000], 64, 10, stride=5)
    conv("1d-depthwise", 256, [400], 256, 31, groups=256)
    conv("1d-mel", 80, [300], 512, 3)
    conv("3d", 16, [16, 32, 32], 32, 3)

    def transposed(name, channels, size, filters, kernel, stride, pad):
        cases.add(
            f"conv-transpose-{name}",
            "ConvTranspose",
            [floats(1, channels, *size)],
            [floats(channels, filters, *[kernel] * len(size))],
            strides=[stride] * len(size),
            pads=[pad] * (2 * len(size)),
        )

    transposed("4x4", 64, [28, 28], 32, 4, 2, 1)
    transposed("2x2", 64, [56, 56], 32, 2, 2, 0)
    transposed("1d", 128, [200], 64, 16, 8, 4)

    cases.add("conv-integer", "ConvInteger", [u8(1, 64, 28, 28)], [s8(64, 64, 3, 3)], pads=[1] * 4)
    cases.add("conv-integer-image", "ConvInteger", [u8(1, 3, 224, 224)], [s8(64, 3, 7, 7)], pads=[3] * 4, strides=[2, 2])
    cases.add("conv-integer-depthwise", "ConvInteger", [u8(1, 64, 56, 56)], [s8(64, 1, 3, 3)], pads=[1] * 4, group=64)


def products(cases):
    cases.add("gemm-left-transposed", "Gemm", [floats(512, 256)], [floats(512, 512), floats(512)], transA=1)
    cases.add("gemm-right-transposed", "Gemm", [floats(256, 512)], [floats(512, 512), floats(512)], transB=1)
    cases.add("matmul-row", "MatMul", [floats(1, 4096)], [floats(4096, 4096)])
    cases.add("matmul-column", "MatMul", [floats(4096, 1024), floats(1024, 1)])
    cases.add("matmul-3-columns", "MatMul", [floats(4096, 256)], [floats(256, 3)])
    cases.add("matmul-3-terms", "MatMul", [floats(4096, 3)], [floats(3, 256)])
    cases.add("matmul-heads", "MatMul", [floats(12, 128, 64), floats(12, 64, 128)])
    cases.add("matmul-heads-row", "MatMul", [floats(12, 1, 64), floats(12, 64, 512)])
    for size in (512, 1000, 1024):
        cases.add(f"matmul-inputs-{size}", "MatMul", [floats(size, size), floats(size, size)])
    cases.add("matmul-halves", "MatMul", [floats(128, 512).astype(np.float16)], [floats(512, 512).astype(np.float16)])
    cases.add("matmul-integer", "MatMulInteger", [u8(256, 256)], [s8(256, 256)])
    cases.add("matmul-integer-odd", "MatMulInteger", [u8(256, 255)], [s8(255, 257)])
    cases.add("matmul-integer-inputs", "MatMulInteger", [u8(256, 256), s8(256, 256)])
    cases.add("matmul-integer-unsigned", "MatMulInteger", [u8(256, 256)], [u8(256, 256)])
    cases.add("matmul-integer-signed", "MatMulInteger", [s8(256, 256)], [s8(256, 256)])
    cases.add("matmul-integer-zero-point", "MatMulInteger", [u8(256, 256)], [s8(256, 256), np.uint8(128)])
    cases.add("einsum-heads", "Einsum", [floats(1, 8, 128, 64), floats(1, 8, 128, 64)], equation="bhid,bhjd->bhij")


def movement(cases):
    turns = {
        "matrix": ([512, 512], [1, 0]),
        "heads": ([1, 128, 12, 64], [0, 2, 1, 3]),
        "channels-last": ([1, 64, 56, 56], [0, 2, 3, 1]),
        "channels-first": ([1, 56, 56, 64], [0, 3, 1, 2]),
        "image-channels-last": ([1, 3, 224, 224], [0, 2, 3, 1]),
        "image-channels-first": ([1, 224, 224, 3], [0, 3, 1, 2]),
        "reversed": ([32, 64, 128], [2, 1, 0]),
        "rotated": ([64, 64, 64], [1, 2, 0]),
    }
    for name, (shape, perm) in turns.items():
        cases.add(f"transpose-{name}", "Transpose", [floats(*shape)], perm=perm)
    cases.add("concat-channels", "Concat", [floats(1, 64, 56, 56), floats(1, 64, 56, 56)], axis=1)
    cases.add("concat-columns", "Concat", [floats(512, 64), floats(512, 64), floats(512, 64)], axis=1)
    cases.add("split-channels", "Split", [floats(1, 128, 56, 56)], outputs=2, axis=1, num_outputs=2)
    cases.add("split-columns", "Split", [floats(512, 256)], outputs=4, axis=1, num_outputs=4)
    cases.add("gather-columns", "Gather", [floats(256, 1000)], [below(1000, 256)], axis=1)
    cases.add("gather-elements", "GatherElements", [floats(256, 1000)], [below(1000, 256, 256)], axis=1)
    cases.add("scatter-nd", "ScatterND", [floats(512, 256)], [RNG.permutation(512)[:64].reshape(64, 1), floats(64, 256)])
    cases.add("scatter-elements", "ScatterElements", [floats(256, 512)], [rows_of_permutations(256, 512, 64), floats(256, 64)], axis=1)
    halves = [np.array(part) for part in ([0, 0], [112, 112], [2, 3], [2, 2])]
    cases.add("slice-strided", "Slice", [floats(1, 64, 112, 112)], halves)
    cases.add("pad-reflect", "Pad", [floats(1, 64, 56, 56)], [np.array([0, 0, 1, 1, 0, 0, 1, 1])], mode="reflect")
    cases.add("pad-zeros", "Pad", [floats(1, 64, 56, 56)], [np.array([0, 0, 1, 1, 0, 0, 1, 1])])
    cases.add("expand", "Expand", [floats(64, 1, 64)], [np.array([64, 64, 64])])
    cases.add("tile", "Tile", [floats(64, 100)], [np.array([4, 8])])
    cases.add("where", "Where", [below(2, 512, 512).astype(bool), floats(512, 512), floats(512, 512)])
    cases.add("depth-to-space", "DepthToSpace", [floats(1, 64, 56, 56)], blocksize=2)
    cases.add("space-to-depth", "SpaceToDepth", [floats(1, 16, 112, 112)], blocksize=2)
    twice = np.array([1, 1, 2, 2], np.float32)
    for mode, coordinates in (("nearest", "asymmetric"), ("linear", "half_pixel"), ("linear", "align_corners"), ("cubic", "half_pixel")):
        cases.add(
            f"resize-{mode}-{coordinates.replace('_', '-')}",
            "Resize",
            [floats(1, 64, 28, 28)],
            [None, twice],
            mode=mode,
            coordinate_transformation_mode=coordinates,
        )
    cases.add("grid-sample", "GridSample", [floats(1, 32, 56, 56), RNG.uniform(-1, 1, (1, 56, 56, 2)).astype(np.float32)])


def reductions(cases):
    for axes in ([0], [1], [2], [0, 2]):
        for op in ("ReduceSum", "ReduceMax", "ReduceL2"):
            name = f"{op[:6]}-{op[6:]}-{''.join(map(str, axes))}".lower()
            cases.add(name, op, [floats(32, 64, 128)], [np.array(axes)])
    cases.add("reduce-mean-pixels", "ReduceMean", [floats(1, 64, 56, 56)], [np.array([2, 3])])
    for axis in (0, 1):
        cases.add(f"argmax-{axis}", "ArgMax", [floats(512, 512)], axis=axis)
        cases.add(f"softmax-{axis}", "Softmax", [floats(512, 500)], axis=axis)
        cases.add(f"cumsum-{axis}", "CumSum", [floats(256, 512)], [np.array(axis)])
    cases.add("log-softmax", "LogSoftmax", [floats(512, 500)], axis=1)
    cases.add("softmax-channels", "Softmax", [floats(1, 21, 128, 128)], axis=1)
    cases.add("top-10-of-1000", "TopK", [floats(64, 1000)], [np.array([10])], outputs=2)
    cases.add("top-300-of-8400", "TopK", [floats(1, 8400)], [np.array([300])], outputs=2)
    cases.add("nonzero", "NonZero", [floats(512, 512)])
    cases.add("layer-norm", "LayerNormalization", [floats(197, 768)], [floats(768), floats(768)])
    cases.add("layer-norm-odd", "LayerNormalization", [floats(300, 251)], [floats(251), floats(251)])
    image = lambda: floats(1, 64, 56, 56)
    cases.add("instance-norm", "InstanceNormalization", [image()], [floats(64), floats(64)])
    cases.add("batch-norm", "BatchNormalization", [image()], [floats(64), floats(64), floats(64), abs(floats(64))])
    cases.add("max-pool", "MaxPool", [floats(1, 64, 112, 112)], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    cases.add("max-pool-13", "MaxPool", [floats(1, 64, 20, 20)], kernel_shape=[13, 13], pads=[6] * 4)
    cases.add("max-pool-1d", "MaxPool", [floats(1, 64, 4000)], kernel_shape=[4], strides=[4])
    cases.add("average-pool", "AveragePool", [image()], kernel_shape=[3, 3], pads=[1] * 4)
    cases.add("average-pool-2", "AveragePool", [image()], kernel_shape=[2, 2], strides=[2, 2])
    cases.add("average-pool-all", "GlobalAveragePool", [floats(1, 512, 14, 14)])
    cases.add("lrn", "LRN", [image()], size=5)


def elementwise(cases):
    for op in ("Exp", "Tanh", "Sqrt", "Gelu", "Erf", "Sin", "HardSwish", "Softplus", "Mish", "Reciprocal", "Floor", "Round"):
        cases.add(op.lower(), op, [floats(512, 512)])
    positive = lambda: abs(floats(512, 512)) + np.float32(0.01)
    cases.add("log", "Log", [positive()])
    cases.add("pow", "Pow", [positive()], [np.float32(2.5)])
    cases.add("pow-2", "Pow", [floats(512, 512)], [np.float32(2)])
    cases.add("div", "Div", [floats(512, 512), positive()])
    cases.add("mod", "Mod", [floats(512, 512), positive()], fmod=1)
    cases.add("add-channels", "Add", [floats(1, 64, 56, 56)], [floats(64, 1, 1)])
    cases.add("cast-i64", "Cast", [floats(512, 512)], to=TensorProto.INT64)
    cases.add("cast-f16", "Cast", [floats(512, 512)], to=TensorProto.FLOAT16)
    scale = [np.float32(0.02), np.uint8(128)]
    cases.add("quantize", "QuantizeLinear", [floats(512, 512)], scale)
    cases.add("dequantize", "DequantizeLinear", [u8(512, 512)], scale)
    cases.add("quantize-dynamic", "DynamicQuantizeLinear", [floats(128, 768)], outputs=3)
    wide = lambda: below(1 << 20, 512, 512)
    cases.add("add-i64", "Add", [wide(), wide()])
    cases.add("mul-i64", "Mul", [wide(), wide()])
    cases.add("div-i32", "Div", [below(1000, 256, 256).astype(np.int32)], [np.full((256, 256), 7, np.int32)])


def recurrent(cases):
    for op, gates in (("LSTM", 4), ("GRU", 3)):
        weights = [floats(1, gates * 128, 64) / 8, floats(1, gates * 128, 128) / 8, floats(1, 2 * gates * 128)]
        cases.add(op.lower(), op, [floats(50, 1, 64)], weights, hidden_size=128)


def main():
    cases = Cases(sys.argv[1])
    for family in (convolutions, products, movement, reductions, elementwise, recurrent):
        family(cases)
    cases.write()


if __name__ == "__main__":
    main()
