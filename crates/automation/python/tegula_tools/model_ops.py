#!/usr/bin/env python3
"""Summarises ONNX models: opsets, interface, and each op with its attributes and dtypes, counted.

  model_ops.py MODEL.onnx ...

Subgraphs count too, marked by the op that holds them.  Needs onnx."""
import collections
import os
import sys

import onnx
from onnx import TensorProto, helper

LONGEST_LIST = 8


def dtype_name(elem_type):
    return TensorProto.DataType.Name(elem_type).lower() if elem_type else "?"


def show_value(value):
    tensor = value.type.tensor_type
    if not value.type.HasField("tensor_type"):
        return f"{value.name}: {value.type.WhichOneof('value')}"
    dims = [d.dim_param or (str(d.dim_value) if d.HasField("dim_value") else "?") for d in tensor.shape.dim]
    return f"{value.name}: {dtype_name(tensor.elem_type)}[{', '.join(dims)}]"


def show_attribute(attribute):
    value = helper.get_attribute_value(attribute)
    if attribute.type == onnx.AttributeProto.GRAPH:
        return f"{attribute.name}=<graph of {len(value.node)} nodes>"
    if attribute.type == onnx.AttributeProto.TENSOR:
        return f"{attribute.name}={dtype_name(value.data_type)}{list(value.dims)}"
    if attribute.type == onnx.AttributeProto.FLOAT:
        return f"{attribute.name}={value:.6g}"
    if isinstance(value, bytes):
        return f"{attribute.name}={value.decode(errors='replace')}"
    if hasattr(value, "__len__"):
        shown = ",".join(str(v.decode() if isinstance(v, bytes) else v) for v in value[:LONGEST_LIST])
        return f"{attribute.name}=[{shown}{',...' if len(value) > LONGEST_LIST else ''}]"
    return f"{attribute.name}={value}"


def walk(graph, within, known, visit):
    """Calls visit(node, within, known) for each node; known maps a value's name to its dtype."""
    known = dict(known)
    for tensor in graph.initializer:
        known[tensor.name] = f"const {dtype_name(tensor.data_type)}{list(tensor.dims)}"
    for value in list(graph.input) + list(graph.value_info) + list(graph.output):
        known.setdefault(value.name, show_value(value).split(": ", 1)[1])
    for node in graph.node:
        visit(node, within, known)
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                walk(attribute.g, f"{within}{node.op_type}.{attribute.name}/", known, visit)


def summarise(path):
    model = onnx.load(path)
    try:
        model = onnx.shape_inference.infer_shapes(model)
    except Exception as error:  # An op outside the standard: go on without inferred shapes.
        print(f"  (shape inference: {str(error).splitlines()[0]})")
    opsets = ", ".join(f"{o.domain or 'ai.onnx'} {o.version}" for o in model.opset_import)
    print(f"  ir {model.ir_version}; opsets {opsets}; producer {model.producer_name} {model.producer_version}")
    print(f"  {len(model.graph.node)} nodes at top, {len(model.graph.initializer)} initializers, {len(model.functions)} functions")
    constants = {tensor.name for tensor in model.graph.initializer}
    for value in model.graph.input:
        if value.name not in constants:
            print(f"  in  {show_value(value)}")
    for value in model.graph.output:
        print(f"  out {show_value(value)}")

    ops = collections.Counter()
    variants = collections.defaultdict(collections.Counter)
    example = {}

    def visit(node, within, known):
        op = within + (node.domain + "::" if node.domain else "") + node.op_type
        ops[op] += 1
        variant = " ".join(sorted(show_attribute(a) for a in node.attribute))
        arity = f"({sum(bool(i) for i in node.input)}->{len(node.output)})"
        key = f"{arity} {variant}".rstrip()
        variants[op][key] += 1
        example.setdefault((op, key), ", ".join(known.get(i, "?") if i else "-" for i in node.input))

    walk(model.graph, "", {}, visit)
    for op, count in sorted(ops.items(), key=lambda item: (item[0].count("/"), -item[1], item[0])):
        print(f"  {count:5} {op}")
        for key, n in variants[op].most_common(12):
            print(f"          {n:4}x {key}    e.g. {example[op, key]}")
        if len(variants[op]) > 12:
            print(f"          ... {len(variants[op]) - 12} more variants")


def main():
    for path in sys.argv[1:]:
        print(f"== {os.path.basename(path)} ({os.path.getsize(path)} bytes)")
        summarise(path)
        print()


if __name__ == "__main__":
    main()
