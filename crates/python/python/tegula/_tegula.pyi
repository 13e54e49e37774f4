"""What the compiled module has."""

from os import PathLike
from typing import Any, Literal, Protocol, final

import numpy as np
from typing_extensions import Buffer
from numpy.typing import NDArray

__all__ = ["Error", "Port", "Session", "__version__", "compile", "load"]

__version__: str

class _DLPack(Protocol):
    def __dlpack__(self, *, stream: Any = None) -> Any: ...
    def __dlpack_device__(self) -> tuple[Any, Any]: ...

class _Array(Protocol):
    def __array__(self) -> NDArray[Any]: ...

_Input = NDArray[Any] | np.generic | _DLPack | Buffer | _Array
_Source = str | PathLike[str] | bytes | bytearray | memoryview
_Target = Literal["cpu", "cuda", "sim-ptx", "sim-x86"]

class Error(Exception):
    """What is wrong with a model, an input or a request; `str` gives the report."""

    code: str
    """The first error's code, one of `docs/debug.md`: "shape-mismatch"."""
    codes: list[str]
    """The codes of all that was found."""

@final
class Port:
    """An input or output of a model."""

    @property
    def name(self) -> str: ...
    @property
    def dtype(self) -> str:
        """As numpy or ml_dtypes call it: "float32"."""
    @property
    def shape(self) -> tuple[int | str, ...]:
        """Numbers, and sizes that are open as text: ("batch", 3, "2 * width + 1")."""

@final
class Session:
    """A compiled model that is ready to run. Any number of threads may run it at once."""

    @property
    def inputs(self) -> tuple[Port, ...]: ...
    @property
    def outputs(self) -> tuple[Port, ...]: ...
    @property
    def threads(self) -> int:
        """Threads that share a run."""
    def run(self, inputs: dict[str, _Input]) -> dict[str, NDArray[Any]]:
        """Runs the model on inputs by name; gives outputs by name, as arrays that own their memory.

        An input's memory is read where it lies, unless its elements do not lie row by row."""
    def save(self, path: str | PathLike[str]) -> None:
        """Writes the compiled model to a package file, which `load` and the command `tegula` read."""

def compile(
    model: _Source,
    *,
    target: _Target | None = None,
    machine: str | PathLike[str] | None = None,
    dims: dict[str, int] | None = None,
    threads: int | None = None,
    portable: bool = False,
    precision: str = "f32",
    tuning: str | PathLike[str] | None = None,
    checked: bool = False,
) -> Session:
    """Compiles an ONNX model, given by its path or as bytes, and makes it ready to run.

    target: who runs it: "cpu" (the default), "cuda", "sim-ptx" (a simulated GPU) or
    "sim-x86" (a simulated processor).
    machine: a machine class (`tegula machine list`) or a machine file; default: what the target is.
    dims: values for named sizes of the model; the others stay open, and each run may have its own.
    threads: threads of a run; default: one a core that the process may use, of one NUMA node.
    portable: kernels for any processor, run slowly, instead of machine code.
    precision: "f32", or "bf16", which rounds factors of products where the machine multiplies such, and keeps sums.
    Streaming chips have "f16" and "f16x2" in its place.
    tuning: a file of tiles that `tegula tune` measured for the machine, taken in place of those chosen without measuring.
    Those of contractions that the model has not count nothing.
    checked: a run stops at an index outside of its axis, with the node, the index and the extent, instead of clamping it.

    Raises Error with every reason why the model cannot be compiled."""

def load(package: _Source, *, target: _Target | None = None, threads: int | None = None) -> Session:
    """Loads a package that `Session.save` or `tegula compile` wrote, given by its path or as bytes.

    The file must not change while the session lives."""
