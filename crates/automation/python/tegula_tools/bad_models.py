#!/usr/bin/env python3
"""Writes one good model, its inputs, and models that are bad in one way each.

  bad_models.py DIR

Needs numpy and onnx; the checker is not asked, since it would refuse."""
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def value(name, shape, dtype=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def model(nodes, initializers=(), opset=17, domains=()):
    inputs, outputs = [value("x", ["batch", 4])], [value("y", None)]
    graph = helper.make_graph(nodes, "bad", inputs, outputs, list(initializers))
    opsets = [helper.make_opsetid("", opset)] + [helper.make_opsetid(domain, 1) for domain in domains]
    made = helper.make_model(graph, opset_imports=opsets)
    made.ir_version = 8
    return made


def node(op_type, inputs, outputs, **attributes):
    return helper.make_node(op_type, inputs, outputs, name=f"the_{op_type.lower()}", **attributes)


def weight(name="w", shape=(4, 3)):
    return numpy_helper.from_array(np.linspace(-1, 1, int(np.prod(shape)), dtype=np.float32).reshape(shape), name)


def external(location, offset=None, length=None):
    """A product with a weight whose data stands in another file."""
    tensor = weight()
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, entry in (("location", location), ("offset", offset), ("length", length)):
        if entry is not None:
            tensor.external_data.add(key=key, value=str(entry))
    return model([node("MatMul", ["x", "w"], ["y"])], [tensor])


def short_constant():
    tensor = weight()
    tensor.raw_data = tensor.raw_data[:-4]
    return model([node("MatMul", ["x", "w"], ["y"])], [tensor])


def attribute_type():
    made = model([node("Softmax", ["x"], ["y"])])
    made.graph.node[0].attribute.append(helper.make_attribute("axis", "last"))
    return made


def long_name():
    """An output whose name is longer than a file's may be."""
    made = model([node("Relu", ["x"], ["y" * 300])])
    made.graph.output[0].name = "y" * 300
    return made


def endless():
    """A loop that goes on while its data is finite."""
    carried = [value("v", ["batch", 4]), value("w", ["batch", 4])]
    body = helper.make_graph(
        [
            helper.make_node("Relu", ["v"], ["w"]),
            helper.make_node("ReduceMax", ["w"], ["most"], keepdims=0),
            helper.make_node("Less", ["most", "limit"], ["go"]),
        ],
        "body",
        [value("i", [], TensorProto.INT64), value("going", [], TensorProto.BOOL), carried[0]],
        [value("go", [], TensorProto.BOOL), carried[1]],
        [numpy_helper.from_array(np.float32(np.inf), "limit")],
    )
    return model([node("Loop", ["", "", "x"], ["y"], body=body)])


MODELS = {
    "good": lambda: model(
        [node("MatMul", ["x", "w"], ["h"]), node("Relu", ["h"], ["r"]), node("Softmax", ["r"], ["y"], axis=-1)],
        [weight()],
    ),
    "unknown_op": lambda: model([node("Frobnicate", ["x"], ["y"])]),
    "unknown_ops": lambda: model(
        [node("Frobnicate", ["x"], ["a"]), node("Relu", ["a"], ["b"]), node("Defrobnicate", ["b"], ["y"])]
    ),
    "many_causes": lambda: model(
        [helper.make_node(f"Frob{i % 3}", ["x"], [f"f{i}"], name=f"frob_{i}") for i in range(14)]
        + [helper.make_node("MatMul", ["x", f"w{i}"], [f"m{i}"], name=f"product_{i}") for i in range(7)]
        + [node("Relu", ["f0"], ["y"])],
        [weight(f"w{i}", (5 + i, 3)) for i in range(7)],
    ),
    "unknown_domain": lambda: model([node("Relu", ["x"], ["y"], domain="org.example")], domains=["org.example"]),
    "opset_5": lambda: model([node("Selu", ["x"], ["y"])], opset=5),
    "opset_99": lambda: model([node("Relu", ["x"], ["y"])], opset=99),
    "cycle": lambda: model([node("Add", ["x", "b"], ["a"]), node("Relu", ["a"], ["b"]), node("Neg", ["b"], ["y"])]),
    "undefined_value": lambda: model([node("Add", ["x", "nowhere"], ["y"])]),
    "defined_twice": lambda: model([node("Relu", ["x"], ["y"]), node("Neg", ["x"], ["y"])]),
    "shape_mismatch": lambda: model([node("MatMul", ["x", "w"], ["y"])], [weight(shape=(5, 3))]),
    "type_mismatch": lambda: model(
        [node("Add", ["x", "w"], ["y"])], [numpy_helper.from_array(np.ones(4, np.int64), "w")]
    ),
    "attribute_type": attribute_type,
    "short_constant": short_constant,
    "external_missing": lambda: external("missing.bin"),
    "external_parent": lambda: external("../outside.bin"),
    "external_absolute": lambda: external("/etc/hostname"),
    "external_link": lambda: external("link.bin"),
    "external_pipe": lambda: external("pipe.bin"),
    "long_name": long_name,
    "never_fits": lambda: model(
        [node("Reshape", ["x", "shape"], ["y"])], [numpy_helper.from_array(np.array([3, 7]), "shape")]
    ),
    "endless": endless,
    "external_range": lambda: external("few_bytes.bin", offset=0, length=48),
}


def main():
    (folder,) = sys.argv[1:]
    os.chdir(folder)
    for name, make in MODELS.items():
        with open(name + ".onnx", "wb") as f:
            f.write(make().SerializeToString())
    with open("good.onnx", "rb") as f:
        good = f.read()
    with open("cut.onnx", "wb") as f:
        f.write(good[: len(good) // 2])
    with open("text.onnx", "w") as f:
        f.write("A line of text is no model.\n")
    open("empty.onnx", "wb").close()
    with open("../outside.bin", "wb") as f:
        f.write(bytes(48))
    os.symlink("../outside.bin", "link.bin")
    os.mkfifo("pipe.bin")
    os.mkfifo("pipe.onnx")
    with open("few_bytes.bin", "wb") as f:
        f.write(bytes(20))
    np.save("x.npy", np.ones((2, 4), np.float32))
    np.save("f64.npy", np.ones((2, 4), np.float64))
    np.save("wide.npy", np.ones((2, 5), np.float32))
    np.save("flat.npy", np.ones(8, np.float32))


if __name__ == "__main__":
    main()
