"""What moves elements, and arithmetic on shapes."""
import numpy as np
from onnx import TensorProto, numpy_helper

from tegula_tools.drawn.case import D, F, I32, I64, form


# --- movement --------------------------------------------------------------------------------------------------------

@form(weight=3)
def pad(c):
    c.any_symbols()
    c.opset = c.pick(2, 11, 13, 18, 19, 21, 23)
    modes = ["constant", "reflect", "edge"] + (["wrap"] if c.opset >= 19 else [])
    mode = c.pick("constant", *modes)
    shape = c.shape(1, 4) if mode == "constant" else [size + 2 for size in c.full(1, 4)]
    axes = c.axes(len(shape), 1) if c.opset >= 18 and c.chance(0.4) else None
    n = len(shape if axes is None else axes)
    pads = c.ints(2 * n, -1 if c.chance(0.3) else 0, 2)
    if c.opset == 2:
        return c.node("Pad", [c.run(c.values(shape))], mode=c.some(mode) or mode, pads=pads, value=c.some(1.5))
    dtype = c.number()
    value = c.maybe(c.values([], dtype)) if mode == "constant" else ""
    # Pads that are data are not negative: a documented limit.
    c.node("Pad", [c.run(c.values(shape, dtype)), c.mostly_fixed(pads) if min(pads) >= 0 else c.fixed(pads, I64), value,
                   "" if axes is None else c.fixed(axes, c.pick(I32, I64))], mode=mode)


@form(weight=3)
def slice(c):
    c.any_symbols()
    c.opset = c.pick(1, 10, 11, 13)
    shape = c.shape(1, 4)
    axes = c.axes(len(shape), 1)
    if c.opset < 11:
        axes = [axis % len(shape) for axis in axes]
    if c.chance(0.3):
        axes = list(range(len(axes)))
    far = np.iinfo(I64).max
    steps = [c.pick(1, 1, 2, 3, -1, -2) if c.opset >= 10 else 1 for _ in axes]
    starts, ends = [], []
    for axis, step in zip(axes, steps):
        start, end = sorted(c.ints(2, -1, shape[axis] + 1))
        if step < 0:
            start, end = end, c.pick(start, -far, -shape[axis] - 1)
        starts.append(c.pick(start, start, start - shape[axis], 0 if step > 0 else far))
        ends.append(c.pick(end, end, end, far if step > 0 else end))
    named = axes if axes != list(range(len(axes))) or c.chance() else None
    if 0 in shape:
        # A constant length is taken to stay within its axis: a documented limit.
        c.symbols = "none"
    x = c.run(c.values(shape, c.number()))
    if c.opset == 1:
        return c.node("Slice", [x], starts=starts, ends=ends, axes=named)
    dtype = I64
    axes = "" if named is None else c.fixed(named, dtype)
    c.node("Slice", [x, c.mostly_fixed(starts, dtype), c.mostly_fixed(ends, dtype), axes,
                     "" if set(steps) == {1} and c.chance() else c.fixed(steps, dtype)])


@form
def gather(c):
    c.any_symbols()
    c.opset = c.pick(1, 11, 13)
    shape = c.full(1, 4)
    axis = c.axis(len(shape))
    indices = c.whole(c.shape(0, 2), c.pick(I32, I64), 0 if c.opset == 1 else -shape[axis], shape[axis] - 1)
    c.node("Gather", [c.run(c.values(shape, c.number())), c.any(indices)], axis=axis)


@form
def gather_elements(c):
    c.any_symbols()
    shape = c.full(1, 4)
    axis = c.axis(len(shape))
    extents = [c.int(1, size) for size in shape]
    extents[axis] = c.size()
    indices = c.whole(extents, c.pick(I32, I64), -shape[axis], shape[axis] - 1)
    c.node("GatherElements", [c.run(c.values(shape, c.number())), c.any(indices)], axis=axis)


def tuples(c, shape, batch, outer):
    """Indices of depth up to the rank; no two are equal within a batch."""
    depth = c.int(1, len(shape) - batch)
    rows = []
    n = int(np.prod(shape[batch:batch + depth]))
    count = min(n, int(np.prod(outer)) if outer else 1)
    for _ in range(int(np.prod(shape[:batch]))):
        flat = c.rng.permutation(n)[:count]
        rows.append(np.stack(np.unravel_index(flat, shape[batch:batch + depth]), -1))
    return np.array(rows).reshape(*shape[:batch], count, depth)


@form
def gather_nd(c):
    shape = c.full(1, 4)
    batch = c.int(0, len(shape) - 1) if c.chance(0.4) else 0
    indices = tuples(c, shape, batch, c.full(0, 2, 4)).astype(I64)
    c.symbols = "none" if batch else c.symbols
    if c.chance(0.3):
        indices -= np.array(shape[batch:batch + indices.shape[-1]])
    c.node("GatherND", [c.run(c.values(shape, c.number())), c.any(indices)], batch_dims=c.some(batch) or batch)


