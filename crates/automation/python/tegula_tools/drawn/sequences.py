"""What goes step by step or looks at others: recurrent layers, attention, control flow, signals, losses."""
import numpy as np
from onnx import TensorProto, helper

from tegula_tools.drawn.case import F, I8, I32, I64, form


# --- recurrent layers ------------------------------------------------------------------------------------------------

ACTIVATIONS = ["Tanh", "Sigmoid", "Relu", "HardSigmoid", "Softsign", "Softplus", "LeakyRelu", "Elu", "Affine",
               "ThresholdedRelu", "ScaledTanh"]


@form(weight=4)
def recurrent(c):
    op, gates, per = c.pick(("LSTM", 4, 3), ("GRU", 3, 2), ("RNN", 1, 1))
    c.opset = c.pick(7, 14, 22)
    direction = c.pick("forward", "reverse", "bidirectional")
    n = 2 if direction == "bidirectional" else 1
    steps, batch, size, hidden = c.int(1, 5), c.int(1, 3), c.int(1, 4), c.pick(1, 2, 3, 8)
    # Steps first, and no clip of LSTM: ONNX Runtime has no other layout, and does not clip what the last activation
    # sees.
    x = c.values([steps, batch, size])
    # Where states grow without end each engine overflows elsewhere.
    c.finite = True
    w, r = c.values([n, gates * hidden, size]) * F(0.4), c.values([n, gates * hidden, hidden]) * F(0.4)
    state = lambda: c.maybe(c.values([n, batch, hidden]), 0.4)
    lengths = c.maybe(c.whole([batch], I32, 1, steps), 0.4)
    operands = [c.run(x), c.any(w), c.any(r), c.maybe(c.values([n, 2 * gates * hidden])), lengths, state()]
    attributes = dict(hidden_size=hidden, direction=direction if direction != "forward" or c.chance() else None,
                      clip=c.some(0.8, 0.3) if op != "LSTM" else None)
    if op == "LSTM":
        operands += [state(), c.maybe(c.values([n, 3 * hidden]), 0.3)]
        attributes["input_forget"] = c.some(c.int(0, 1), 0.3)
    if op == "GRU":
        attributes["linear_before_reset"] = c.some(c.int(0, 1))
    if c.chance(0.5):
        names = [c.pick(*ACTIVATIONS) for _ in range(per * n)]
        takes_alpha = ("HardSigmoid", "LeakyRelu", "Elu", "Affine", "ThresholdedRelu", "ScaledTanh")
        attributes["activations"] = names
        # ONNX Runtime has other defaults than ONNX for these.
        if any(name in ("Affine", "ScaledTanh", "ThresholdedRelu") for name in names) or c.chance(0.5):
            attributes["activation_alpha"] = [0.3 for name in names if name in takes_alpha] or None
            attributes["activation_beta"] = [0.4 for name in names
                                             if name in ("HardSigmoid", "Affine", "ScaledTanh")] or None
    c.atol = 1e-4
    c.node(op, operands, 3 if op == "LSTM" else 2, **attributes)


# --- attention -------------------------------------------------------------------------------------------------------

@form(weight=3)
def attention(c):
    c.opset = c.pick(23, 23, 24)
    batch, heads, length, keys, size = c.int(1, 2), c.pick(1, 2, 4), c.int(1, 5), c.int(1, 6), c.pick(2, 4, 8)
    kv_heads = c.pick(heads, heads, 1)
    v_size = c.pick(size, size, 3)
    past = c.pick(0, 0, 3)
    if c.chance():
        q, k, v = [batch, heads, length, size], [batch, kv_heads, keys, size], [batch, kv_heads, keys, v_size]
        attributes = {}
    else:
        q, k, v = [batch, length, heads * size], [batch, keys, kv_heads * size], [batch, keys, kv_heads * v_size]
        attributes = dict(q_num_heads=heads, kv_num_heads=kv_heads)
    total = keys + past
    mask = ""
    if c.chance():
        shape = c.pick([length, total], [1, 1, length, total], [batch, heads, length, total], [batch, 1, length, total])
        mask = c.values(shape, c.pick(F, bool))
        if mask.dtype == bool:
            mask[..., 0] = True
        mask = c.any(mask)
    # A row that sees no key has no answer that all agree on, nor where the causal diagonal lies behind a cache.
    causal = c.some(c.int(0, 1)) if mask == "" and not (past and length != keys) else None
    held = [c.run(c.values([batch, kv_heads, past, n])) for n in (size, v_size)] if past else ["", ""]
    operands = [c.run(c.values(q)), c.run(c.values(k)), c.run(c.values(v)), mask, *held]
    c.atol = 1e-4
    c.node("Attention", operands, 3 if past else 1, is_causal=causal, scale=c.some(0.3), softcap=c.some(2.0, 0.3),
           **attributes)


