#!/usr/bin/env python3
"""Draws inputs and runs ONNX Runtime on them; keeps both as .npy files, so that each is done once.

  ort_baseline.py < PLAN.json

PLAN is a list of {id, model, dir, values, images, shapes, feedback, steps}:
  values    input name -> a rule of input_values.py
  images    name in such a rule -> file
  shapes    input name -> list of sizes
  feedback  input name -> the output that feeds it in the next step; {} for a single run
  steps     how many runs; 1 without feedback
Each run writes DIR/step_<k>/input_<name>.npy and output_<name>.npy (characters outside [A-Za-z0-9._-] become _)
and DIR/io.json names them: {key, steps: [{inputs: {name: file}, outputs: {name: file}, moved: [{name: file}]}]}.
`moved` are the outputs for inputs of which each element is 1 + 1e-6 or 1 - 1e-6 times itself, or where no input is
of floats for such constants: how much of a result the inputs determine.  Needs numpy, onnx and onnxruntime."""
import hashlib
import json
import os
import re
import sys

import numpy as np
import onnx
import onnxruntime as ort
from onnx import numpy_helper

from tegula_tools import input_values, png

MOVE, MOVES = 1e-6, 3
DTYPES = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(float16)": np.float16,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(uint8)": np.uint8,
    "tensor(int8)": np.int8,
    "tensor(bool)": np.bool_,
}


def safe(name):
    return re.sub(r"[^A-Za-z0-9._-]", "_", name)


def cache_key(job):
    digest = hashlib.sha256()
    for path in (job["model"], __file__, input_values.__file__, png.__file__):
        with open(path, "rb") as f:
            digest.update(f.read())
    described = {k: v for k, v in job.items() if k not in ("model", "dir", "images")}
    described["images"] = sorted(job["images"])
    key = [digest.hexdigest(), ort.__version__, described]
    return hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()


def is_cached(job, key):
    try:
        with open(os.path.join(job["dir"], "io.json")) as f:
            return json.load(f)["key"] == key
    except (OSError, ValueError, KeyError):
        return False


def session_of(model):
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def moved(x, rng):
    x = np.asarray(x)
    if not np.issubdtype(x.dtype, np.floating):
        return x
    with np.errstate(over="ignore"):
        y = np.asarray(x * (1 + MOVE * rng.choice([-1.0, 1.0], x.shape))).astype(x.dtype)
    # Numbers past the end of their type stay.
    return np.asarray(np.where(np.isfinite(y), y, x))


def with_moved_constants(path, rng):
    model = onnx.load(path)
    for tensor in model.graph.initializer:
        if tensor.data_type == onnx.TensorProto.FLOAT:
            tensor.CopyFrom(numpy_helper.from_array(moved(numpy_helper.to_array(tensor), rng), tensor.name))
    return model.SerializeToString()


class Chain:
    """A session and the outputs that it feeds back, each step's inputs moved or as they are."""

    def __init__(self, job, session, rng=None):
        self.job, self.session, self.rng, self.carried = job, session, rng, {}
        self.outputs = [value.name for value in session.get_outputs()]

    def run(self, step):
        feed = {}
        for value in self.session.get_inputs():
            name = value.name
            feed[name] = self.carried.get(name)
            if feed[name] is None:
                rule, shape = self.job["values"][name], self.job["shapes"][name]
                dtype = DTYPES[value.type]
                drawn = input_values.draw(self.job["id"], name, step, rule, shape, dtype, self.job["images"])
                feed[name] = drawn if self.rng is None else moved(drawn, self.rng)
        results = dict(zip(self.outputs, self.session.run(self.outputs, feed)))
        self.carried = {name: results[output] for name, output in self.job["feedback"].items()}
        return feed, results


def chains(job):
    """The plain one, then those that are moved."""
    session = session_of(job["model"])
    found = [Chain(job, session)]
    floats = any(DTYPES[value.type] in (np.float16, np.float32, np.float64) for value in session.get_inputs())
    for k in range(MOVES):
        rng = np.random.Generator(np.random.PCG64(k))
        found.append(Chain(job, session if floats else session_of(with_moved_constants(job["model"], rng)), rng))
    return found


def saved(folder, side, tensors):
    paths = {}
    for name, array in tensors.items():
        paths[name] = os.path.join(folder, f"{side}_{safe(name)}.npy")
        np.save(paths[name], np.asarray(array).copy(order="C"))
    return paths


def run(job):
    key = cache_key(job)
    if is_cached(job, key):
        return
    plain, *others = chains(job)
    steps = []
    for step in range(job["steps"]):
        folder = os.path.join(job["dir"], f"step_{step:02}")
        os.makedirs(folder, exist_ok=True)
        feed, results = plain.run(step)
        row = {"inputs": saved(folder, "input", feed), "outputs": saved(folder, "output", results)}
        row["moved"] = [saved(folder, f"moved_{k}", chain.run(step)[1]) for k, chain in enumerate(others)]
        steps.append(row)
    with open(os.path.join(job["dir"], "io.json"), "w") as f:
        json.dump({"key": key, "steps": steps}, f, indent=1)


def main():
    for job in json.load(sys.stdin):
        run(job)


if __name__ == "__main__":
    main()