@form
def scatter_elements(c):
    c.opset = c.pick(9, 11, 13, 16, 18)
    shape = c.full(1, 3)
    axis = c.int(0, len(shape) - 1) if c.opset == 9 else c.axis(len(shape))
    extents = [c.int(1, size) for size in shape]
    reduction = c.pick(*{16: ["none", "add", "mul"], 18: ["none", "add", "mul", "min", "max"]}.get(c.opset, ["none"]))
    if reduction == "none":
        # No element is written twice.
        indices = np.argsort(c.rng.random([shape[axis] if i == axis % len(shape) else size
                                           for i, size in enumerate(extents)]), axis)
        indices = np.take(indices, range(extents[axis]), axis)
    else:
        indices = c.whole(extents, I64, 0, shape[axis] - 1)
    indices = (indices - (shape[axis] if c.opset > 9 and c.chance(0.3) else 0)).astype(c.pick(I32, I64))
    dtype = c.number()
    c.node("Scatter" if c.opset == 9 else "ScatterElements",
           [c.run(c.values(shape, dtype)), c.any(indices), c.any(c.values(extents, dtype, -3, 3))], axis=axis,
           reduction=reduction if c.opset >= 16 else None)


@form
def scatter_nd(c):
    c.opset = c.pick(11, 13, 16, 18)
    shape = c.full(1, 3)
    reduction = c.pick(*{16: ["none", "add", "mul"], 18: ["none", "add", "mul", "min", "max"]}.get(c.opset, ["none"]))
    indices = tuples(c, shape, 0, c.full(0, 2, 4))
    if reduction != "none" and c.chance():
        indices = np.concatenate([indices, indices])
    dtype = c.number()
    updates = c.values([*indices.shape[:-1], *shape[indices.shape[-1]:]], dtype, -3, 3)
    c.node("ScatterND", [c.run(c.values(shape, dtype)), c.any(indices, I64), c.any(updates)],
           reduction=reduction if c.opset >= 16 else None)


@form
def tensor_scatter(c):
    c.opset = 24
    batch, room, length = c.int(1, 3), c.int(4, 7), c.int(1, 3)
    mode = c.pick("linear", "circular")
    past, heads = c.full(1, 2, 3), c.int(1, 3)
    shape = [batch, heads, room, past[0]]
    where = c.whole([batch], I64, 0, room - (length if mode == "linear" else 1))
    update = [batch, heads, length, past[0]]
    c.node("TensorScatter", [c.run(c.values(shape)), c.run(c.values(update)), c.maybe(where, 0.8)], mode=mode,
           axis=c.some(-2))


@form
def depth_space(c):
    block = c.int(1, 3)
    n, channels, h, w = c.full(4, 4, 4)
    c.opset = c.pick(1, 11, 13)
    if c.chance():
        mode = c.some(c.pick("DCR", "CRD")) if c.opset >= 11 else None
        x = c.values([n, channels * block * block, h, w])
        return c.node("DepthToSpace", [c.run(x)], blocksize=block, mode=mode)
    c.node("SpaceToDepth", [c.run(c.values([n, channels, h * block, w * block]))], blocksize=block)


@form
def tile(c):
    c.any_symbols()
    shape = c.shape(1, 4, 4)
    repeats = [c.pick(1, 1, 2, 3, c.int(0, 2)) for _ in shape]
    c.node("Tile", [c.run(c.values(shape, c.number())), c.mostly_fixed(repeats)])


@form
def expand(c):
    shape = c.shape(0, 4)
    target = [c.pick(1, size) for size in shape]
    source = [size if c.chance() or to != size else 1 for size, to in zip(shape, target)]
    if c.chance(0.3):
        target = c.full(1, 1) + target
    elif c.chance(0.3):
        target = target[c.int(0, len(target)):]
    # A size that is a symbol must be seen not to be 1, or to be what it expands to.
    c.symbols = "none"
    c.node("Expand", [c.run(c.values(source, c.number())), c.mostly_fixed(target)])


@form
def split(c):
    c.any_symbols()
    c.opset = c.pick(2, 11, 13, 18)
    shape = c.shape(1, 4)
    axis = c.int(0, len(shape) - 1) if c.opset == 2 else c.axis(len(shape))
    n = c.int(1, 4)
    parts = c.ints(n, 0, 3)
    equal = c.chance()
    shape[axis] = n * c.int(1, 3) if equal else sum(parts)
    if equal and c.opset == 18 and n > 1:
        shape[axis] += c.int(0, n - 1) if shape[axis] > n * (n - 1) else 0
    x = c.run(c.values(shape, c.number()))
    if c.opset >= 13:
        count = n if c.opset == 18 and equal else None
        return c.node("Split", [x, "" if equal else c.mostly_fixed(parts)], n, axis=axis, num_outputs=count)
    c.node("Split", [x], n, axis=axis, split=None if equal else parts)


