"""Compile, save, load, ask, run."""

import gc
import sys
import threading
import time

import models
import numpy as np
import pytest
from onnx import helper

import tegula


def test_a_model_from_a_path_and_from_bytes(tmp_path):
    path = tmp_path / "add.onnx"
    path.write_bytes(models.add())
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    for given in [path, str(path), path.read_bytes(), bytearray(path.read_bytes()), memoryview(path.read_bytes())]:
        outputs = tegula.compile(given).run({"a": x, "b": x})
        assert list(outputs) == ["sum"]
        np.testing.assert_array_equal(outputs["sum"], 2 * x)


def test_ports_have_names_types_and_symbolic_shapes():
    session = tegula.compile(models.add(("n", 3, "m")))
    (a, b), (total,) = session.inputs, session.outputs
    assert [a.name, b.name, total.name] == ["a", "b", "sum"]
    assert a.dtype == total.dtype == "float32"
    assert a.shape == ("n", 3, "m") and total.shape == ("n", 3, "m")
    assert repr(a) == "Port(\"a\", float32, ('n', 3, 'm'))"
    with pytest.raises(AttributeError):
        a.name = "c"


def test_dims_are_fixed(refused):
    session = tegula.compile(models.add(), dims={"n": 2})
    assert session.inputs[0].shape == (2, 3)
    x = np.ones((3, 3), np.float32)
    assert "needs 2, got 3" in refused("shape-mismatch", session.run, {"a": x, "b": x})
    refused("unknown-dim", tegula.compile, models.add(), dims={"height": 2})


def test_indices_are_checked_where_that_is_asked_for(refused):
    x = np.array([1, 2, 3], np.float32)
    clamped = tegula.compile(models.gather()).run({"x": x, "i": np.array([0, 7])})
    np.testing.assert_array_equal(clamped["y"], [1, 3])
    session = tegula.compile(models.gather(), checked=True)
    inside = session.run({"x": x, "i": np.array([-3, 2])})
    np.testing.assert_array_equal(inside["y"], [1, 3])
    said = refused("assertion", session.run, {"x": x, "i": np.array([0, 7])})
    assert "an index is outside of an axis of extent 3" in said and "`index` is 7" in said


def test_an_initializer_is_given_or_left_out(tmp_path, refused):
    x, w = np.array([1, 1], np.float32), np.array([5, 6], np.float32)
    closed = tegula.compile(models.with_default())
    np.testing.assert_array_equal(closed.run({"x": x})["y"], [2, 3])
    refused("unknown-input", closed.run, {"x": x, "w": w})
    session = tegula.compile(models.with_default(), dims={"w.given": 1})
    np.testing.assert_array_equal(session.run({"x": x, "w": w})["y"], [6, 7])
    np.testing.assert_array_equal(session.run({"x": x})["y"], [2, 3])
    path = tmp_path / "open.tgl"
    session.save(path)
    np.testing.assert_array_equal(tegula.load(path).run({"x": x})["y"], [2, 3])


def test_packages_are_saved_and_loaded(tmp_path, refused):
    bytes_, w = models.product()
    session = tegula.compile(bytes_, threads=1)
    assert session.threads == 1
    x = np.random.default_rng(2).standard_normal((5, 32), np.float32)
    before = session.run({"x": x})["y"]
    path = tmp_path / "model.tgl"
    session.save(path)
    for given in [path, path.read_bytes()]:
        loaded = tegula.load(given, threads=2)
        assert loaded.threads == 2 and loaded.inputs[0].shape == ("n", 32)
        assert loaded.run({"x": x})["y"].tobytes() == before.tobytes()
    np.testing.assert_allclose(before, np.maximum(x @ w, 0), rtol=1e-5, atol=1e-5)
    refused("wrong-kind", tegula.compile, path)
    refused("io", session.save, tmp_path / "absent" / "model.tgl")
    refused("io", session.save, tmp_path)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["model.tgl"]


def test_portable_kernels_give_the_same():
    x = np.linspace(-3, 3, 6, dtype=np.float32).reshape(2, 3)
    session = tegula.compile(models.add(), portable=True)
    np.testing.assert_array_equal(session.run({"a": x, "b": x})["sum"], 2 * x)


def test_a_simulated_gpu_gives_the_same():
    x = np.linspace(-3, 3, 6, dtype=np.float32).reshape(2, 3)
    session = tegula.compile(models.add(), target="sim-ptx")
    np.testing.assert_array_equal(session.run({"a": x, "b": x})["sum"], 2 * x)


def test_a_simulated_processor_gives_the_same():
    x = np.linspace(-3, 3, 6, dtype=np.float32).reshape(2, 3)
    session = tegula.compile(models.add(), target="sim-x86")
    np.testing.assert_array_equal(session.run({"a": x, "b": x})["sum"], 2 * x)