@form
def rotary(c):
    c.opset, c.symbols = 23, "none"
    batch, heads, length, size = c.int(1, 2), c.int(1, 3), c.int(1, 4), c.pick(4, 8)
    turned = c.pick(size, size, size // 2)
    by_heads = c.chance()
    x = c.values([batch, heads, length, size] if by_heads else [batch, length, heads * size])
    places = c.whole([batch, length], I64, 0, 5) if c.chance() else None
    caches = [6, turned // 2] if places is not None else [batch, length, turned // 2]
    c.node("RotaryEmbedding", [c.run(x), c.any(c.values(caches)), c.any(c.values(caches)),
                               "" if places is None else c.any(places)],
           interleaved=c.some(c.int(0, 1)), rotary_embedding_dim=turned if turned != size else c.some(0),
           num_heads=None if by_heads else heads)


# --- control flow ----------------------------------------------------------------------------------------------------

def body(nodes, name, inputs, outputs):
    values = lambda pairs: [helper.make_tensor_value_info(name, dtype, shape) for name, dtype, shape in pairs]
    return helper.make_graph(nodes, name, values(inputs), values(outputs))


@form
def if_else(c):
    c.any_symbols()
    shape = c.full(1, 3)
    x = c.run(c.values(shape))
    branches = []
    for name in ("then", "else"):
        op = c.pick("Neg", "Exp", "Relu", "Abs", "Sigmoid")
        nodes = [helper.make_node(op, [x], [f"{name}_a"]), helper.make_node("Add", [f"{name}_a", x], [f"{name}_b"])]
        branches.append(body(nodes, name, [], [(f"{name}_b", TensorProto.FLOAT, None)]))
    condition = c.pick(c.run(np.array(c.chance())), c.fixed(np.array(c.chance()))) if c.chance() else None
    if condition is None:
        condition = c.node("Greater", [c.node("ReduceMax", [x], keepdims=0), c.fixed(np.array(0.5, F))])
    c.inputs = {name: value for name, value in c.inputs.items() if name == x or name == condition}
    c.node("If", [condition], then_branch=branches[0], else_branch=branches[1])


@form
def loop(c):
    c.any_symbols()
    shape = c.full(1, 2)
    x = c.run(c.values(shape))
    trips = c.int(0, 4)
    nodes = [helper.make_node("Mul", ["state", "half"], ["scaled"]),
             helper.make_node("Add", ["scaled", x], ["next"]),
             helper.make_node("ReduceSum", ["next"], ["seen"], keepdims=0)]
    condition = "given"
    if c.chance():
        nodes.append(helper.make_node("Less", ["seen", "limit"], ["go"]))
        condition = "go"
    else:
        nodes.append(helper.make_node("Identity", ["given"], ["go"]))
    c.constants.update(half=np.array(0.5, F), limit=np.array(3.0, F))
    graph = body(nodes, "body", [("i", TensorProto.INT64, []), ("given", TensorProto.BOOL, []),
                                 ("state", TensorProto.FLOAT, None)],
                 [("go", TensorProto.BOOL, []), ("next", TensorProto.FLOAT, None), ("seen", TensorProto.FLOAT, [])])
    count = c.mostly_fixed(c.pick(trips, [trips]))
    c.node("Loop", [count, c.pick("", c.fixed(np.array(True))), c.any(c.values(shape))], 2, body=graph)


@form
def scan(c):
    c.opset = c.pick(9, 11, 16)
    steps, shape = c.int(1, 5), c.full(1, 2)
    axis, out_axis = c.int(0, len(shape)), c.int(0, len(shape))
    xs = list(shape)
    xs.insert(axis, steps)
    nodes = [helper.make_node("Add", ["state", "x"], ["next"]), helper.make_node("Mul", ["next", "x"], ["y"])]
    graph = body(nodes, "body", [("state", TensorProto.FLOAT, shape), ("x", TensorProto.FLOAT, shape)],
                 [("next", TensorProto.FLOAT, shape), ("y", TensorProto.FLOAT, shape)])
    negative = lambda axis: axis - len(shape) - 1 if c.opset >= 11 and c.chance(0.3) else axis
    c.symbols = c.pick("none", "first")
    c.node("Scan", [c.any(c.values(shape)), c.run(c.values(xs))], 2, body=graph, num_scan_inputs=1,
           scan_input_axes=[negative(axis)], scan_output_axes=[negative(out_axis)],
           scan_input_directions=c.some([c.int(0, 1)]), scan_output_directions=c.some([c.int(0, 1)]))


# --- signals ---------------------------------------------------------------------------------------------------------

@form(weight=2)
def dft(c):
    c.opset = c.pick(17, 20)
    inverse, onesided = c.int(0, 1), c.int(0, 1)
    complex_parts = 2 if inverse else c.pick(1, 2)
    if complex_parts == 2 and not inverse:
        onesided = 0
    if inverse:
        onesided = 0
    shape = [size + 1 for size in c.full(2, 3)]
    axis = c.int(1, len(shape) - 1) if c.chance(0.7) else 0
    length = c.maybe(np.array(c.int(2, 9), I64), 0.4)
    c.symbols = "none"
    c.atol = 1e-3
    x = c.run(c.values([*shape, complex_parts]))
    if c.opset == 17:
        return c.node("DFT", [x, length], axis=axis, inverse=inverse, onesided=onesided)
    c.node("DFT", [x, length, c.fixed(np.array(axis), I64)], inverse=inverse, onesided=onesided)


@form
def stft(c):
    c.opset = 17
    frame, step = c.pick(4, 8, 5), c.int(1, 4)
    x = c.run(c.values([c.int(1, 2), c.int(frame, 24), *c.pick([1], [])]))
    c.symbols = "none"
    c.atol = 1e-3
    window = c.maybe(c.values([frame]))
    c.node("STFT", [x, c.fixed(step, I64), window, c.fixed(frame, I64)], onesided=c.some(c.int(0, 1)))


@form
def window(c):
    c.opset = 17
    if c.chance(0.3):
        mels, length, rate = c.int(2, 6), c.pick(16, 32), c.pick(8000, 16000)
        return c.node("MelWeightMatrix", [c.fixed(mels, I64), c.fixed(length, I64), c.fixed(rate, I64),
                                          c.fixed(c.pick(0.0, 100.0), F), c.fixed(rate / 2, F)])
    c.node(c.pick("HannWindow", "HammingWindow", "BlackmanWindow"), [c.mostly_fixed(c.int(1, 12))],
           periodic=c.some(c.int(0, 1)), output_datatype=c.some(c.pick(TensorProto.FLOAT, TensorProto.DOUBLE)))


# --- others ----------------------------------------------------------------------------------------------------------

@form
def losses(c):
    n, classes, rest = c.int(1, 3), c.int(2, 5), c.full(0, 2, 3)
    scores = c.values([n, classes, *rest])
    ignored = c.some(c.int(-1, classes - 1))
    labels = c.whole([n, *rest], c.pick(I32, I64), 0, classes - 1)
    weights = c.maybe((np.abs(c.values([classes])) + F(0.1)).astype(F))
    reduction = c.some(c.pick("none", "sum", "mean"))
    c.opset = c.pick(12, 13)
    op = c.pick("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss")
    if ignored is not None and (labels == ignored).all():
        ignored = None
    c.node(op, [c.run(scores), c.run(labels), weights], c.int(1, 2) if op[0] == "S" else 1, reduction=reduction,
           ignore_index=ignored)


@form
def non_zero(c):
    c.any_symbols()
    c.node("NonZero", [c.run(c.values(c.full(1, 3), c.pick(bool, F, I32, I64), -1, 1))])


@form
def unique(c):
    shape = c.full(1, 3, 4)
    x = c.whole(shape, c.pick(F, I64, I32, I8), 0, 2)
    c.node("Unique", [c.run(x)], 4, axis=c.some(c.axis(len(shape))), sorted=c.some(c.int(0, 1)))


@form
def det(c):
    n = c.int(1, 4)
    c.atol, c.symbols = 1e-3, "none"
    c.node("Det", [c.run(c.values([*c.full(0, 2), n, n]))])


@form
def sequences(c):
    shape = c.full(1, 3)
    axis = c.axis(len(shape))
    keep = c.some(c.int(0, 1))
    c.symbols = c.pick("none", "none", "first") if axis % len(shape) else "none"
    size = c.fixed(1, I64) if c.chance(0.3) else ""
    # With a size `keepdims` is ignored; ONNX Runtime heeds it.
    parts = c.node("SplitToSequence", [c.run(c.values(shape)), size], axis=axis, keepdims=None if size else keep)
    if c.chance():
        at = c.int(-shape[axis], shape[axis] - 1)
        if c.chance():
            parts = c.node("SequenceInsert", [parts, c.node("SequenceAt", [parts, c.fixed(0, I64)]), c.fixed(at, I64)])
        elif shape[axis] > 1 and c.chance():
            parts, at = c.node("SequenceErase", [parts, c.fixed(at, I64)]), 0
        return c.node("SequenceLength", [parts]) if c.chance(0.2) else c.node("SequenceAt", [parts, c.fixed(at, I64)])
    new = c.some(c.int(0, 1))
    c.node("ConcatFromSequence", [parts], axis=c.int(0, len(shape) - 2) if len(shape) > 1 else 0, new_axis=new)
