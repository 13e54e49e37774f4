"""Tegula: compiles ONNX models to machine code and runs them.

    session = tegula.compile("model.onnx")
    outputs = session.run({"x": numpy.zeros((1, 3), numpy.float32)})

`tegula.onnxruntime` has the same in the manner of ONNX Runtime."""

from ._tegula import Error, Port, Session, __version__, compile, load

__all__ = ["Error", "Port", "Session", "__version__", "compile", "load"]