def test_options_are_checked(refused, tmp_path):
    refused("bad-option", tegula.compile, models.add(), target="abacus")
    refused("unknown-machine", tegula.compile, models.add(), machine="pdp11")
    refused("no-device", tegula.compile, models.add(), machine="h200")
    refused("bad-option", tegula.compile, models.add(), threads=0)
    refused("no-threads", tegula.compile, models.add(), threads=100_000)
    refused("wrong-kind", tegula.compile, 3)
    refused("io", tegula.compile, tmp_path / "absent.onnx")
    refused("io", tegula.compile, tmp_path)
    refused("io", tegula.load, tmp_path / "absent.tgl")
    refused("package-foreign", tegula.load, models.add())
    refused("not-onnx", tegula.compile, b"")
    with pytest.raises(TypeError):
        tegula.compile(models.add(), speed="great")
    with pytest.raises(OverflowError):
        tegula.compile(models.add(), threads=-1)


def test_tuning_is_taken(refused, tmp_path):
    record = tmp_path / "record.toml"
    title = "1 of 64 x 64 by 64 x 64, f32 by f32 in f32"
    tile = "rows = 3\ncolumns = 16\nrow_tiles = 2\nshare = 0.5\n"
    record.write_text(f'machine = "avx2-generic"\ntier = "avx2"\n[contractions."{title}"]\n{tile}')
    w = np.arange(64 * 64, dtype=np.float32).reshape(64, 64) % 7
    product = models.model(
        [helper.make_node("MatMul", ["x", "w"], ["y"])],
        [("x", "float32", [64, 64])],
        [("y", "float32", [64, 64])],
        [("w", w)],
    )
    sessions = [tegula.compile(product, machine="avx2-generic", tuning=given) for given in [None, record]]
    for i, session in enumerate(sessions):
        np.testing.assert_array_equal(session.run({"x": w.T})["y"], w.T @ w)
        session.save(tmp_path / str(i))
    assert (tmp_path / "0").read_bytes() != (tmp_path / "1").read_bytes()
    refused("io", tegula.compile, models.add(), tuning=tmp_path / "absent.toml")
    refused("tuning-record", tegula.compile, models.add(), machine="zen5", tuning=record)
    record.write_text("nonsense")
    refused("tuning-record", tegula.compile, models.add(), tuning=record)


def test_outputs_outlive_the_session():
    bytes_, w = models.product()
    session = tegula.compile(bytes_)
    x = np.ones((2, 32), np.float32)
    y = session.run({"x": x})["y"]
    del session, x
    gc.collect()
    np.testing.assert_allclose(y, np.maximum(np.ones((2, 32), np.float32) @ w, 0), rtol=1e-5, atol=1e-5)
    y += 1  # It is the caller's own.


def test_each_run_has_outputs_of_its_own():
    session = tegula.compile(models.add())
    x = np.ones((1, 3), np.float32)
    first = session.run({"a": x, "b": x})["sum"]
    second = session.run({"a": 2 * x, "b": x})["sum"]
    assert not np.shares_memory(first, second)
    np.testing.assert_array_equal(first, 2 * x)
    np.testing.assert_array_equal(second, 3 * x)


@pytest.mark.parametrize("threads", [1, 2])
def test_threads_run_one_session_at_once(threads):
    bytes_, w = models.product()
    session = tegula.compile(bytes_, threads=threads)
    failed = []

    def work(seed):
        rng = np.random.default_rng(seed)
        for _ in range(50):
            x = rng.standard_normal((int(rng.integers(1, 9)), 32), np.float32)
            y = session.run({"x": x})["y"]
            if not np.allclose(y, np.maximum(x @ w, 0), rtol=1e-4, atol=1e-4):
                failed.append(seed)

    workers = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not failed


def test_the_interpreter_is_free_while_a_model_runs():
    """A thread that counts goes on while another one runs a model of some ten milliseconds."""
    n = 512
    rng = np.random.default_rng(0)
    nodes = [helper.make_node("MatMul", [f"h{i}", "w"], [f"h{i + 1}"]) for i in range(12)]
    w = (rng.standard_normal((n, n)) / n).astype(np.float32)
    made = models.model(nodes, [("h0", "float32", [n, n])], [("h12", "float32", [n, n])], [("w", w)])
    session = tegula.compile(made, threads=1)
    x = rng.standard_normal((n, n), np.float32)
    session.run({"h0": x})
    counts, done = [0], threading.Event()

    def count():
        while not done.is_set():
            counts[0] += 1
            time.sleep(0.0001)

    before = sys.getswitchinterval()
    # Nobody is asked to hand over the interpreter: who does not let go of it keeps it.
    sys.setswitchinterval(100)
    counter = threading.Thread(target=count)
    try:
        counter.start()
        seen = counts[0]
        session.run({"h0": x})
        assert counts[0] > seen
    finally:
        sys.setswitchinterval(before)
        done.set()
        counter.join()
