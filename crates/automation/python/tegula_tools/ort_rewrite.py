#!/usr/bin/env python3
"""Writes the model that ONNX Runtime makes of another before it runs it: its extended optimisations, which put its own
ops in the place of patterns.  Layouts of one machine's own are left out.

  ort_rewrite.py MODEL.onnx OUT.onnx

Needs onnxruntime."""
import sys

import onnxruntime as ort


def main():
    options = ort.SessionOptions()
    options.log_severity_level = 3
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.optimized_model_filepath = sys.argv[2]
    ort.InferenceSession(sys.argv[1], options, providers=["CPUExecutionProvider"])


if __name__ == "__main__":
    main()
