#!/usr/bin/env python3
"""Draws inputs and runs ONNX Runtime on them; keeps both as .npy files, so that each is done once.

  ort_baseline.py < PLAN.json

PLAN is a list of {id, model, dir, values, shapes, feedback, steps}:
  values    input name -> uniform:LO:HI | normal | ids:LO:HI (HI excluded) | zeros | ones | const:X
  shapes    input name -> list of sizes
  feedback  input name -> the output that feeds it in the next step; {} for a single run
  steps     how many runs; 1 without feedback
Each run writes DIR/step_<k>/input_<name>.npy and output_<name>.npy (characters outside [A-Za-z0-9._-] become _)
and DIR/io.json names them: {key, steps: [{inputs: {name: file}, outputs: {name: file}}]}.
The generator is numpy's PCG64; seed = first 8 bytes of sha256(id + "/" + input name), little endian,
and for later steps sha256(id + "/" + input name + "/" + step).  Needs numpy and onnxruntime."""
import hashlib
import json
import os
import re
import sys

import numpy as np
import onnxruntime as ort

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


def draw(model_id, name, step, rule, shape, dtype):
    key = f"{model_id}/{name}" + (f"/{step}" if step else "")
    seed = int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "little")
    rng = np.random.Generator(np.random.PCG64(seed))
    kind, *numbers = rule.split(":")
    if kind == "uniform":
        return rng.uniform(float(numbers[0]), float(numbers[1]), shape).astype(dtype)
    if kind == "normal":
        return rng.standard_normal(shape).astype(dtype)
    if kind == "ids":
        return rng.integers(int(numbers[0]), int(numbers[1]), shape).astype(dtype)
    if kind in ("zeros", "ones"):
        return np.full(shape, 0 if kind == "zeros" else 1, dtype)
    if kind == "const":
        return np.full(shape, float(numbers[0])).astype(dtype)
    raise SystemExit(f"{model_id}: input {name} has no rule `{rule}`")


def safe(name):
    return re.sub(r"[^A-Za-z0-9._-]", "_", name)


def cache_key(job):
    with open(job["model"], "rb") as f:
        digest = hashlib.file_digest(f, "sha256").hexdigest()
    described = {k: v for k, v in job.items() if k not in ("model", "dir")}
    return hashlib.sha256(json.dumps([digest, ort.__version__, described], sort_keys=True).encode()).hexdigest()


def is_cached(job, key):
    try:
        with open(os.path.join(job["dir"], "io.json")) as f:
            return json.load(f)["key"] == key
    except (OSError, ValueError, KeyError):
        return False


def run(job):
    key = cache_key(job)
    if is_cached(job, key):
        return
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    session = ort.InferenceSession(job["model"], options, providers=["CPUExecutionProvider"])
    outputs = [value.name for value in session.get_outputs()]
    carried, steps = {}, []
    for step in range(job["steps"]):
        feed = {}
        for value in session.get_inputs():
            rule, shape = job["values"][value.name], job["shapes"][value.name]
            drawn = carried.get(value.name)
            feed[value.name] = (
                draw(job["id"], value.name, step, rule, shape, DTYPES[value.type]) if drawn is None else drawn
            )
        results = dict(zip(outputs, session.run(outputs, feed)))
        carried = {name: results[output] for name, output in job["feedback"].items()}
        folder = os.path.join(job["dir"], f"step_{step:02}")
        os.makedirs(folder, exist_ok=True)
        row = {"inputs": {}, "outputs": {}}
        for side, tensors in (("input", feed), ("output", results)):
            for name, array in tensors.items():
                path = os.path.join(folder, f"{side}_{safe(name)}.npy")
                np.save(path, np.asarray(array).copy(order="C"))
                row[side + "s"][name] = path
        steps.append(row)
    with open(os.path.join(job["dir"], "io.json"), "w") as f:
        json.dump({"key": key, "steps": steps}, f, indent=1)


def main():
    for job in json.load(sys.stdin):
        run(job)


if __name__ == "__main__":
    main()
