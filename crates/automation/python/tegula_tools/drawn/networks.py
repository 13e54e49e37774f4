"""A few nodes of a network, as exporters write them: what compilers fuse, or read through a layout."""
import numpy as np

from tegula_tools.drawn.case import F, I8, I64, U8, form


@form(weight=2)
def chain(c):
    """Movement around a reduction or a product: what kernels fuse, or read through a layout."""
    c.any_symbols()
    shape = c.full(3, 4)
    x = c.run(c.values(shape))
    rank = len(shape)
    for _ in range(c.int(2, 4)):
        step = c.pick("transpose", "reduce", "pad", "slice", "bias", "unary", "softmax", "argmax", "flip", "doubled")
        if step == "transpose":
            perm = [int(axis) for axis in c.rng.permutation(rank)]
            x = c.node("Transpose", [x], perm=perm)
            shape = [shape[axis] for axis in perm]
        elif step == "reduce":
            axis = c.int(0, rank - 1)
            x = c.node("ReduceMax", [x, c.fixed([axis], I64)], keepdims=1) if c.opset >= 18 else x
            shape[axis] = 1 if c.opset >= 18 else shape[axis]
        elif step == "pad":
            pads = c.ints(2 * rank, 0, 1)
            x = c.node("Pad", [x, c.fixed(pads, I64)], mode=c.pick("constant", "edge"))
            shape = [size + pads[i] + pads[i + rank] for i, size in enumerate(shape)]
        elif step == "slice":
            axis = c.int(0, rank - 1)
            end = c.fixed([-1 if shape[axis] > 1 else 1], I64)
            x = c.node("Slice", [x, c.fixed([0], I64), end, c.fixed([axis], I64)])
            shape[axis] = max(shape[axis] - 1, 1)
        elif step == "flip":
            axis = c.int(0, rank - 1)
            x = c.node("Slice", [x, c.fixed([-1], I64), c.fixed([-99], I64), c.fixed([axis], I64), c.fixed([-1], I64)])
        elif step == "bias":
            x = c.node("Add", [x, c.any(c.values([c.pick(1, size) for size in shape]))])
        elif step == "unary":
            x = c.node(c.pick("Relu", "Tanh", "Neg"), [x])
        elif step == "softmax":
            x = c.node("Softmax", [x], axis=c.axis(rank))
        elif step == "doubled":
            axis = c.axis(rank)
            x = c.node("Concat", [x, x], axis=axis)
            shape[axis] *= 2


