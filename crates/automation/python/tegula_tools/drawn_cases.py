#!/usr/bin/env python3
"""Draws models of a node or a few, attributes, shapes and types at random, and lets ONNX Runtime say what each gives.

  drawn_cases.py DIR [--seed N] [--count N] [--refusals]

One case is a form of those in drawn/ with a number: what it draws depends on the seed, the form's name and the number
alone.  What ONNX Runtime refuses is drawn again; `--refusals` says why.  It runs without its optimisations, whose fused
kernels saturate and round as they like.
DIR/<case>/model.onnx and the .npy files of inputs and results; DIR/cases.json lists {name, rtol, atol, inputs, outputs}
as onnx_node_cases.py does, and `step` where a result has 8 bits: few of its elements may be one step off.  Those are
judged by independent_ops.py, as ONNX Runtime's products of bytes saturate on processors without VNNI.  Other integers
must be equal, or within the case's atol where floats are rounded to them.  Needs numpy, onnx and onnxruntime."""
import argparse
import json
import os
import shutil
import zlib

import numpy as np
import onnx
import onnxruntime as ort
from onnx import helper

# Each adds its forms to `FORMS`.
import tegula_tools.drawn.elementwise
import tegula_tools.drawn.features
import tegula_tools.drawn.movement
import tegula_tools.drawn.networks
import tegula_tools.drawn.products
import tegula_tools.drawn.resizing
import tegula_tools.drawn.sequences
import tegula_tools.drawn.windows
from tegula_tools import independent_ops
from tegula_tools.drawn.case import FORMS, Case

SEED, COUNT = 1, 6000
# Draws of a case until ONNX Runtime takes one.
TRIES = 30


def session(model):
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def write(root, name, case):
    """The case as `cases.json` lists it. Raises what ONNX Runtime refuses it with."""
    outputs = case.results
    bare = case.model([helper.make_empty_tensor_value_info(output) for output in outputs])
    given = {key: np.ascontiguousarray(value) if value.ndim else value for key, value in case.inputs.items()}
    values = [np.asarray(value) for value in session(bare).run(outputs, given)]
    if case.step:
        values = [np.asarray(value) for value in independent_ops.evaluator(bare).run(outputs, given)]
    if case.finite and not all(np.isfinite(value).all() for value in values):
        raise ValueError("the result is not finite")
    folder = os.path.join(root, name)
    os.makedirs(folder, exist_ok=True)
    typed = [helper.make_tensor_value_info(output, helper.np_dtype_to_tensor_dtype(value.dtype), None)
             for output, value in zip(outputs, values)]
    onnx.save(case.model(typed), os.path.join(folder, "model.onnx"))

    def slots(pairs):
        listed = []
        for key, value in pairs:
            np.save(os.path.join(folder, f"{key}.npy"), value.copy(order="C"))
            listed.append(dict(name=key, kind="tensor", dtype=value.dtype.name, file=f"{key}.npy"))
        return listed

    whole = all(not np.issubdtype(value.dtype, np.floating) for value in values)
    exact = whole and case.atol < 1
    if case.step:
        # A little more than a step of floats.
        return dict(name=name, rtol=0.0, atol=case.step * 1.002, step=case.step, inputs=slots(given.items()),
                    outputs=slots(zip(outputs, values)))
    return dict(name=name, rtol=0.0 if whole else case.rtol, atol=0.0 if exact else case.atol,
                inputs=slots(given.items()), outputs=slots(zip(outputs, values)))


def draw(root, form, seed, number, refusals):
    """The case of a form with a number, as `write` gives it; none where ONNX Runtime takes no draw."""
    for attempt in range(TRIES):
        case = Case(np.random.Generator(np.random.PCG64([seed, zlib.crc32(form.__name__.encode()), number, attempt])))
        form(case)
        try:
            return write(root, f"{form.__name__}_{number:03}", case)
        except Exception as error:
            if refusals:
                print(form.__name__, number, " ".join(str(error).split()))
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("dir")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--refusals", action="store_true")
    arguments = parser.parse_args()
    shutil.rmtree(arguments.dir, ignore_errors=True)
    os.makedirs(arguments.dir)
    listed, numbers = [], {}
    for i in range(arguments.count):
        form = FORMS[i % len(FORMS)]
        number = numbers[form] = numbers.get(form, -1) + 1
        row = draw(arguments.dir, form, arguments.seed, number, arguments.refusals)
        if row is None:
            raise SystemExit(f"{form.__name__} {number}: ONNX Runtime took none of {TRIES} draws")
        listed.append(row)
    with open(os.path.join(arguments.dir, "cases.json"), "w") as f:
        json.dump({"cases": listed}, f, indent=1)


if __name__ == "__main__":
    main()
