"""Tegula in the manner of ONNX Runtime: `import tegula.onnxruntime as onnxruntime`.

What changes nothing here is accepted. An option that would change what a script gets, or how fast, and that Tegula does
not have, warns; what Tegula cannot do raises. Names that are not here raise `AttributeError`."""

from __future__ import annotations

import enum
import os
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from . import Error, Port, Session, compile, load
from . import __version__ as __version__

__all__ = [
    "ExecutionMode",
    "GraphOptimizationLevel",
    "InferenceSession",
    "NodeArg",
    "RunOptions",
    "SessionOptions",
    "get_all_providers",
    "get_available_providers",
    "get_device",
    "set_default_logger_severity",
]

_CPU = "CPUExecutionProvider"
_CUDA = "CUDAExecutionProvider"
_TARGETS: dict[str, Literal["cpu", "cuda"]] = {_CPU: "cpu", _CUDA: "cuda"}

_TYPES = {
    "bool": "bool",
    "int2": "int2",
    "uint2": "uint2",
    "int4": "int4",
    "uint4": "uint4",
    "int8": "int8",
    "uint8": "uint8",
    "int16": "int16",
    "uint16": "uint16",
    "int32": "int32",
    "uint32": "uint32",
    "int64": "int64",
    "uint64": "uint64",
    "float4_e2m1fn": "float4e2m1",
    "float6_e2m3fn": "float6e2m3",
    "float6_e3m2fn": "float6e3m2",
    "float8_e4m3fn": "float8e4m3fn",
    "float8_e4m3fnuz": "float8e4m3fnuz",
    "float8_e5m2": "float8e5m2",
    "float8_e5m2fnuz": "float8e5m2fnuz",
    "float8_e8m0fnu": "float8e8m0",
    "float16": "float16",
    "bfloat16": "bfloat16",
    "float32": "float",
    "float64": "double",
}


class GraphOptimizationLevel(enum.IntEnum):
    ORT_DISABLE_ALL = 0
    ORT_ENABLE_BASIC = 1
    ORT_ENABLE_EXTENDED = 2
    ORT_ENABLE_LAYOUT = 3
    ORT_ENABLE_ALL = 99


class ExecutionMode(enum.IntEnum):
    ORT_SEQUENTIAL = 0
    ORT_PARALLEL = 1


def _warn(message: str) -> None:
    warnings.warn(f"tegula.onnxruntime: {message}", RuntimeWarning, stacklevel=3)


class _Options:
    """Attributes with their defaults; of a value that is not the default, what it does here is told."""

    _defaults: dict[str, Any] = {}
    # What setting it to another value means: a warning, or, after "!", an error.
    _other: dict[str, str] = {}

    def __init__(self) -> None:
        for name, value in self._defaults.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._defaults:
            raise AttributeError(f"{type(self).__name__} has no option {name!r}")
        told = self._other.get(name)
        if told is not None and value != self._defaults[name]:
            if told.startswith("!"):
                raise NotImplementedError(f"tegula.onnxruntime: {name}={value!r}: {told[1:]}")
            _warn(f"{name}={value!r} has no effect: {told}")
        object.__setattr__(self, name, value)


class SessionOptions(_Options):
    """Options of a session; `intra_op_num_threads` and free dimensions by name have an effect."""

    intra_op_num_threads: int
    inter_op_num_threads: int
    graph_optimization_level: GraphOptimizationLevel
    execution_mode: ExecutionMode
    enable_cpu_mem_arena: bool
    enable_mem_pattern: bool
    enable_mem_reuse: bool
    enable_profiling: bool
    log_severity_level: int
    log_verbosity_level: int
    logid: str
    optimized_model_filepath: str
    profile_file_prefix: str
    use_deterministic_compute: bool
    _dims: dict[str, int]

    _defaults = {
        "intra_op_num_threads": 0,
        "inter_op_num_threads": 0,
        "graph_optimization_level": GraphOptimizationLevel.ORT_ENABLE_ALL,
        "execution_mode": ExecutionMode.ORT_SEQUENTIAL,
        "enable_cpu_mem_arena": True,
        "enable_mem_pattern": True,
        "enable_mem_reuse": True,
        "enable_profiling": False,
        "log_severity_level": -1,
        "log_verbosity_level": 0,
        "logid": "",
        "optimized_model_filepath": "",
        "profile_file_prefix": "onnxruntime_profile_",
        "use_deterministic_compute": True,
    }
    _other = {
        "inter_op_num_threads": "launches follow one another, each on all threads",
        "graph_optimization_level": "every model is compiled alike",
        "execution_mode": "launches follow one another, each on all threads",
        "enable_cpu_mem_arena": "memory is planned when the model is compiled",
        "enable_mem_pattern": "memory is planned when the model is compiled",
        "enable_mem_reuse": "memory is planned when the model is compiled",
        "enable_profiling": "!`tegula bench` and `tegula run --trace-file` show where the time goes",
        "log_severity_level": "nothing is logged",
        "log_verbosity_level": "nothing is logged",
        "logid": "nothing is logged",
        "optimized_model_filepath": "!`tegula.Session.save` writes a package",
        "use_deterministic_compute": "results are always the same",
    }

    def __init__(self) -> None:
        super().__init__()
        object.__setattr__(self, "_dims", {})

    def add_free_dimension_override_by_name(self, dim_name: str, dim_value: int) -> None:
        """Gives a named size of the model its value."""
        self._dims[dim_name] = dim_value

    def add_free_dimension_override_by_denotation(self, dim_denotation: str, dim_value: int) -> None:
        raise NotImplementedError("tegula.onnxruntime: sizes have names, not denotations")

    def add_session_config_entry(self, config_key: str, config_value: str) -> None:
        _warn(f"the session's entry {config_key}={config_value} has no effect")

    def register_custom_ops_library(self, library_path: str) -> None:
        raise NotImplementedError("tegula.onnxruntime: ops of other libraries cannot be run")


