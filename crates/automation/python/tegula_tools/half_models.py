#!/usr/bin/env python3
"""Makes a model of f16 from one of f32, and what it should give.

  half_models.py MODEL.onnx DIR

DIR is one that ort_baseline.py wrote.  DIR/half.onnx is the model with f16 in the place of f32 throughout, inputs and outputs
too; DIR/half.json is {key, model, steps: [{inputs, exact, rounded, peer}]}, each of the four name -> file: inputs of f16;
results of the model in f64; results in f64 with the result of each node rounded to f16 once; those of ONNX Runtime.
A weight that f16 cannot hold is an error.  Evaluated by `onnx.reference` and independent_ops.py.  Needs numpy, onnx and onnxruntime."""
import hashlib
import json
import os
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnx.reference.op_run import OpRun

from tegula_tools import independent_ops
from tegula_tools.independent_outputs import is_cached

ROUNDING = "tegula.rounding"
# Inputs that stay f32: by the specification of Resize.
NOT_DATA = {"Resize": (1, 2)}
MOST = np.float64(np.finfo(np.float16).max)


class Half(OpRun):
    """Floats of f64 rounded to f16; others as they are."""

    op_domain = ROUNDING

    def _run(self, x):
        return (x.astype(np.float16).astype(np.float64) if getattr(x, "dtype", None) == np.float64 else x,)


def retyped(tensor, source, target):
    """A tensor in another type; a bound or mask that is the type's largest stays the largest."""
    if tensor.data_type != source:
        return tensor
    value = numpy_helper.to_array(tensor)
    if target == TensorProto.FLOAT16:
        bounds = np.isin(np.abs(value), [np.inf, np.finfo(np.float32).max])
        if np.any((np.abs(value) > MOST) & ~bounds):
            sys.exit(f"a weight of {np.abs(value[~bounds]).max():.3g} is past the range of f16")
        value = np.where(np.isinf(value), value, np.clip(value, -MOST, MOST))
    return numpy_helper.from_array(value.astype(helper.tensor_dtype_to_np_dtype(target)), tensor.name)


def retype_ports(ports, source, target):
    for port in ports:
        if port.type.tensor_type.elem_type == source:
            port.type.tensor_type.elem_type = target


def kept(graph):
    """Names of what stays f32."""
    names = set()
    for node in graph.node:
        names.update(node.input[i] for i in NOT_DATA.get(node.op_type, ()) if i < len(node.input))
    return names


def retype(graph, source, target):
    """Puts one float type in the place of another, in subgraphs too."""
    stays = kept(graph)
    tensors = [t if t.name in stays else retyped(t, source, target) for t in graph.initializer]
    del graph.initializer[:]
    graph.initializer.extend(tensors)
    del graph.value_info[:]
    retype_ports([*graph.input, *graph.output], source, target)
    for node in graph.node:
        if any(name in stays for name in node.output):
            continue
        for attribute in node.attribute:
            if attribute.name in ("to", "dtype") and attribute.i == source:
                attribute.i = target
            elif attribute.type == onnx.AttributeProto.TENSOR:
                attribute.t.CopyFrom(retyped(attribute.t, source, target))
            elif attribute.type == onnx.AttributeProto.GRAPH:
                retype(attribute.g, source, target)
            elif node.op_type == "Constant" and attribute.name in ("value_float", "value_floats"):
                value = helper.get_attribute_value(attribute)
                tensor = numpy_helper.from_array(np.array(value, helper.tensor_dtype_to_np_dtype(target)))
                attribute.CopyFrom(helper.make_attribute("value", tensor))


def round_results(graph):
    nodes = list(graph.node)
    del graph.node[:]
    for node in nodes:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                round_results(attribute.g)
        exact = [name and f"{name}!exact" for name in node.output]
        names = list(node.output)
        node.output[:] = exact
        graph.node.append(node)
        for name, inner in zip(names, exact):
            if name:
                graph.node.append(helper.make_node("Half", [inner], [name], domain=ROUNDING))


def halved(model):
    half = onnx.ModelProto()
    half.CopyFrom(model)
    retype(half.graph, TensorProto.FLOAT, TensorProto.FLOAT16)
    return half


def evaluated(half, feed, rounds):
    """Results in f64."""
    model = onnx.ModelProto()
    model.CopyFrom(half)
    retype(model.graph, TensorProto.FLOAT16, TensorProto.DOUBLE)
    if rounds:
        round_results(model.graph)
        model.opset_import.append(helper.make_opsetid(ROUNDING, 1))
    evaluator = independent_ops.evaluator(model, [Half])
    with np.errstate(all="ignore"):
        return dict(zip(evaluator.output_names, evaluator.run(None, feed)))


def key_of(model, io):
    digest = hashlib.sha256(io["key"].encode())
    for path in (model, __file__, independent_ops.__file__):
        with open(path, "rb") as f:
            digest.update(f.read())
    return digest.hexdigest() + onnx.__version__ + onnxruntime.__version__


def saved(folder, name, tensors):
    """Name -> file of each tensor."""
    files = {}
    for number, (tensor, value) in enumerate(tensors.items()):
        files[tensor] = os.path.join(folder, f"{name}_{number}.npy")
        np.save(files[tensor], np.asarray(value).copy(order="C"))
    return files


def main():
    source, folder = sys.argv[1], sys.argv[2]
    with open(os.path.join(folder, "io.json")) as f:
        io = json.load(f)
    target, key = os.path.join(folder, "half.json"), key_of(source, io)
    if is_cached(target, key):
        return
    half = halved(onnx.load(source))
    path = os.path.join(folder, "half.onnx")
    onnx.save(half, path)
    onnxruntime.set_default_logger_severity(3)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    steps = []
    for index, step in enumerate(io["steps"]):
        feed = {name: np.load(file) for name, file in step["inputs"].items()}
        feed = {name: x.astype(np.float16) if x.dtype == np.float32 else x for name, x in feed.items()}
        wide = {name: x.astype(np.float64) if x.dtype == np.float16 else x for name, x in feed.items()}
        sides = {
            "inputs": feed,
            "exact": evaluated(half, wide, False),
            "rounded": evaluated(half, wide, True),
            "peer": dict(zip(names, session.run(None, feed))),
        }
        steps.append({side: saved(folder, f"half_{index}_{side}", tensors) for side, tensors in sides.items()})
    with open(target, "w") as f:
        json.dump({"key": key, "model": path, "steps": steps}, f, indent=1)


if __name__ == "__main__":
    main()
