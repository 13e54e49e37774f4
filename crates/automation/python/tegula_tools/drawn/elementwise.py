"""One element at a time, with broadcasting."""
import numpy as np
from onnx import TensorProto, helper

from tegula_tools.drawn.case import D, F, H, I8, I32, I64, U8, form


@form(weight=3)
def binary(c):
    c.any_symbols()
    op = c.pick("Add", "Sub", "Mul", "Div", "Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual", "PRelu", "Pow")
    c.opset = c.pick(13, 14, 16)
    shape, dtype = c.shape(0, 4), c.number()
    a, b = c.values(c.broadcast(shape), dtype), c.values(c.broadcast(shape), dtype)
    if op == "Pow":
        # No 0 to a negative power, which integers lack.
        a = (np.abs(a) + dtype(0.1 if np.issubdtype(dtype, np.floating) else 1)).astype(dtype)
        b = c.values(b.shape, c.pick(dtype, F, I32), 0, 3)
    if op == "PRelu":
        a, b = c.values(shape, dtype), b
    if op == "Div" and not np.issubdtype(dtype, np.floating):
        # By zero: a processor's own, and the least by -1.
        b = np.where(b == 0, dtype(3), b)
    if op != "Pow" or np.issubdtype(dtype, np.floating):
        a, b = c.rare(a), c.rare(b)
    c.node(op, [c.run(a), c.any(b)])


@form
def bits(c):
    dtype = c.pick(np.uint8, np.uint16, np.uint32, np.uint64)
    shape = c.shape(0, 3)
    op = c.pick("BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitwiseNot")
    c.opset = 18
    a = c.run(c.values(c.broadcast(shape), dtype, 0, 2000))
    if op == "BitShift":
        # Counts below the width: beyond it a processor's own.
        return c.node(op, [a, c.any(c.values(c.broadcast(shape), dtype, 0, 7))], direction=c.pick("LEFT", "RIGHT"))
    c.node(op, [a] if op == "BitwiseNot" else [a, c.any(c.values(c.broadcast(shape), dtype, 0, 2000))])


@form
def logic(c):
    c.any_symbols()
    shape = c.shape(0, 4)
    op = c.pick("And", "Or", "Xor", "Not")
    values = lambda: c.values(c.broadcast(shape), bool)
    c.node(op, [c.run(values())] if op == "Not" else [c.run(values()), c.any(values())])


@form
def mod(c):
    dtype, shape = c.number(), c.shape(0, 3)
    a, b = c.values(c.broadcast(shape), dtype, -100, 100), c.values(c.broadcast(shape), dtype, -7, 7)
    # Remainders jump: the operands are such that they are exact.
    whole = not np.issubdtype(dtype, np.floating)
    if not whole:
        a, b = np.round(a * 8).astype(dtype) / dtype(4), np.round(b * 2).astype(dtype) / dtype(2)
    b = np.where(b == 0, dtype(3), b)
    c.node("Mod", [c.run(a), c.any(b)], fmod=c.some(c.int(0, 1)) if whole else 1)


@form
def variadic(c):
    c.any_symbols()
    shape = c.shape(0, 4)
    op = c.pick("Max", "Min", "Sum", "Mean")
    dtype = c.number() if op in ("Max", "Min") else c.float()
    c.opset = 13
    c.node(op, [c.run(c.rare(c.values(c.broadcast(shape), dtype))) for _ in range(c.int(1, 4))])


@form
def where(c):
    c.any_symbols()
    shape, dtype = c.shape(0, 4), c.number()
    c.node("Where", [c.run(c.values(c.broadcast(shape), bool)), c.any(c.values(c.broadcast(shape), dtype)),
                     c.any(c.values(c.broadcast(shape), dtype))])


