"""Ops for `onnx.reference`: those of ONNX Runtime's domain that 8-bit networks use, transcribed to NumPy from their
documentation, and faster forms of some that are slow there.

`OPS` are the classes, `evaluator(model)` a `ReferenceEvaluator` that has them.  Sums of products of integers are exact;
floats are multiplied in f64 and rounded once.  Nothing here knows Tegula or calls ONNX Runtime."""
import numpy as np
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun

F, D = np.float32, np.float64
CONTRIB = "com.microsoft"


def saturated(x, dtype):
    info = np.iinfo(dtype)
    return np.clip(np.rint(x), info.min, info.max).astype(dtype)


def quantised(x, scale, zero):
    """`x` of f32 by the definition: a division in f32, ties to even, then the zero point."""
    info = np.iinfo(zero.dtype)
    return np.clip(np.rint(x.astype(F) / scale) + zero.astype(D), info.min, info.max).astype(zero.dtype)


def dequantised(x, scale, zero):
    return ((x.astype(D) - np.asarray(zero, D)) * np.asarray(scale, D)).astype(F)


def on_axis(x, rank, axis):
    """A scale or zero point of each index of an axis, as it broadcasts; one of all stays so."""
    x = np.asarray(x)
    if x.size == 1:
        return x.reshape(())
    return x.reshape([-1 if i == axis % rank else 1 for i in range(rank)])


def of_range(x):
    """Scale and zero point of dynamic quantisation to u8: the range holds 0."""
    low, high = min(F(x.min()), F(0)), max(F(x.max()), F(0))
    scale = F(1) if low == high else (high - low) / F(255)
    return scale, np.uint8(np.rint(np.clip(-low / scale, 0, 255)))


