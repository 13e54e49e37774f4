"""What a program with types writes; `mypy --strict` reads it, nothing runs it."""

import numpy as np

import tegula
import tegula.onnxruntime as onnxruntime


def own_face(model: bytes) -> int | str:
    session: tegula.Session = tegula.compile(model, target="cpu", dims={"n": 1}, threads=2)
    outputs = session.run({"x": np.zeros(3, np.float32), "y": memoryview(b"bytes")})
    print({name: array.shape for name, array in outputs.items()})
    session.save("model.tgl")
    try:
        tegula.load("model.tgl", threads=1)
    except tegula.Error as error:
        print(error.code.upper(), error.codes)
    return session.inputs[0].shape[0]


def other_face(path: str) -> list[str]:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 2
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    (y,) = session.run(["y"], {"x": np.zeros(3, np.float32)})
    print(y.shape, session.get_inputs()[0].type.upper())
    return session.get_providers()
