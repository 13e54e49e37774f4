#!/usr/bin/env python3
"""Serves timed rounds of another engine, so that a process can interleave them with its own.

  peer_rounds.py onnxruntime|openvino-f32|openvino-bf16 MODEL THREADS NAME=FILE.npy ...

Answers `ready NS`, the nanoseconds from the file to a session, or `failed REASON` where the engine refuses the model;
then each line `run N` on stdin with one line: N run times in nanoseconds.  With `-` as MODEL there is no session: what
the process holds then is the interpreter's, the libraries' and the inputs'.
ONNX Runtime: all graph optimisations, sequential execution, inter-op threads 1, spinning as by default.
OpenVINO: latency hint, one stream; the model's shapes stay as they are, as for the others.
Both with inputs and outputs in buffers that are allocated once.  Needs numpy and the engine."""
import sys
import time

import numpy as np


class OnnxRuntime:
    def __init__(self):
        import onnxruntime

        self.ort = onnxruntime

    def load(self, model, threads):
        options = self.ort.SessionOptions()
        options.graph_optimization_level = self.ort.GraphOptimizationLevel.ORT_ENABLE_ALL
        options.execution_mode = self.ort.ExecutionMode.ORT_SEQUENTIAL
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        return self.ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])

    def outputs(self, session, feed):
        return session.run(None, feed)

    def bind(self, session, feed):
        """A function that runs once. Shapes of outputs are learnt from one run. An output whose rank is not what the
        model declares is refused in a buffer of its own, also in that of the run before: each run allocates it."""
        binding = session.io_binding()
        for name, array in feed.items():
            binding.bind_ortvalue_input(name, self.ort.OrtValue.ortvalue_from_numpy(array))
        misdeclared = []
        outputs = session.get_outputs()
        for value, array in zip(outputs, session.run([value.name for value in outputs], feed)):
            if len(value.shape) == np.ndim(array):
                buffer = self.ort.OrtValue.ortvalue_from_numpy(np.array(array, order="C"))
                binding.bind_ortvalue_output(value.name, buffer)
            else:
                misdeclared.append(value.name)
        if not misdeclared:
            return lambda: session.run_with_iobinding(binding)

        def run_once():
            for name in misdeclared:
                binding.bind_output(name)
            session.run_with_iobinding(binding)

        return run_once


class OpenVino:
    def __init__(self, precision):
        import openvino

        self.ov, self.precision = openvino, precision

    def load(self, model, threads):
        options = {
            "INFERENCE_PRECISION_HINT": self.precision,
            "PERFORMANCE_HINT": "LATENCY",
            "NUM_STREAMS": 1,
            "INFERENCE_NUM_THREADS": threads,
        }
        core = self.ov.Core()
        return core.compile_model(core.read_model(model), "CPU", options)

    def outputs(self, session, feed):
        results = session.infer_new_request(feed)
        return [results[output] for output in session.outputs]

    def bind(self, session, feed):
        """A function that runs once. Shapes of outputs are learnt from one run."""
        request = session.create_infer_request()
        for name, array in feed.items():
            request.set_tensor(name, self.ov.Tensor(array))
        request.infer()
        for output in session.outputs:
            request.set_tensor(output, self.ov.Tensor(np.array(request.get_tensor(output).data, order="C")))
        return request.infer


def first_line(error):
    """What of an engine's report says what is wrong: the first lines that are no trace of its own sources."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    said = [line for line in lines if not line.startswith(("Exception from", "Check '", "FrontEnd API failed"))]
    return " ".join(" ".join((said or lines or [type(error).__name__])[:3]).split())[:200]


def main():
    name, model, threads, *inputs = sys.argv[1:]
    feed = {name: np.load(path) for name, path in (item.split("=", 1) for item in inputs)}
    engine = OnnxRuntime() if name == "onnxruntime" else OpenVino(name.removeprefix("openvino-"))
    if model == "-":
        print("ready 0", flush=True)
        sys.stdin.read()
        return
    try:
        start = time.perf_counter_ns()
        session = engine.load(model, int(threads))
        ready = time.perf_counter_ns() - start
        run_once = engine.bind(session, feed)
    except Exception as error:  # The engines raise exceptions of many kinds.
        print("failed", first_line(error), flush=True)
        return
    print("ready", ready, flush=True)
    for line in sys.stdin:
        times = []
        for _ in range(int(line.split()[1])):
            start = time.perf_counter_ns()
            run_once()
            times.append(time.perf_counter_ns() - start)
        print(*times, flush=True)


if __name__ == "__main__":
    main()