@form
def concat(c):
    c.any_symbols()
    c.opset = c.pick(4, 11, 13)
    shape, dtype = c.shape(1, 4), c.number()
    axis = c.int(0, len(shape) - 1) if c.opset == 4 else c.axis(len(shape))
    operands = []
    for _ in range(c.int(1, 4)):
        shape[axis] = c.size()
        operands.append(c.any(c.values(shape, dtype)))
    c.node("Concat", operands, axis=axis)


@form
def transpose(c):
    c.any_symbols()
    shape = c.shape(0, 5)
    perm = [int(axis) for axis in c.rng.permutation(len(shape))]
    c.node("Transpose", [c.run(c.values(shape, c.number()))], perm=c.some(perm, 0.8) if shape else None)


@form
def squeeze(c):
    c.any_symbols()
    c.opset = c.pick(1, 11, 13, 21)
    shape = [1 if c.chance() else size for size in c.shape(1, 4)]
    ones = [axis for axis, size in enumerate(shape) if size == 1]
    axes = [axis - (len(shape) if c.opset >= 11 and c.chance(0.3) else 0) for axis in ones if c.chance()]
    x = c.run(c.values(shape, c.number()))
    given = axes and c.chance(0.8)
    # Which axes go must be known before the run where sizes are not.
    if not given:
        c.symbols = "none"
    if c.opset < 13:
        return c.node("Squeeze", [x], axes=axes if given else None)
    c.node("Squeeze", [x, c.fixed(axes, I64) if given else ""])


@form
def unsqueeze(c):
    c.any_symbols()
    c.opset = c.pick(1, 11, 13, 21)
    shape, n = c.shape(0, 3), c.int(1, 3)
    rank = len(shape) + n
    axes = [int(axis) - (rank if c.opset >= 11 and c.chance(0.3) else 0) for axis in c.rng.permutation(rank)[:n]]
    x = c.run(c.values(shape, c.number()))
    if c.opset < 13:
        return c.node("Unsqueeze", [x], axes=sorted(axes) if c.opset == 1 else axes)
    c.node("Unsqueeze", [x, c.fixed(axes, I64)])


@form
def flatten(c):
    c.any_symbols()
    c.opset = c.pick(1, 9, 11, 13)
    shape = c.shape(1, 4)
    c.node("Flatten", [c.run(c.values(shape, c.number() if c.opset >= 9 else F))],
           axis=c.some(c.int(-len(shape) if c.opset >= 11 else 0, len(shape)), 0.8))


