"""The face in the manner of ONNX Runtime, beside the original."""

import models
import numpy as np
import onnxruntime as original
import pytest

import tegula
import tegula.onnxruntime as ours


def test_a_script_changes_one_import():
    bytes_, _ = models.product()
    x = np.random.default_rng(3).standard_normal((7, 32), np.float32)
    said = []
    for onnxruntime in [original, ours]:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        session = onnxruntime.InferenceSession(bytes_, options, providers=["CPUExecutionProvider"])
        ports = [(port.name, port.type, port.shape) for port in session.get_inputs() + session.get_outputs()]
        (y,) = session.run(["y"], {session.get_inputs()[0].name: x})
        (same,) = session.run(None, {"x": x})
        assert y.tobytes() == same.tobytes()
        said.append((ports, session.get_providers(), y))
    assert said[0][:2] == said[1][:2]
    np.testing.assert_allclose(said[0][2], said[1][2], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", [d for d in models.TYPES if d not in ("float4_e2m1fn",)])
def test_types_have_the_same_names(dtype):
    bytes_ = models.identity(("n", 2), dtype)
    session = ours.InferenceSession(bytes_)
    (port,) = session.get_inputs()
    assert (port.name, port.shape) == ("x", ["n", 2])
    try:
        (theirs,) = original.InferenceSession(bytes_).get_inputs()
    except Exception:
        # It lacks the op for this type.
        return
    assert port.type == theirs.type


def test_options_that_have_an_effect(tmp_path):
    options = ours.SessionOptions()
    options.intra_op_num_threads = 2
    options.add_free_dimension_override_by_name("n", 4)
    session = ours.InferenceSession(models.add(), options)
    assert session.get_inputs()[0].shape == [4, 3]
    assert session.get_session_options().intra_op_num_threads == 2
    path = tmp_path / "add.tgl"
    tegula.compile(models.add()).save(path)
    x = np.ones((1, 3), np.float32)
    (y,) = ours.InferenceSession(path).run(None, {"a": x, "b": x})
    np.testing.assert_array_equal(y, 2 * x)


def test_options_that_have_none_are_told():
    options = ours.SessionOptions()
    for name, value in [
        ("graph_optimization_level", ours.GraphOptimizationLevel.ORT_DISABLE_ALL),
        ("inter_op_num_threads", 4),
        ("execution_mode", ours.ExecutionMode.ORT_PARALLEL),
        ("log_severity_level", 3),
        ("enable_mem_pattern", False),
    ]:
        with pytest.warns(RuntimeWarning, match=name):
            setattr(options, name, value)
    options.graph_optimization_level = ours.GraphOptimizationLevel.ORT_ENABLE_ALL
    with pytest.raises(NotImplementedError, match="enable_profiling"):
        options.enable_profiling = True
    with pytest.raises(AttributeError, match="no option 'intra_op_threads'"):
        options.intra_op_threads = 2
    with pytest.raises(NotImplementedError):
        options.register_custom_ops_library("ops.so")
    with pytest.warns(RuntimeWarning, match="session.intra"):
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")


def test_every_option_of_the_original_is_known():
    for mine, theirs in [(ours.SessionOptions, original.SessionOptions), (ours.RunOptions, original.RunOptions)]:
        options = mine()
        plain = theirs()
        for name in dir(plain):
            value = getattr(plain, name)
            if not name.startswith("_") and not callable(value) and name in mine._defaults:
                setattr(options, name, mine._defaults[name])


def test_providers():
    with pytest.warns(RuntimeWarning, match="no TensorrtExecutionProvider"):
        session = ours.InferenceSession(models.add(), providers=["TensorrtExecutionProvider", "CPUExecutionProvider"])
    assert session.get_providers() == ["CPUExecutionProvider"]
    with pytest.raises(ValueError, match="no provider is left"), pytest.warns(RuntimeWarning):
        ours.InferenceSession(models.add(), providers=["TensorrtExecutionProvider"])
    with pytest.warns(RuntimeWarning, match="options of providers"):
        ours.InferenceSession(models.add(), providers=[("CPUExecutionProvider", {"arena": 1})])
    assert ours.get_available_providers() == ["CPUExecutionProvider"] and ours.get_device() == "CPU"


def test_what_is_wrong_is_said():
    session = ours.InferenceSession(models.add())
    x = np.ones((1, 3), np.float32)
    with pytest.raises(ValueError, match="no output 'product'"):
        session.run(["product"], {"a": x, "b": x})
    with pytest.raises(tegula.Error, match="missing-input"):
        session.run(None, {"a": x})
    with pytest.raises(tegula.Error, match="not-onnx"):
        ours.InferenceSession(b"no model")
    with pytest.raises(TypeError, match="'enable_fallback'"):
        ours.InferenceSession(models.add(), enable_fallback=True)
    with pytest.raises(AttributeError):
        ours.OrtValue  # noqa: B018
