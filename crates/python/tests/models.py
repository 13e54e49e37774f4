"""Small models, as bytes."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

TYPES = {
    "bool": TensorProto.BOOL,
    "int4": TensorProto.INT4,
    "uint4": TensorProto.UINT4,
    "int8": TensorProto.INT8,
    "uint8": TensorProto.UINT8,
    "int16": TensorProto.INT16,
    "uint16": TensorProto.UINT16,
    "int32": TensorProto.INT32,
    "uint32": TensorProto.UINT32,
    "int64": TensorProto.INT64,
    "uint64": TensorProto.UINT64,
    "float4_e2m1fn": TensorProto.FLOAT4E2M1,
    "float8_e4m3fn": TensorProto.FLOAT8E4M3FN,
    "float8_e4m3fnuz": TensorProto.FLOAT8E4M3FNUZ,
    "float8_e5m2": TensorProto.FLOAT8E5M2,
    "float8_e5m2fnuz": TensorProto.FLOAT8E5M2FNUZ,
    "float16": TensorProto.FLOAT16,
    "bfloat16": TensorProto.BFLOAT16,
    "float32": TensorProto.FLOAT,
    "float64": TensorProto.DOUBLE,
}


def model(nodes, inputs, outputs, initializers=(), opset=23):
    """`inputs` and `outputs`: name, element type, shape."""

    def infos(rows):
        return [helper.make_tensor_value_info(name, TYPES[dtype], shape) for name, dtype, shape in rows]

    constants = [numpy_helper.from_array(array, name) for name, array in initializers]
    graph = helper.make_graph(nodes, "test", infos(inputs), infos(outputs), constants)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    made.ir_version = 10
    return made.SerializeToString()


def add(shape=("n", 3), dtype="float32"):
    """`sum = a + b`."""
    rows = [("a", dtype, shape), ("b", dtype, shape)]
    return model([helper.make_node("Add", ["a", "b"], ["sum"])], rows, [("sum", dtype, shape)])


def identity(shape, dtype):
    """`y = x`."""
    return model([helper.make_node("Identity", ["x"], ["y"])], [("x", dtype, shape)], [("y", dtype, shape)])


def product(n=64, k=32, m=48):
    """`y = relu(x w)`."""
    w = np.random.default_rng(1).standard_normal((k, m), np.float32)
    nodes = [helper.make_node("MatMul", ["x", "w"], ["h"]), helper.make_node("Relu", ["h"], ["y"])]
    return model(nodes, [("x", "float32", ["n", k])], [("y", "float32", ["n", m])], [("w", w)]), w


def gather(n=3):
    """`y = x[i]`."""
    nodes = [helper.make_node("Gather", ["x", "i"], ["y"])]
    return model(nodes, [("x", "float32", [n]), ("i", "int64", ["m"])], [("y", "float32", ["m"])])


def with_default():
    """`y = x + w`, where `w` is an input that is 1 2 unless it is given."""
    rows = [("x", "float32", [2]), ("w", "float32", [2])]
    w = np.array([1, 2], np.float32)
    return model([helper.make_node("Add", ["x", "w"], ["y"])], rows, [("y", "float32", [2])], [("w", w)])
