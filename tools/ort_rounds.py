#!/usr/bin/env python3
"""Serves timed rounds of ONNX Runtime, so that another process can interleave them with its own.

  ort_rounds.py MODEL THREADS NAME=FILE.npy ...

Answers `ready` once warm; then each line `run N` on stdin is answered with one line: N run times in nanoseconds.
All graph optimisations on, sequential execution, outputs bound to preallocated buffers.  Needs numpy, onnxruntime."""
import sys
import time

import numpy as np
import onnxruntime as ort

WARM_UP_RUNS = 3


def bind(session, feed):
    """Binds inputs and preallocated outputs; output shapes are learnt from one run."""
    binding = session.io_binding()
    for name, array in feed.items():
        binding.bind_ortvalue_input(name, ort.OrtValue.ortvalue_from_numpy(array))
    names = [value.name for value in session.get_outputs()]
    for name, array in zip(names, session.run(names, feed)):
        binding.bind_ortvalue_output(name, ort.OrtValue.ortvalue_from_numpy(array.copy(order="C")))
    return binding


def main():
    model, threads, *inputs = sys.argv[1:]
    feed = {name: np.load(path) for name, path in (item.split("=", 1) for item in inputs)}
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
    options.intra_op_num_threads = int(threads)
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    binding = bind(session, feed)
    for _ in range(WARM_UP_RUNS):
        session.run_with_iobinding(binding)
    print("ready", flush=True)
    for line in sys.stdin:
        word, *count = line.split()
        if word != "run":
            break
        times = []
        for _ in range(int(count[0]) if count else 1):
            start = time.perf_counter_ns()
            session.run_with_iobinding(binding)
            times.append(time.perf_counter_ns() - start)
        print(*times, flush=True)


if __name__ == "__main__":
    main()