def convolved(x, w, attributes):
    """A convolution in f64 over any number of axes: windows times filters."""
    axes = w.ndim - 2
    strides = attributes["strides"] or [1] * axes
    dilations = attributes["dilations"] or [1] * axes
    groups = attributes["group"] or 1
    reach = [(k - 1) * d + 1 for k, d in zip(w.shape[2:], dilations)]
    pads = attributes["pads"] or [0] * 2 * axes
    if attributes["auto_pad"] in ("SAME_UPPER", "SAME_LOWER"):
        total = [max((-(-n // s) - 1) * s + r - n, 0) for n, s, r in zip(x.shape[2:], strides, reach)]
        small, large = [n // 2 for n in total], [n - n // 2 for n in total]
        pads = small + large if attributes["auto_pad"] == "SAME_UPPER" else large + small
    x = np.pad(x.astype(D), [(0, 0), (0, 0), *zip(pads[:axes], pads[axes:])])
    windows = np.lib.stride_tricks.sliding_window_view(x, reach, tuple(range(2, 2 + axes)))
    places = tuple(slice(None, None, s) for s in strides)
    taps = tuple(slice(None, None, d) for d in dilations)
    windows = windows[(slice(None), slice(None), *places, *taps)]
    n, c, *sizes = windows.shape[:2 + axes]
    windows = windows.reshape(n, groups, c // groups, *sizes, -1)
    rows = np.moveaxis(windows, 2, -2).reshape(n, groups, int(np.prod(sizes)), -1)
    filters = w.astype(D).reshape(groups, w.shape[0] // groups, -1)
    sums = np.matmul(rows, filters.transpose(0, 2, 1))
    return sums.transpose(0, 1, 3, 2).reshape(n, w.shape[0], *sizes)


class Conv(OpRun):
    def _run(self, x, w, b=None, **attributes):
        y = convolved(x, w, attributes)
        if b is not None:
            y = y + on_axis(b.astype(D), y.ndim, 1)
        return (y.astype(x.dtype),)


class ConvInteger(OpRun):
    def _run(self, x, w, x_zero=None, w_zero=None, **attributes):
        x = x.astype(D) - (0 if x_zero is None else float(np.ravel(x_zero)[0]))
        w = w.astype(D) - (0 if w_zero is None else on_axis(w_zero.astype(D), w.ndim, 0))
        return (convolved(x, w, attributes).astype(np.int32),)


class QLinearConv(OpRun):
    def _run(self, x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, b=None, **attributes):
        sums = convolved(x.astype(D) - float(x_zero), w.astype(D) - on_axis(w_zero.astype(D), w.ndim, 0), attributes)
        if b is not None:
            sums = sums + on_axis(b.astype(D), sums.ndim, 1)
        factor = D(x_scale) * on_axis(w_scale.astype(D), sums.ndim, 1) / D(y_scale)
        return (saturated(np.rint(sums * factor) + float(y_zero), y_zero.dtype),)


class BatchNormalization(OpRun):
    """Inference by the definition: `onnx.reference` takes the batch's own statistics up to opset 13."""

    def _run(self, x, scale, bias, mean, variance, **attributes):
        of_channel = [on_axis(tensor.astype(D), x.ndim, 1) for tensor in (scale, bias, mean, variance)]
        scale, bias, mean, variance = of_channel
        y = (x.astype(D) - mean) / np.sqrt(variance + attributes["epsilon"]) * scale + bias
        return (y.astype(x.dtype),)


class MatMul(OpRun):
    def _run(self, a, b):
        if a.dtype.kind != "f":
            return (np.matmul(a, b),)
        return (np.asarray(np.matmul(a.astype(D), b.astype(D))).astype(a.dtype),)


class MatMulInteger(OpRun):
    def _run(self, a, b, a_zero=None, b_zero=None):
        a = a.astype(D) - (0 if a_zero is None else on_axis(a_zero.astype(D), a.ndim, -2))
        b = b.astype(D) - (0 if b_zero is None else on_axis(b_zero.astype(D), b.ndim, -1))
        return (np.matmul(a, b).astype(np.int32),)


class QLinearMatMul(OpRun):
    def _run(self, a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero):
        product = np.matmul(a.astype(D) - on_axis(a_zero.astype(D), a.ndim, -2),
                            b.astype(D) - on_axis(b_zero.astype(D), b.ndim, -1))
        factor = on_axis(a_scale.astype(D), product.ndim, -2) * on_axis(b_scale.astype(D), product.ndim, -1) / D(y_scale)
        return (saturated(np.rint(product * factor) + float(y_zero), y_zero.dtype),)


class QLinearBinary(OpRun):
    """An elementwise function of two quantised operands."""

    op_domain = CONTRIB

    def _run(self, a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero=None):
        zero = np.zeros((), a.dtype) if y_zero is None else y_zero
        sides = [(x.astype(D) - float(z)) * D(s) for x, s, z in ((a, a_scale, a_zero), (b, b_scale, b_zero))]
        return (saturated(np.rint(self.function(*sides) / D(y_scale)) + float(zero), zero.dtype),)


class QLinearAdd(QLinearBinary):
    function = staticmethod(np.add)


class QLinearMul(QLinearBinary):
    function = staticmethod(np.multiply)


class QGemm(OpRun):
    op_domain = CONTRIB

    def _run(self, a, a_scale, a_zero, b, b_scale, b_zero, c=None, y_scale=None, y_zero=None,
             transA=0, transB=0, alpha=1.0):
        a, b = a.astype(D) - float(a_zero), b.astype(D).T if transB else b.astype(D)
        b = b - b_zero.astype(D)
        sums = (a.T if transA else a) @ b + (0 if c is None else c.astype(D))
        y = sums * (D(a_scale) * b_scale.astype(D) * alpha)
        return (y.astype(F) if y_scale is None else saturated(np.rint(y / D(y_scale)) + float(y_zero), y_zero.dtype),)


class QLinearConvOfContrib(QLinearConv):
    op_domain = CONTRIB

    def _run(self, x, *operands, channels_last=0, **attributes):
        if not channels_last:
            return super()._run(x, *operands, **attributes)
        (y,) = super()._run(np.moveaxis(x, -1, 1), *operands, **attributes)
        return (np.moveaxis(y, 1, -1),)


QLinearConvOfContrib.__name__ = "QLinearConv"


class MatMulIntegerToFloat(OpRun):
    op_domain = CONTRIB

    def _run(self, a, b, a_scale, b_scale, a_zero=None, b_zero=None, bias=None):
        a = a.astype(D) - (0 if a_zero is None else a_zero.astype(D))
        b = b.astype(D) - (0 if b_zero is None else b_zero.astype(D))
        y = np.matmul(a, b) * (a_scale.astype(D) * b_scale.astype(D))
        return ((y if bias is None else y + bias.astype(D)).astype(F),)


class DynamicQuantizeMatMul(OpRun):
    op_domain = CONTRIB

    def _run(self, a, b, b_scale, b_zero=None, bias=None):
        b = b.astype(D) - (0 if b_zero is None else b_zero.astype(D))
        y = product(a, b, b_scale.astype(D))
        return ((y if bias is None else y + bias.astype(D)).astype(F),)


class QLinearSoftmax(OpRun):
    op_domain = CONTRIB

    def _run(self, x, x_scale, x_zero, y_scale, y_zero, axis=-1, opset=13):
        axis = axis % x.ndim
        axes = tuple(range(axis, x.ndim)) if opset < 13 else (axis,)
        values = (x.astype(D) - float(x_zero)) * D(x_scale)
        powers = np.exp(values - values.max(axes, keepdims=True))
        return (saturated(np.rint(powers / powers.sum(axes, keepdims=True) / D(y_scale)) + float(y_zero), y_zero.dtype),)


class DynamicQuantizeLSTM(OpRun):
    """x is rounded to u8 with one scale for all of it, h in every step with one for all rows; gates are i, o, f, c."""

    op_domain = CONTRIB

    def _run(self, x, w, r, b=None, lengths=None, h0=None, c0=None, p=None, w_scale=None, w_zero=None, r_scale=None,
             r_zero=None, direction="forward", hidden_size=None, **_):
        if p is not None or lengths is not None and (lengths != x.shape[0]).any():
            raise NotImplementedError("peepholes and sequences of several lengths")
        steps, batch, _width = x.shape
        directions, hidden = w.shape[0], hidden_size
        y = np.zeros((steps, directions, batch, hidden), F)
        h_end, c_end = np.zeros((directions, batch, hidden), F), np.zeros((directions, batch, hidden), F)
        for k in range(directions):
            bias = 0 if b is None else b[k, :4 * hidden].astype(D) + b[k, 4 * hidden:]
            scales = [s[k].astype(D) for s in (w_scale, r_scale)]
            left = [matrix[k].astype(D) - zero[k].astype(D) for matrix, zero in ((w, w_zero), (r, r_zero))]
            inputs = product(x, left[0], scales[0]) + bias
            h = np.zeros((batch, hidden), F) if h0 is None else h0[k]
            c = np.zeros((batch, hidden), D) if c0 is None else c0[k].astype(D)
            backward = direction == "reverse" or k == 1
            for t in reversed(range(steps)) if backward else range(steps):
                i, o, f, g = np.split(inputs[t] + product(h, left[1], scales[1]), 4, -1)
                c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
                h = (sigmoid(o) * np.tanh(c)).astype(F)
                y[t, k] = h
            h_end[k], c_end[k] = h, c
        return y, h_end, c_end


def product(x, matrix, scale):
    """x rounded to u8, times integers, times both scales."""
    x_scale, x_zero = of_range(x)
    return np.matmul(quantised(x, x_scale, x_zero).astype(D) - float(x_zero), matrix) * (D(x_scale) * scale)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


class QuantizeLinear(OpRun):
    def _run(self, x, scale, zero=None, axis=1, **_):
        zero = np.zeros(np.shape(scale), np.uint8) if zero is None else zero
        return (quantised(x, on_axis(scale, x.ndim, axis), on_axis(zero, x.ndim, axis)),)


class DequantizeLinear(OpRun):
    def _run(self, x, scale, zero=None, axis=1, **_):
        zero = np.zeros(np.shape(scale), x.dtype) if zero is None else zero
        return (dequantised(x, on_axis(scale, x.ndim, axis), on_axis(zero, x.ndim, axis)),)


OPS = [BatchNormalization, Conv, ConvInteger, QLinearConv, MatMul, MatMulInteger, QLinearMatMul, QLinearAdd, QLinearMul, QGemm,
       QLinearConvOfContrib, MatMulIntegerToFloat, DynamicQuantizeMatMul, QLinearSoftmax, DynamicQuantizeLSTM, QuantizeLinear, DequantizeLinear]


def evaluator(model, others=()):
    """`onnx.reference` with these ops, and others."""
    return ReferenceEvaluator(model, new_ops=[*OPS, *others])
