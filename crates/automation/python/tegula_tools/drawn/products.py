"""Reductions, products, quantised ones among them, and norms."""
import numpy as np

from tegula_tools.drawn.case import D, F, H, I8, I32, I64, U8, form
from tegula_tools.drawn.windows import windows


# --- reductions ------------------------------------------------------------------------------------------------------

REDUCTIONS = ["Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "LogSum", "LogSumExp", "SumSquare"]


@form(weight=4)
def reduce(c):
    c.any_symbols()
    kind = c.pick(*REDUCTIONS)
    c.opset = c.pick(1, 11, 13, 18, 20)
    # Of nothing ONNX Runtime gives what it likes, in what shape it likes.
    shape = c.full(0 if c.opset >= 18 else 1, 4, 5)
    dtype = c.pick(F, F, F, D, I32, I64, *([U8, I8, bool] if kind in ("Max", "Min") and c.opset == 20 else []))
    if kind.startswith("Log") and dtype not in (F, D):
        # Integers of logarithms are rounded somehow.
        dtype = F
    x = c.values(shape, dtype, -3, 3)
    if kind == "LogSum":
        x = np.abs(x) + (0.1 if dtype in (F, D) else 1)
    axes = c.axes(len(shape), 0 if c.opset >= 18 else 1)
    if c.opset < 11:
        axes = [axis % len(shape) for axis in axes]
    keep = c.some(c.int(0, 1), 0.7)
    # A logarithm of a sum near 1 has few digits.
    c.atol = 2e-4
    # ONNX Runtime's largest and smallest elements overlook NaN, or do not, by where it lies.
    x = c.run(x.astype(dtype) if kind in ("Max", "Min", "LogSumExp") else c.rare(x.astype(dtype)))
    if c.opset >= 18 or (kind == "Sum" and c.opset >= 13):
        given = "" if c.chance(0.2) else c.fixed(axes, I64)
        return c.node(f"Reduce{kind}", [x, given], keepdims=keep, noop_with_empty_axes=c.some(c.int(0, 1)))
    c.node(f"Reduce{kind}", [x], keepdims=keep, axes=c.some(axes, 0.8))


@form(weight=2)
def arg(c):
    c.any_symbols()
    c.opset = c.pick(1, 11, 12, 13)
    shape = c.full(1, 4)
    dtype = c.pick(F, F, I32, U8, I8, D)
    axis = c.int(0, len(shape) - 1) if c.opset == 1 else c.axis(len(shape))
    c.node(c.pick("ArgMax", "ArgMin"), [c.run(c.whole(shape, dtype, 0, 4))], axis=c.some(axis, 0.8),
           keepdims=c.some(c.int(0, 1)), select_last_index=c.some(c.int(0, 1)) if c.opset >= 12 else None)


@form
def top_k(c):
    c.opset = c.pick(1, 10, 11, 24)
    shape = c.full(1, 3)
    axis = c.int(0, len(shape) - 1) if c.opset < 11 else c.axis(len(shape))
    k = c.int(0 if c.chance(0.1) else 1, shape[axis])
    # Of equal elements the first comes first, whichever end is asked for.
    x = c.run(c.whole(shape, c.pick(F, F, D, I32, I64) if c.opset >= 11 else F, 0, 6))
    if c.opset == 1:
        return c.node("TopK", [x], 2, axis=axis, k=k)
    # Unsorted results have an order that is the engine's own.
    largest = c.some(c.int(0, 1)) if c.opset >= 11 else None
    c.node("TopK", [x, c.mostly_fixed([k])], 2, axis=c.some(axis) or axis, largest=largest)


@form
def softmax(c):
    c.any_symbols()
    c.opset = c.pick(1, 11, 13)
    shape = c.full(1, 4)
    op = c.pick("Softmax", "Softmax", "LogSoftmax", "Hardmax")
    axis = c.int(0, len(shape) - 1) if c.opset == 1 else c.axis(len(shape))
    x = c.distinct(shape, F) / 4 if op == "Hardmax" else c.values(shape, c.float() if c.opset > 1 else F)
    c.node(op, [c.run(x)], axis=c.some(axis, 0.8))


@form
def cum(c):
    c.any_symbols()
    c.opset = c.pick(11, 14)
    shape = c.shape(1, 4)
    c.node("CumSum", [c.run(c.values(shape, c.pick(F, F, D, I32, I64))), c.mostly_fixed(c.axis(len(shape)),
           c.pick(I32, I64))], exclusive=c.some(c.int(0, 1)), reverse=c.some(c.int(0, 1)))


# --- products --------------------------------------------------------------------------------------------------------

@form(weight=2)
def gemm(c):
    c.opset = c.pick(7, 9, 11, 13)
    m, n, k = (c.pick(1, 2, 3, 7, 8, 16, 17, 33) for _ in range(3))
    a_turned, b_turned = c.int(0, 1), c.int(0, 1)
    dtype = c.pick(F, F, F, D, H)
    a, b = c.values([k, m] if a_turned else [m, k], dtype), c.values([n, k] if b_turned else [k, n], dtype)
    addend = c.values(c.pick([m, n], [n], [1, n], [m, 1], [1, 1], [1], []), dtype)
    c.atol = max(c.atol, 1e-4) if dtype != H else 5e-2
    last = c.maybe(addend, 0.7) if c.opset >= 11 else c.any(addend)
    c.node("Gemm", [c.run(a), c.any(b), last], transA=c.some(a_turned) or a_turned, transB=c.some(b_turned) or b_turned,
           alpha=c.some(0.5), beta=c.some(c.pick(-2.0, 0.0)))


def factors(c, dtype, other=None, high=9):
    """Two operands of a matrix product in any of its forms."""
    m, n, k = (c.pick(1, 2, 3, 5, 8, 17, 33) for _ in range(3))
    batch = c.full(0, 2, 4)
    a, b = [*c.broadcast(batch), m, k], [*c.broadcast(batch), k, n]
    form = c.pick("both", "both", "both", "left", "right", "rows")
    if form == "left":
        a = [k]
    if form == "right":
        b = [k]
    if form == "rows":
        a, b = [k], [k]
    return c.values(a, dtype, -high, high), c.values(b, other or dtype, -high, high)


@form(weight=2)
def matmul(c):
    dtype = c.pick(F, F, F, D, H, I32, I64)
    a, b = factors(c, dtype)
    c.atol = 5e-2 if dtype == H else 1e-4
    c.node("MatMul", [c.any(a) if c.chance(0.2) else c.run(a), c.any(b)])


@form
def einsum(c):
    equation = c.pick("ij,jk->ik", "ij,jk", "bij,bjk->bik", "...ij,...jk->...ik", "ij->ji", "ij->", "ii->i", "ii",
                      "i,i->", "i,j->ij", "bhqd,bhkd->bhqk", "bqhd,bkhd->bhqk", "ij,ij->ij", "ijk->kji", "...i->...",
                      "i...->...i", "ij,kj,kl->il", "ab,ab->a", "abc,cd->abd", "abc,acd->bd", "...a,ab->...b",
                      "bii->bi", "i,ij,j->", "abcd->dbca", "ab,cd->adbc", " ij , jk -> ik", "ba,ca->cb",
                      "aij,ajk,k->ai")
    sizes, operands = {}, []
    for term in equation.split("->")[0].split(","):
        term = term.strip().replace("...", "_")
        shape = []
        for letter in term:
            if letter == "_":
                shape += sizes.setdefault("_", c.full(0, 2, 3))
            else:
                shape.append(sizes.setdefault(letter, max(c.size(), 1)))
        operands.append(c.any(c.values(shape)) if operands else c.run(c.values(shape)))
    c.atol = 1e-4
    c.node("Einsum", operands, equation=equation)


@form(weight=2)
def quantize(c):
    c.opset = c.pick(10, 13, 19, 21, 23)
    shape = c.full(1, 4)
    axis = c.axis(len(shape))
    dtype = c.pick(U8, I8, *([np.uint16, np.int16] if c.opset >= 21 else []))
    per = c.pick("tensor", "axis", *(["block"] if c.opset >= 21 else [])) if c.opset >= 13 else "tensor"
    block = None
    sizes = [] if per == "tensor" else [shape[axis]]
    if per == "block":
        c.symbols, block = "none", c.int(1, 3)
        shape[axis] = block * c.int(1, 3)
        sizes = list(shape)
        sizes[axis] = shape[axis] // block
    scale, info = c.rng.uniform(0.02, 0.2, sizes).astype(F), np.iinfo(dtype)
    zero = c.maybe(c.whole(sizes, dtype, max(info.min, -300), min(info.max, 300)))
    axis = axis if per != "tensor" else None
    if c.chance():
        x = (c.values(shape) * 10).astype(F)
        if not zero and dtype != U8:
            zero = c.fixed(np.zeros(sizes, dtype))
        return c.node("QuantizeLinear", [c.run(x), c.any(scale), zero], axis=axis, block_size=block)
    x = c.whole(shape, dtype, info.min, info.max)
    c.node("DequantizeLinear", [c.run(x), c.any(scale), zero], axis=axis, block_size=block)


@form
def dynamic_quantize(c):
    c.node("DynamicQuantizeLinear", [c.run((c.values(c.full(1, 4)) * c.pick(1, 10) + c.pick(0, 4, -4)).astype(F))], 3)


@form
def matmul_integer(c):
    a_type, b_type = c.pick(U8, I8, U8), c.pick(U8, I8, I8)
    c.step = 1
    a, b = factors(c, a_type, b_type, 255)
    zero = lambda value, shape: c.maybe(c.whole(shape, value.dtype, 0, 30))
    rows = [a.shape[-2]] if a.ndim == 2 and c.chance(0.2) else []
    columns = [b.shape[-1]] if b.ndim == 2 and c.chance(0.3) else []
    c.node("MatMulInteger", [c.run(a), c.any(b), zero(a, rows), zero(b, columns)])


@form
def qlinear_matmul(c):
    a_type = c.pick(U8, U8, I8)
    a, b = factors(c, a_type, c.pick(U8, I8) if a_type == U8 else I8, 255)
    columns = [b.shape[-1]] if b.ndim == 2 and c.chance(0.3) else []
    scale = lambda shape, low, high: c.any(c.rng.uniform(low, high, shape).astype(F))
    zero = lambda shape, dtype: c.any(c.whole(shape, dtype, 0, 20))
    c.step = 1
    c.node("QLinearMatMul", [c.run(a), scale([], 0.01, 0.1), zero([], a_type), c.any(b), scale(columns, 0.01, 0.1),
                             zero(columns, b.dtype), scale([], 0.1, 0.9), zero([], a_type)])


@form(weight=2)
def conv_bytes(c):
    spatial, group = c.pick(1, 2, 2), c.pick(1, 1, 2)
    per_in, per_out = c.pick(1, 3, 8, 16), c.pick(1, 3, 8, 16)
    if c.chance(0.2):
        per_in, per_out, group = 1, 1, c.pick(4, 16, 17)
    kernel, attributes = windows(c, spatial)
    x_type = c.pick(U8, U8, I8)
    w_type = c.pick(U8, I8, I8) if x_type == U8 else I8
    x = c.whole([c.int(1, 2), per_in * group, *[c.int(3, 8) for _ in kernel]], x_type, np.iinfo(x_type).min,
                np.iinfo(x_type).max)
    w = c.whole([per_out * group, per_in, *kernel], w_type, np.iinfo(w_type).min, np.iinfo(w_type).max)
    attributes.update(group=group, kernel_shape=c.some(kernel))
    c.step = 1
    if c.chance():
        zeros = [c.maybe(c.whole([], x_type, 0, 30)), c.maybe(c.whole([], w_type, 0, 30), 0.3)]
        return c.node("ConvInteger", [c.run(x), c.any(w), *zeros], **attributes)
    each = [per_out * group] if c.chance() else []
    w_zero = np.zeros(each, w_type) if w_type == I8 else c.whole([], w_type, 0, 30) * np.ones(each, w_type)
    scale = lambda shape, low, high: c.any(c.rng.uniform(low, high, shape).astype(F))
    c.node("QLinearConv", [c.run(x), scale([], 0.01, 0.05), c.any(c.whole([], x_type, 0, 30)), c.any(w),
                           scale(each, 0.01, 0.05), c.any(w_zero.astype(w_type)), scale([], 0.1, 0.9),
                           c.any(c.whole([], x_type, 0, 30)), c.maybe(c.whole([per_out * group], I32, -300, 300))],
           **attributes)


# --- norms -----------------------------------------------------------------------------------------------------------

@form
def batch_norm(c):
    c.opset = c.pick(7, 9, 14, 15)
    shape = [c.int(1, 3), max(c.size(), 1), *c.full(0, 3)]
    n = shape[1]
    operands = [c.values([n]), c.values([n]), c.values([n]), np.abs(c.values([n])) + F(0.1)]
    c.node("BatchNormalization", [c.run(c.values(shape)), *[c.any(value) for value in operands]],
           epsilon=c.some(1e-2), momentum=c.some(0.5))


@form
def instance_norm(c):
    shape = [c.int(1, 3), c.int(1, 4), *c.full(1, 3)]
    if np.prod(shape[2:]) == 1:
        shape[2] = 4
    c.atol = 1e-4
    c.node("InstanceNormalization", [c.run(c.values(shape)), *[c.any(c.values([shape[1]])) for _ in range(2)]],
           epsilon=c.some(1e-2))


@form
def layer_norm(c):
    shape = [size + 1 for size in c.full(1, 4)]
    rms = c.chance(0.4)
    c.opset = 23 if rms else 17
    axis = c.axis(len(shape))
    tail = shape[axis % len(shape):]
    scale = c.values(tail if c.chance(0.7) else c.broadcast(tail))
    c.atol = 1e-3
    if rms:
        return c.node("RMSNormalization", [c.run(c.values(shape)), c.any(scale)], axis=c.some(axis) or axis,
                      epsilon=c.some(1e-2))
    bias = c.maybe(c.values(tail))
    c.node("LayerNormalization", [c.run(c.values(shape)), c.any(scale), bias], c.int(1, 3), axis=axis,
           epsilon=c.some(1e-2))


@form
def group_norm(c):
    c.opset = c.pick(18, 21)
    groups, per = c.int(1, 3), c.int(1, 3)
    shape = [c.int(1, 2), groups * per, *[size + 1 for size in c.full(1, 2)]]
    n = groups if c.opset == 18 else groups * per
    c.atol = 1e-4
    c.node("GroupNormalization", [c.run(c.values(shape)), c.any(c.values([n])), c.any(c.values([n]))],
           num_groups=groups, epsilon=c.some(1e-2))


@form
def small_norms(c):
    shape = c.full(4, 4)
    x = c.run(c.values(shape))
    op = c.pick("LRN", "LpNormalization", "MeanVarianceNormalization")
    c.atol = 1e-3
    if op == "LRN":
        return c.node(op, [x], size=c.pick(1, 3, 5), alpha=c.some(0.1), beta=c.some(0.5), bias=c.some(2.0))
    if op == "LpNormalization":
        return c.node(op, [x], axis=c.some(c.axis(4)), p=c.some(c.int(1, 2)))
    c.node(op, [x], axes=c.some(c.pick([0, 2, 3], [0, 1, 2, 3], [2, 3])))
