#!/usr/bin/env python3
"""Dumps the node test cases that the onnx package generates, one folder each.

  onnx_node_cases.py OUT_DIR

OUT_DIR/<case>/model.onnx, input_<i>.npy, output_<i>.npy, in the order of the graph's inputs and outputs;
OUT_DIR/cases.json lists per case: rtol, atol and for each input and output
  name, kind (tensor | sequence | optional | string | none), dtype, file (null where .npy cannot hold the value),
  elements (the files of a sequence's tensors).  An optional value that is some is listed as what it holds.
Strings are stored as bytes of UTF-8 along one axis more, filled up with zeros.
Types that NumPy lacks are stored as a structure of one field named after the type.  Needs onnx."""
import json
import os
import sys
import warnings

import numpy as np
import onnx
from onnx import numpy_helper

# ml_dtypes name -> our name and the integer that stores it.
EXTENSION_TYPES = {
    "bfloat16": ("bf16", np.uint16),
    "float4_e2m1fn": ("f4e2m1", np.uint8),
    "float6_e2m3fn": ("f6e2m3", np.uint8),
    "float6_e3m2fn": ("f6e3m2", np.uint8),
    "float8_e4m3fn": ("f8e4m3fn", np.uint8),
    "float8_e4m3fnuz": ("f8e4m3fnuz", np.uint8),
    "float8_e5m2": ("f8e5m2", np.uint8),
    "float8_e5m2fnuz": ("f8e5m2fnuz", np.uint8),
    "float8_e8m0fnu": ("f8e8m0", np.uint8),
    "int2": ("i2", np.int8),
    "uint2": ("u2", np.uint8),
    "int4": ("i4", np.int8),
    "uint4": ("u4", np.uint8),
}


def storable(array):
    """The array as plain NumPy can save it, or None."""
    name = array.dtype.name
    if name in EXTENSION_TYPES:
        ours, storage = EXTENSION_TYPES[name]
        if ours in ("i2", "u2", "i4", "u4"):
            array = array.astype(storage)
        return array.copy(order="C").view(storage).view(np.dtype([(ours, storage)]))
    return array if array.dtype.kind in "biuf" and array.dtype.isbuiltin else None


def dump_value(value, info, path):
    """Writes one input or output; returns its row in cases.json."""
    kind = info.type.WhichOneof("value").removesuffix("_type")
    row = {"name": info.name, "kind": kind, "dtype": None, "file": None, "elements": None}
    if kind == "optional":
        kind = "none" if value is None else info.type.optional_type.elem_type.WhichOneof("value").removesuffix("_type")
        row["kind"], row["optional"] = kind, True
    if kind == "sequence":
        rows = [dump_tensor({}, element, path.replace(".npy", f"_{i}.npy")) for i, element in enumerate(value)]
        if all(row["kind"] == "tensor" and row["file"] for row in rows):
            row["elements"] = [row["file"] for row in rows]
    return dump_tensor(row, value, path) if kind == "tensor" else row


def dump_tensor(row, value, path):
    row = {"kind": "tensor", "file": None, **row}
    if isinstance(value, onnx.TensorProto):
        value = numpy_helper.to_array(value)
    array = np.asarray(value)
    row["dtype"] = array.dtype.name
    if array.dtype == object or array.dtype.kind in "SU":
        # Bytes of UTF-8 along one axis more, filled up with zeros.
        texts = [text if isinstance(text, bytes) else str(text).encode() for text in array.ravel().tolist()]
        width = max([1, *map(len, texts)])
        filled = b"".join(text.ljust(width, b"\0") for text in texts)
        np.save(path, np.frombuffer(filled, np.uint8).reshape(*array.shape, width))
        row["kind"], row["dtype"], row["file"] = "string", "string", os.path.basename(path)
        return row
    stored = storable(array)
    if stored is not None:
        np.save(path, stored)
        row["file"] = os.path.basename(path)
    return row


def dump_case(case, out_dir):
    folder = os.path.join(out_dir, case.name)
    os.makedirs(folder, exist_ok=True)
    onnx.save(case.model, os.path.join(folder, "model.onnx"))
    inputs, outputs = case.data_sets[0]
    graph = case.model.graph
    assert len(inputs) == len(graph.input) and len(outputs) == len(graph.output), case.name
    rows = {"name": case.name, "rtol": case.rtol, "atol": case.atol}
    for side, values, infos in (("input", inputs, graph.input), ("output", outputs, graph.output)):
        rows[side + "s"] = [
            dump_value(value, info, os.path.join(folder, f"{side}_{i}.npy"))
            for i, (value, info) in enumerate(zip(values, infos))
        ]
    return rows


def write_index(cases, out_dir):
    """Writes cases.json of rows that dump_case gave."""
    cases.sort(key=lambda case: case["name"])
    part = os.path.join(out_dir, "cases.json.part")
    with open(part, "w") as f:
        json.dump({"onnx": onnx.__version__, "cases": cases}, f, indent=1)
    os.replace(part, os.path.join(out_dir, "cases.json"))
    print(f"{len(cases)} cases in {out_dir}")


def main():
    (out_dir,) = sys.argv[1:]
    warnings.simplefilter("ignore", RuntimeWarning)
    from onnx.backend.test.case.node import collect_testcases

    write_index([dump_case(case, out_dir) for case in collect_testcases(None)], out_dir)


if __name__ == "__main__":
    main()
