#!/usr/bin/env python3
"""Runs another engine on inputs in files and keeps what it gives.

  peer_outputs.py onnxruntime|openvino-f32|openvino-bf16 MODEL < PLAN.json

PLAN is a list of {inputs: {name: FILE.npy}, outputs: FOLDER}; output i of each goes to FOLDER/<i>.npy, in the model's
order.  One thread; engines and their options are those of `peer_rounds.py`.  Needs numpy and the engine."""
import json
import os
import sys

import numpy as np
from tegula_tools.peer_rounds import OnnxRuntime, OpenVino


def main():
    name, model = sys.argv[1:]
    engine = OnnxRuntime() if name == "onnxruntime" else OpenVino(name.removeprefix("openvino-"))
    session = engine.load(model, 1)
    for step in json.load(sys.stdin):
        feed = {name: np.load(path) for name, path in step["inputs"].items()}
        os.makedirs(step["outputs"], exist_ok=True)
        for i, array in enumerate(engine.outputs(session, feed)):
            np.save(os.path.join(step["outputs"], f"{i}.npy"), np.asarray(array).copy(order="C"))


if __name__ == "__main__":
    main()
