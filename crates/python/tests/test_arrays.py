"""What may be given as an input, and what comes back."""

import array
import ctypes

import ml_dtypes
import models
import numpy as np
import pytest

import tegula

DTYPES = [dtype for dtype in models.TYPES if not hasattr(ml_dtypes, dtype)]
SMALL_DTYPES = [dtype for dtype in models.TYPES if hasattr(ml_dtypes, dtype)]


@pytest.fixture(scope="module")
def session():
    return tegula.compile(models.add())


A = np.arange(12, dtype=np.float32).reshape(4, 3)


@pytest.mark.parametrize(
    "x",
    [
        np.asfortranarray(A),
        np.arange(24, dtype=np.float32).reshape(4, 6)[:, ::2],
        A[::-1],
        A.astype(">f4"),
        np.broadcast_to(A[:1], (4, 3)),
        np.frombuffer(b"x" + A.tobytes(), np.float32, offset=1).reshape(4, 3),
    ],
    ids=["fortran", "strided", "reversed", "big-endian", "broadcast", "misaligned"],
)
def test_arrays_that_lie_otherwise(session, x):
    before = x.copy()
    np.testing.assert_array_equal(session.run({"a": x, "b": x})["sum"], x + x)
    np.testing.assert_array_equal(x, before)


def test_read_only_arrays(session):
    x = A.copy()
    x.flags.writeable = False
    np.testing.assert_array_equal(session.run({"a": x, "b": x})["sum"], 2 * A)


class DLPack:
    """A tensor of another library: nothing but DLPack."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class OnGpu(DLPack):
    def __dlpack__(self, **options):
        raise BufferError("the tensor is on device 2")


def test_dlpack(session, refused):
    np.testing.assert_array_equal(session.run({"a": DLPack(A), "b": A})["sum"], 2 * A)
    # And back: an output is read where it lies.
    total = session.run({"a": A, "b": A})["sum"]
    assert np.shares_memory(np.from_dlpack(DLPack(total)), total)
    assert "this machine's memory" in refused("wrong-kind", session.run, {"a": OnGpu(A), "b": A})


def test_the_buffer_protocol(session):
    flat = tegula.compile(models.add(("n",)))
    x = array.array("f", [1, 2, 3])
    c = (ctypes.c_float * 3)(1, 2, 3)
    np.testing.assert_array_equal(flat.run({"a": x, "b": memoryview(x)})["sum"], [2, 4, 6])
    np.testing.assert_array_equal(flat.run({"a": c, "b": c})["sum"], [2, 4, 6])


def test_no_arrays_are_refused(session, refused):
    for x in [[[1.0, 2.0, 3.0]], 1.0, None, "x", object()]:
        assert "input `a` is of Python's type" in refused("wrong-kind", session.run, {"a": x, "b": A})
    strings = np.array([["x"]])
    assert "input `a` is an array of <U1" in refused("dtype-mismatch", session.run, {"a": strings, "b": A})
    for x in [A.astype(complex), A.astype(object), np.zeros((4, 3), "datetime64[s]"), A.astype(np.longdouble)]:
        refused("dtype-mismatch", session.run, {"a": x, "b": A})


def test_requests_that_do_not_fit(session, refused):
    run = session.run
    assert "needs f32, got f64" in refused("dtype-mismatch", run, {"a": A.astype(float), "b": A})
    refused("shape-mismatch", run, {"a": A[0], "b": A})
    refused("shape-mismatch", run, {"a": A[:, :2], "b": A})
    assert "dim `n` is 3" in refused("shape-mismatch", run, {"a": A[:3], "b": A})
    refused("missing-input", run, {"a": A})
    refused("missing-input", run, {})
    assert "its inputs are `a`, `b`" in refused("unknown-input", run, {"a": A, "b": A, "c": A})
    refused("unknown-input", run, {"a": A, "b": A, 3: A})
    with pytest.raises(tegula.Error) as caught:
        run({"a": A.astype(float), "b": A[0]})
    assert caught.value.codes == ["dtype-mismatch", "shape-mismatch"]
    with pytest.raises(TypeError):
        run([A, A])


@pytest.mark.parametrize("dtype", DTYPES)
def test_element_types(dtype):
    session = tegula.compile(models.identity(("n",), dtype))
    assert session.inputs[0].dtype == dtype
    x = np.array([0, 1, 1, 0, 1], dtype)
    y = session.run({"x": x})["y"]
    assert y.dtype == x.dtype and y.tobytes() == x.tobytes()


@pytest.mark.parametrize("dtype", SMALL_DTYPES)
def test_small_element_types(dtype):
    session = tegula.compile(models.identity(("n",), dtype))
    assert session.inputs[0].dtype == dtype
    x = np.array([0, 1, 1.5, 2, 3, -1, -2], np.float32)
    x = np.abs(x) if dtype.startswith("u") else x
    x = x.astype(getattr(ml_dtypes, dtype))
    y = session.run({"x": x})["y"]
    assert y.dtype == x.dtype and y.tobytes() == x.tobytes()


def test_arithmetic_of_half_and_whole_numbers():
    for dtype in ["float16", "int64", "uint8"]:
        session = tegula.compile(models.add((), dtype))
        x = np.array(3, dtype)
        y = session.run({"a": x, "b": x})["sum"]
        assert y.shape == () and y.dtype == dtype and y == 6


def test_scalars_of_numpy():
    session = tegula.compile(models.add((), "int64"))
    assert session.run({"a": np.int64(40), "b": np.array(2)})["sum"] == 42


def test_booleans_that_are_none(refused):
    session = tegula.compile(models.identity(("n",), "bool"))
    x = np.array([0, 1, 2], np.uint8).view(bool)
    refused("bad-value", session.run, {"x": x})


def test_sizes_of_zero(session):
    x = np.zeros((0, 3), np.float32)
    y = session.run({"a": x, "b": x})["sum"]
    assert y.shape == (0, 3) and y.dtype == np.float32


def test_inputs_are_not_copied(session):
    """Memory of a large input is read where it lies: the process needs no more than the output."""
    import resource

    n = 16 << 20
    session = tegula.compile(models.identity(("n",), "uint8"))
    x = np.ones(n * 8, np.uint8)
    session.run({"x": x[:1]})
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    session.run({"x": x})
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) << 10
    assert grown < 1.5 * x.nbytes, f"{grown / x.nbytes:.2f} times the input"