@form(weight=3)
def layers(c):
    """A few layers of a small network for images: what epilogues, layouts and views meet."""
    c.opset = c.pick(13, 17, 21)
    shape = [c.int(1, 2), c.pick(1, 3, 4, 8, 16, 17), c.int(4, 9), c.int(4, 9)]
    x = c.run(c.values(shape))
    c.atol = 1e-3
    for _ in range(c.int(2, 5)):
        n, channels, h, w = shape
        step = c.pick("conv", "conv", "conv", "norm", "activation", "bias", "residual", "pool", "mean", "turned",
                      "concat", "resize", "shuffle")
        if step == "conv":
            group = c.pick(1, 1, channels)
            size, out = c.pick(1, 3, 3), channels * c.pick(1, 2) if group > 1 else c.pick(4, 8, 16, 5)
            weights = c.fixed(c.values([out, channels // group, size, size]) * F(0.3))
            x = c.node("Conv", [x, weights, c.maybe(c.values([out]))], group=group, auto_pad="SAME_UPPER")
            shape = [n, out, h, w]
        elif step == "norm":
            numbers = [c.fixed(value) for value in (*c.values([3, channels]), np.abs(c.values([channels])) + F(0.1))]
            x = c.node("BatchNormalization", [x, *numbers])
        elif step == "activation":
            op = c.pick("Relu", "Sigmoid", "HardSwish", "Tanh", "swish", "LeakyRelu")
            op = op if c.opset > 13 else "Relu"
            x = c.node("Mul", [x, c.node("Sigmoid", [x])]) if op == "swish" else c.node(op, [x])
        elif step == "bias":
            x = c.node(c.pick("Add", "Mul", "Sub"), [x, c.any(c.values([c.pick(1, size) for size in shape]))])
        elif step == "residual":
            x = c.node("Add", [x, c.node(c.pick("Relu", "Neg", "Identity"), [x])])
        elif step == "pool":
            x = c.node(c.pick("MaxPool", "AveragePool"), [x], kernel_shape=[2, 2], auto_pad="SAME_UPPER")
        elif step == "mean":
            mean = c.node("GlobalAveragePool", [x])
            x = c.node("Mul", [x, c.node("Sigmoid", [mean])])
        elif step == "turned":
            turned = c.node("Transpose", [x], perm=[0, 2, 3, 1])
            scaled = c.node("Add", [turned, c.fixed(c.values([channels]))])
            x = c.node("Transpose", [scaled], perm=[0, 3, 1, 2])
        elif step == "concat":
            x = c.node("Concat", [x, c.node("Relu", [x])], axis=1)
            shape = [n, 2 * channels, h, w]
        elif step == "resize" and h * w < 100:
            x = c.node("Resize", [x, "", c.fixed([1, 1, 2, 2], F)], mode="nearest", nearest_mode="floor",
                       coordinate_transformation_mode="asymmetric")
            shape = [n, channels, 2 * h, 2 * w]
        elif step == "shuffle" and channels % 2 == 0:
            split = c.node("Reshape", [x, c.fixed([0, 2, channels // 2, h, w], I64)])
            turned = c.node("Transpose", [split], perm=[0, 2, 1, 3, 4])
            x = c.node("Reshape", [turned, c.fixed([0, channels, h, w], I64)])
    if c.chance(0.3):
        pooled = c.node("Flatten", [c.node("GlobalAveragePool", [x])])
        c.node("Gemm", [pooled, c.fixed(c.values([5, shape[1]])), c.fixed(c.values([5]))], transB=1)


@form(weight=2)
def blocks(c):
    """A few layers of a small transformer, heads split off and merged with the batch a symbol or not."""
    c.opset = c.pick(14, 17, 21)
    c.any_symbols()
    batch, length, heads, size = c.int(1, 3), c.int(1, 7), c.pick(1, 2, 3), c.pick(4, 8)
    width = heads * size
    x = c.run(c.values([batch, length, width]))
    c.symbols = c.pick("none", "first")
    c.atol = 1e-3
    for _ in range(c.int(1, 3)):
        step = c.pick("attention", "norm", "dense", "dense", "gate")
        dense = lambda x, n: c.node("Add", [c.node("MatMul", [x, c.fixed(c.values([width, n]) * F(0.3))]),
                                            c.fixed(c.values([n]))])
        if step == "attention":
            parts = [c.node("Transpose", [c.node("Reshape", [dense(x, width), c.fixed([0, 0, heads, size], I64)])],
                            perm=[0, 2, 3, 1] if i == 1 else [0, 2, 1, 3]) for i in range(3)]
            scores = c.node(c.pick("Mul", "Div"), [c.node("MatMul", parts[:2]), c.fixed(c.pick(0.5, 2.0), F)])
            if c.chance():
                scores = c.node("Add", [scores, c.any(c.values(c.pick([length, length], [1, 1, length, length])))])
            seen = c.node("MatMul", [c.node("Softmax", [scores], axis=-1), parts[2]])
            y = c.node("Reshape", [c.node("Transpose", [seen], perm=[0, 2, 1, 3]), c.fixed([0, -1, width], I64)])
        elif step == "norm":
            mean = lambda x: (c.node("ReduceMean", [x], axes=[-1]) if c.opset < 18 else
                              c.node("ReduceMean", [x, c.fixed([-1], I64)]))
            centred = c.node("Sub", [x, mean(x)])
            square = c.node("Pow", [centred, c.fixed(2, F)])
            root = c.node("Sqrt", [c.node("Add", [mean(square), c.fixed(1e-3, F)])])
            y = c.node("Mul", [c.node("Div", [centred, root]), c.fixed(c.values([width]))])
        elif step == "gate":
            y = c.node("Mul", [dense(x, width), c.node("Sigmoid", [dense(x, width)])])
        else:
            y = c.node(c.pick("Relu", "Tanh", "Identity", "Erf"), [dense(x, width)])
        x = c.node("Add", [y, x]) if c.chance() else y


@form(weight=2)
def quantised(c):
    """A product or convolution between quantised sides, as quantisers write it."""
    c.opset = c.pick(13, 19, 21)
    kind, signed = c.pick("matmul", "gemm", "conv"), c.chance()
    shape = [c.int(1, 2), c.pick(3, 8), c.int(3, 6), c.int(3, 6)] if kind == "conv" else [c.int(1, 5), c.pick(4, 8, 17)]
    dtype, out = I8 if signed else U8, c.pick(3, 8, 16)

    def rounded(x, scale, zero):
        scale, zero = c.fixed(scale, F), c.fixed(zero, dtype)
        return c.node("DequantizeLinear", [c.node("QuantizeLinear", [x, scale, zero]), scale, zero])

    x = rounded(c.run(c.values(shape)), 0.03, 0 if signed else 128)
    each = [out] if c.chance() else []
    weights = [out, shape[1], 3, 3] if kind == "conv" else [shape[1], out]
    stored = c.fixed(c.whole(weights, I8, -128, 127))
    scale, zero = c.fixed(c.rng.uniform(0.005, 0.02, each), F), c.fixed(np.zeros(each), I8)
    axis = None if not each else 0 if kind == "conv" else 1
    w = c.node("DequantizeLinear", [stored, scale, zero], axis=axis)
    bias = c.fixed(c.values([out]))
    if kind == "matmul":
        y = c.node("MatMul", [x, w])
        y = c.node("Add", [y, bias]) if c.chance() else y
    elif kind == "gemm":
        y = c.node("Gemm", [x, w, bias])
    else:
        y = c.node("Conv", [x, w, bias], pads=[1, 1, 1, 1])
    if c.chance():
        y = c.node("Relu", [y])
    c.step = 0.05
    rounded(y, 0.05, 0 if signed else 100)


@form
def between_bytes(c):
    """Functions from bytes to bytes, of all bytes in each channel: dequantised, scaled and shifted, quantised, and again."""
    c.opset = c.pick(13, 19, 21)
    dtype, channels = c.pick(U8, I8), c.int(1, 9)
    bytes = np.arange(256, dtype=U8).view(dtype)
    x = c.run(np.stack([[c.rng.permutation(bytes) for _ in range(channels)] for _ in range(c.int(1, 2))]))

    def number():
        """A number, or one a channel; now and then of few bits, which makes ties."""
        shape = c.pick([], [1, channels, 1], [1, channels, 1])
        if c.chance(0.2):
            return c.fixed(c.rng.choice([0.25, 0.5, 1.0, 2.0, 3.0], shape), F)
        return c.fixed(np.exp(c.rng.uniform(np.log(0.2), np.log(5.0), shape)), F)

    def ends(dtype):
        scale = c.pick(0.5, 0.0173, 0.1, *c.rng.uniform(0.01, 0.1, 3))
        return c.fixed(scale, F), c.fixed(c.values([], dtype, -128, 255), dtype)

    for _ in range(c.int(1, 3)):
        x = c.node("DequantizeLinear", [x, *ends(dtype)])
        for _ in range(c.int(0, 3)):
            operands = [x, number()]
            x = c.node(c.pick("Mul", "Div", "Add", "Sub"), operands if c.chance(0.8) else operands[::-1])
        if c.chance(0.2):
            # There and back, past the ends of `f32`.
            far = c.fixed(c.pick(3e37, 1e38, 1e-38, 1e-42, 1e-44), F)
            x = c.node("Div", [c.node("Mul", [x, far]), far])
        dtype = c.pick(U8, I8)
        x = c.node("QuantizeLinear", [x, *ends(dtype)])
    c.atol = 0
