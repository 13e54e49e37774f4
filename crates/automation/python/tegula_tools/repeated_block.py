#!/usr/bin/env python3
"""Writes MiniLM's encoder block repeated until the graph has about N nodes, with 8-wide weights.

  repeated_block.py N OUT.onnx

A graph for timing passes: many ops, almost no data.  Needs numpy and onnx."""
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper

from tegula_tools import derive_models

WIDTH, HEADS, FEED_FORWARD = 8, 2, 16


class Weights(dict):
    """Weights by name, drawn on first use; the shape follows from the name."""

    def __missing__(self, name):
        rng = np.random.default_rng(len(self))
        wide = FEED_FORWARD if "intermediate" in name else WIDTH
        deep = FEED_FORWARD if name.endswith("output.dense.weight") and "attention" not in name else WIDTH
        shape = (wide, deep) if name.endswith("dense.weight") or "self." in name and "weight" in name else (wide,)
        self[name] = rng.uniform(-0.3, 0.3, shape).astype(np.float32)
        return self[name]


def main():
    n_nodes, path = int(sys.argv[1]), sys.argv[2]
    g = derive_models.GraphWriter(Weights())
    g.constant("s4", np.array([0, 0, HEADS, WIDTH // HEADS], np.int64))
    g.constant("s3", np.array([0, 0, WIDTH], np.int64))
    g.constant("scale", np.array(0.5, np.float32))
    g.constant("half", np.array(0.5, np.float32))
    g.constant("rs2", np.array(np.sqrt(2), np.float32))
    mask = derive_models.additive_mask(g)
    x, layer = "x", 0
    while len(g.nodes) < n_nodes:
        x = derive_models.encoder_layer(g, x, mask, f"encoder.layer.{layer}.")
        layer += 1
    g.nodes[-1].output[0] = "y"
    inputs = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", "seq", WIDTH]),
        helper.make_tensor_value_info("attention_mask", TensorProto.INT64, ["batch", "seq"]),
    ]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", "seq", WIDTH])]
    graph = helper.make_graph(g.nodes, "repeated-block", inputs, outputs, g.initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path)


if __name__ == "__main__":
    main()