@form(weight=2)
def reshape(c):
    c.any_symbols()
    c.opset = c.pick(5, 13, 14, 21)
    shape = c.shape(1, 4)
    factors = [size for size in shape for size in ([size] if size % 2 or not size else [2, size // 2])]
    cut = sorted(c.ints(c.int(0, 3), 0, len(factors)))
    target = [int(np.prod(part)) for part in np.split(factors, cut)]
    whole = 0 in shape
    allow = c.some(1, 0.3) if c.opset >= 14 else None
    if not whole and c.chance():
        target[c.int(0, len(target) - 1)] = -1
    if not allow:
        target = [0 if i < len(shape) and size == shape[i] and c.chance(0.4) else size for i, size in enumerate(target)]
    # Sizes that are data are at most the number of elements.
    given = c.fixed(target, I64) if whole else c.mostly_fixed(target)
    c.node("Reshape", [c.run(c.values(shape, c.number())), given], allowzero=allow)


@form
def center_crop_pad(c):
    c.opset = 18
    shape = c.full(1, 4)
    axes = c.axes(len(shape), 1) if c.chance() else None
    sizes = c.ints(len(shape if axes is None else axes), 1, 8)
    c.node("CenterCropPad", [c.run(c.values(shape)), c.mostly_fixed(sizes)], axes=axes)


@form
def reverse_sequence(c):
    shape = c.full(2, 4)
    time = c.pick(0, 1)
    lengths = c.whole([shape[1 - time]], I64, 0 if c.chance(0.2) else 1, shape[time])
    c.node("ReverseSequence", [c.run(c.values(shape, c.number())), c.any(lengths)], time_axis=time, batch_axis=1 - time)


@form
def compress(c):
    shape = c.full(1, 3)
    axis = c.some(c.axis(len(shape)), 0.7)
    n = int(np.prod(shape)) if axis is None else shape[axis]
    c.node("Compress", [c.run(c.values(shape, c.number())), c.any(c.values([c.int(1, n)], bool))], axis=axis)


@form
def trilu(c):
    c.any_symbols()
    shape = c.shape(2, 4)
    c.node("Trilu", [c.run(c.values(shape, c.number())), c.maybe(np.array(c.int(-5, 5)))],
           upper=c.some(c.int(0, 1)))


# --- shapes ----------------------------------------------------------------------------------------------------------

@form
def shape_of(c):
    c.any_symbols()
    c.opset = c.pick(13, 15, 21)
    shape = c.shape(0, 4)
    bound = lambda: c.some(c.int(-len(shape) - 1, len(shape) + 1)) if c.opset >= 15 else None
    x = c.run(c.values(shape))
    c.node(c.pick("Shape", "Shape", "Size"), [x])
    if c.nodes[-1].op_type == "Shape":
        c.nodes.pop()
        c.node("Shape", [x], start=bound(), end=bound())


@form(weight=2)
def reshape_by_arithmetic(c):
    """Heads split off or merged, an axis dropped, doubled or computed, as exporters write it."""
    c.any_symbols()
    shape = c.full(3, 4)
    x = c.run(c.values(shape))
    sizes = c.node("Shape", [x])
    dim = lambda i: c.node("Unsqueeze", [c.node("Gather", [sizes, c.fixed(i, I64)], axis=0), c.fixed([0], I64)])
    how = c.pick("merge", "split", "slice", "tile", "expand", "range", "fill", "division")
    if how == "merge":
        merged = c.node("Mul", [dim(0), dim(1)])
        target = c.node("Concat", [merged, *[dim(i) for i in range(2, len(shape))]], axis=0)
        c.node("Reshape", [x, target])
    elif how == "split":
        parts = [c.fixed([n], I64) for n in (1, -1)]
        c.node("Reshape", [x, c.node("Concat", [dim(0), *parts, dim(-1)], axis=0)])
    elif how == "slice":
        half = c.node("Div", [dim(1), c.fixed([2], I64)])
        c.node("Slice", [x, half if c.chance() else c.fixed([0], I64), c.pick(half, dim(1)), c.fixed([1], I64)])
    elif how == "tile":
        ones = c.fixed([1] * (len(shape) - 1), I64)
        c.node("Tile", [x, c.node("Concat", [dim(1), ones], axis=0)])
    elif how == "expand":
        target = c.node("Concat", [dim(2), sizes], axis=0)
        c.node("Expand", [x, target])
    elif how == "range":
        n = c.node("Gather", [sizes, c.fixed(1, I64)], axis=0)
        c.node("Range", [c.fixed(0, I64), n, c.fixed(1, I64)])
    elif how == "fill":
        value = numpy_helper.from_array(c.values([1], c.number()))
        some = c.node("Slice", [sizes, c.fixed([0], I64), c.fixed([c.int(1, 3)], I64)])
        c.node("ConstantOfShape", [some], value=value)
    else:
        n = c.pick(2, 3)
        rest = c.node("Mod", [dim(1), c.fixed([n], I64)])
        zeros = [c.fixed([0] * count, I64) for count in (len(shape) + 1, len(shape) - 2)]
        pads = c.node("Concat", [zeros[0], rest, zeros[1]], axis=0)
        c.node("Pad", [x, pads])


@form
def constant_of_shape(c):
    shape = c.shape(0, 4)
    value = numpy_helper.from_array(c.values([1], c.number())) if c.chance(0.8) else None
    c.node("ConstantOfShape", [c.fixed(shape, I64)], value=value)


@form
def range_of(c):
    dtype = c.pick(F, D, I32, I64)
    start, delta = c.int(-5, 5), c.pick(1, 1, 2, 3, -1, -2)
    end = start + delta * c.int(-1, 6) + c.pick(0, 0, 1)
    scale = c.pick(1, 0.5) if dtype in (F, D) else 1
    c.node("Range", [c.any(value * scale, dtype) for value in (start, end, delta)])


@form
def eye_like(c):
    c.any_symbols()
    c.node("EyeLike", [c.run(c.values(c.shape(2, 2), c.number()))], k=c.some(c.int(-4, 4)),
           dtype=c.some(c.pick(TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL, TensorProto.INT32)))


@form
def one_hot(c):
    c.opset = c.pick(9, 11)
    shape, depth = c.shape(0, 3), c.int(1, 6)
    low = 0 if c.opset == 9 else -depth
    indices = c.whole(shape, c.pick(I64, I32, F), low - c.pick(0, 2), depth - 1 + c.pick(0, 2))
    values = c.values([2], c.pick(F, I64, I32))
    depth = c.mostly_fixed(c.pick(depth, [depth]), c.pick(I64, I64, F, I32))
    c.node("OneHot", [c.run(indices), depth, c.any(values)], axis=c.some(c.int(-len(shape) - 1, len(shape))))
