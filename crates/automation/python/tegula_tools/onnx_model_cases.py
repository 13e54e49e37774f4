#!/usr/bin/env python3
"""Dumps the model test cases that come as files with the onnx package, one folder each, as onnx_node_cases.py does.

  onnx_model_cases.py OUT_DIR

The kinds are simple, pytorch-converted and pytorch-operator, and the light ones of `real`: classifiers whose weights
are constants and whose input is the package's own ramp; their results come with them.  Needs onnx."""
import glob
import os
import sys

import onnx
from onnx import numpy_helper

from tegula_tools.onnx_node_cases import dump_value, write_index

KINDS = ("simple", "pytorch-converted", "pytorch-operator", "real")
LIGHT = "onnx/backend/test/data/light/"


def read_value(path, info):
    """The value in a file, of the type that the graph gives it."""
    with open(path, "rb") as f:
        data = f.read()
    kind = info.type.WhichOneof("value")
    if kind == "sequence_type":
        return numpy_helper.to_list(onnx.SequenceProto.FromString(data))
    if kind == "optional_type":
        return numpy_helper.to_optional(onnx.OptionalProto.FromString(data))
    return numpy_helper.to_array(onnx.TensorProto.FromString(data))


def read_set(folder, side, infos):
    paths = [os.path.join(folder, f"{side}_{i}.pb") for i in range(len(infos))]
    assert len(glob.glob(os.path.join(folder, f"{side}_*.pb"))) == len(paths), folder
    return [read_value(path, info) for path, info in zip(paths, infos)]


def light_values(path, inputs, outputs):
    """What the package's own runner feeds and expects."""
    from onnx.backend.test.runner import Runner

    prefix = path.removesuffix(".onnx")
    expected = [read_value(f"{prefix}_output_{i}.pb", info) for i, info in enumerate(outputs)]
    return [Runner.generate_dummy_data(info) for info in inputs], expected


def dump_case(case, out_dir):
    is_light = case.url is not None
    if is_light:
        package = os.path.dirname(onnx.__file__)
        path = os.path.join(os.path.dirname(package), case.url)
    else:
        path = os.path.join(case.model_dir, "model.onnx")
    model = onnx.load(path)
    constants = {tensor.name for tensor in model.graph.initializer}
    inputs = [value for value in model.graph.input if value.name not in constants]
    outputs = list(model.graph.output)
    if is_light:
        values = light_values(path, inputs, outputs)
    else:
        (folder,) = glob.glob(os.path.join(case.model_dir, "test_data_set_*"))
        values = read_set(folder, "input", inputs), read_set(folder, "output", outputs)
    folder = os.path.join(out_dir, case.name)
    os.makedirs(folder, exist_ok=True)
    onnx.save(model, os.path.join(folder, "model.onnx"))
    rows = {"name": case.name, "rtol": case.rtol, "atol": case.atol}
    for side, infos, side_values in zip(("input", "output"), (inputs, outputs), values):
        rows[side + "s"] = [
            dump_value(value, info, os.path.join(folder, f"{side}_{i}.npy"))
            for i, (value, info) in enumerate(zip(side_values, infos))
        ]
    return rows


def main():
    (out_dir,) = sys.argv[1:]
    from onnx.backend.test.loader import load_model_tests

    tests = [test for kind in KINDS for test in load_model_tests(kind=kind)]
    tests = [test for test in tests if test.url is None or test.url.startswith(LIGHT)]
    cases = [dump_case(test, out_dir) for test in tests]
    assert len({case["name"] for case in cases}) == len(cases), "two cases have one name"
    write_index(cases, out_dir)


if __name__ == "__main__":
    main()
