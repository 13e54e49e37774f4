#!/usr/bin/env python3
"""Evaluates a model by `onnx.reference` and independent_ops.py on the inputs of a baseline, once.

  independent_outputs.py MODEL.onnx DIR FEEDBACK

DIR is one that ort_baseline.py wrote; FEEDBACK is input name -> the output that feeds it in the next step, as JSON.
DIR/independent.json is {key, steps: [{output name: file}]}.  Needs numpy and onnx."""
import hashlib
import json
import os
import sys

import numpy as np
import onnx

from tegula_tools import independent_ops


def key_of(model, io):
    digest = hashlib.sha256(io["key"].encode())
    for path in (model, __file__, independent_ops.__file__):
        with open(path, "rb") as f:
            digest.update(f.read())
    return digest.hexdigest() + onnx.__version__


def is_cached(path, key):
    try:
        with open(path) as f:
            return json.load(f)["key"] == key
    except (OSError, ValueError, KeyError):
        return False


def main():
    model, folder, feedback = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
    with open(os.path.join(folder, "io.json")) as f:
        io = json.load(f)
    target, key = os.path.join(folder, "independent.json"), key_of(model, io)
    if is_cached(target, key):
        return
    evaluator, carried, steps = independent_ops.evaluator(onnx.load(model)), {}, []
    for step in io["steps"]:
        feed = {name: carried.get(name, np.load(path)) for name, path in step["inputs"].items()}
        with np.errstate(all="ignore"):
            results = dict(zip(evaluator.output_names, evaluator.run(None, feed)))
        carried = {name: results[output] for name, output in feedback.items()}
        row = {}
        for name, path in step["outputs"].items():
            row[name] = os.path.join(os.path.dirname(path), f"independent_{os.path.basename(path)}")
            np.save(row[name], np.asarray(results[name]).copy(order="C"))
        steps.append(row)
    with open(target, "w") as f:
        json.dump({"key": key, "steps": steps}, f, indent=1)


if __name__ == "__main__":
    main()