@form(weight=2)
def unary(c):
    c.any_symbols()
    op, names = c.pick(
        ("Elu", ["alpha"]), ("Celu", ["alpha"]), ("LeakyRelu", ["alpha"]), ("Selu", ["alpha", "gamma"]),
        ("HardSigmoid", ["alpha", "beta"]), ("ThresholdedRelu", ["alpha"]), ("Shrink", ["lambd", "bias"]),
        ("Softplus", []), ("Softsign", []), ("HardSwish", []), ("Mish", []), ("Gelu", []), ("Erf", []), ("Round", []),
        ("Sign", []),
        ("Floor", []), ("Ceil", []), ("Abs", []), ("Neg", []), ("Exp", []), ("Tan", []), ("Asin", []), ("Acosh", []),
        ("Atanh", []), ("Sinh", []), ("IsNaN", []), ("Reciprocal", []), ("Sqrt", []), ("Sigmoid", []),
        ("Swish", ["alpha"]))
    c.opset = c.pick(20, 22, 24)
    attributes = {name: c.some(c.pick(0.3, 1.7)) for name in names}
    if op == "Gelu":
        attributes["approximate"] = c.some(c.pick("none", "tanh"))
    x = c.values(c.shape(0, 4), c.float() if op not in ("Abs", "Neg", "Sign") else c.number())
    if np.issubdtype(x.dtype, np.floating) and op == "Round":
        x = np.round(x * 4) / x.dtype.type(2)
    c.node(op, [c.run(c.rare(x))], **attributes)


@form
def is_inf(c):
    c.any_symbols()
    x = c.values(c.shape(1, 3), c.pick(F, D))
    x[c.rng.random(x.shape) < 0.3] = np.inf
    x[c.rng.random(x.shape) < 0.3] = -np.inf
    c.node("IsInf", [c.run(x)], detect_negative=c.some(c.int(0, 1)), detect_positive=c.some(c.int(0, 1)))


@form
def clip(c):
    c.any_symbols()
    c.opset = c.pick(6, 11, 12, 13)
    dtype = c.number() if c.opset >= 12 else F
    x = c.run(c.values(c.shape(0, 4), dtype, -100, 100))
    low, high = dtype(c.int(0, 2) if dtype == U8 else c.int(-5, 0)), dtype(c.int(1, 5))
    if c.chance(0.1):
        # A least above the most: the most holds.
        low, high = high, low
    if c.opset == 6:
        return c.node("Clip", [x], min=c.some(float(low)), max=c.some(float(high)))
    c.node("Clip", [x, c.maybe(np.array(low)), c.maybe(np.array(high))])


@form(weight=2)
def cast(c):
    c.any_symbols()
    c.opset = c.pick(9, 13, 19, 21)
    source, to = c.pick(F, H, D, bool, U8, I8, I32, I64, np.uint16, np.int16), c.pick(F, H, D, bool, U8, I8, I32, I64)
    # Floats that the type cannot hold have no answer that all agree on.
    low = 0 if to == U8 and np.issubdtype(source, np.floating) else -100
    x = c.values(c.shape(0, 3), source, -30000, 30000)
    if np.issubdtype(source, np.floating):
        x = (np.round(x * 200) / 16).astype(source)
        if low == 0:
            x = np.abs(x)
    if c.opset >= 19 and c.chance(0.4):
        # There and back: as floats of 8 bits.
        small = c.pick(TensorProto.FLOAT8E4M3FN, TensorProto.FLOAT8E5M2, TensorProto.FLOAT8E4M3FNUZ,
                       TensorProto.FLOAT8E5M2FNUZ, TensorProto.BFLOAT16)
        x = (c.values(c.shape(0, 3)) * c.pick(1, 100, 1000)).astype(F)
        saturate = c.some(c.int(0, 1)) if small != TensorProto.BFLOAT16 else None
        return c.node("Cast", [c.node("Cast", [c.run(x)], to=small, saturate=saturate)], to=TensorProto.FLOAT)
    c.judge_as(to)
    c.node("Cast", [c.run(x)], to=helper.np_dtype_to_tensor_dtype(np.dtype(to)))