class RunOptions(_Options):
    """Options of a run; none has an effect."""

    log_severity_level: int
    log_verbosity_level: int
    logid: str
    only_execute_path_to_fetches: bool
    terminate: bool

    _defaults = {
        "log_severity_level": -1,
        "log_verbosity_level": 0,
        "logid": "",
        "only_execute_path_to_fetches": False,
        "terminate": False,
    }
    _other = {
        "log_severity_level": "nothing is logged",
        "log_verbosity_level": "nothing is logged",
        "logid": "nothing is logged",
        "only_execute_path_to_fetches": "all outputs are computed",
        "terminate": "!a run cannot be ended from outside",
    }

    def add_run_config_entry(self, config_key: str, config_value: str) -> None:
        _warn(f"the run's entry {config_key}={config_value} has no effect")


class NodeArg:
    """An input or output: `name`, `type` as "tensor(float)", `shape` of numbers and names."""

    __slots__ = ("name", "shape", "type")

    def __init__(self, port: Port) -> None:
        self.name: str = port.name
        self.type: str = f"tensor({_TYPES[port.dtype]})"
        self.shape: list[int | str] = list(port.shape)

    def __repr__(self) -> str:
        return f"NodeArg(name={self.name!r}, type={self.type!r}, shape={self.shape})"


class InferenceSession:
    """A model, or a package of Tegula's, that is ready to run."""

    def __init__(
        self,
        path_or_bytes: str | os.PathLike[str] | bytes,
        sess_options: SessionOptions | None = None,
        providers: Sequence[str | tuple[str, Mapping[str, Any]]] | None = None,
        provider_options: Sequence[Mapping[str, Any]] | None = None,
        **kwargs: Any,
    ) -> None:
        if kwargs:
            raise TypeError(f"tegula.onnxruntime: InferenceSession has no {', '.join(map(repr, kwargs))}")
        if sess_options is not None and not isinstance(sess_options, SessionOptions):
            raise TypeError("tegula.onnxruntime: sess_options must be tegula.onnxruntime.SessionOptions")
        self._options = sess_options if sess_options is not None else SessionOptions()
        self._session, self._provider = _first(_wanted(providers, provider_options), path_or_bytes, self._options)

    def run(
        self,
        output_names: Sequence[str] | None,
        input_feed: Mapping[str, Any],
        run_options: RunOptions | None = None,
    ) -> list[np.ndarray[Any, Any]]:
        """The outputs named, or all of them, in order."""
        if run_options is not None and not isinstance(run_options, RunOptions):
            raise TypeError("tegula.onnxruntime: run_options must be tegula.onnxruntime.RunOptions")
        known = [port.name for port in self._session.outputs]
        names = list(output_names) if output_names else known
        unknown = [name for name in names if name not in known]
        if unknown:
            raise ValueError(f"the model has no output {', '.join(map(repr, unknown))}; its outputs are {known}")
        results = self._session.run(dict(input_feed))
        return [results[name] for name in names]

    def get_inputs(self) -> list[NodeArg]:
        return [NodeArg(port) for port in self._session.inputs]

    def get_outputs(self) -> list[NodeArg]:
        return [NodeArg(port) for port in self._session.outputs]

    def get_overridable_initializers(self) -> list[NodeArg]:
        """None: a constant of the model is one."""
        return []

    def get_providers(self) -> list[str]:
        """What the session runs on."""
        return [self._provider]

    def get_session_options(self) -> SessionOptions:
        return self._options


def _wanted(
    providers: Sequence[str | tuple[str, Mapping[str, Any]]] | None,
    provider_options: Sequence[Mapping[str, Any]] | None,
) -> list[str]:
    """The providers asked for that exist here, in order."""
    names = []
    given = list(provider_options or [])
    for provider in providers or [_CPU]:
        name, options = provider if isinstance(provider, tuple) else (provider, {})
        if options:
            given.append(options)
        if name in _TARGETS:
            names.append(name)
        else:
            _warn(f"there is no {name}")
    if any(given):
        _warn("options of providers have no effect")
    if not names:
        raise ValueError(f"tegula.onnxruntime: no provider is left; there are {', '.join(_TARGETS)}")
    return names


def _first(
    names: list[str], model: str | os.PathLike[str] | bytes, options: SessionOptions
) -> tuple[Session, str]:
    """A session of the first provider that this machine has."""
    threads = options.intra_op_num_threads or None
    for number, name in enumerate(names, 1):
        try:
            if _is_package(model):
                if options._dims:
                    raise NotImplementedError("tegula.onnxruntime: a package's sizes are fixed when it is compiled")
                return load(model, target=_TARGETS[name], threads=threads), name
            return compile(model, target=_TARGETS[name], dims=options._dims, threads=threads), name
        except Error as error:
            if error.code != "no-device" or number == len(names):
                raise
            _warn(f"{name} is not used: {error}")
    raise AssertionError("the last provider gave a session or raised")


def _is_package(model: str | os.PathLike[str] | bytes) -> bool:
    return isinstance(model, (str, os.PathLike)) and os.fspath(model).endswith(".tgl")


def get_all_providers() -> list[str]:
    return list(_TARGETS)


def get_available_providers() -> list[str]:
    """What sessions may be asked to run on; that there is a GPU shows when a session is made."""
    return [_CPU]


def get_device() -> str:
    return "CPU"


def set_default_logger_severity(severity: int) -> None:
    """Nothing is logged."""
