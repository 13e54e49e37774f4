"""What slides over images: convolutions, pooling and their inverses."""
import numpy as np

from tegula_tools.drawn.case import D, F, H, I8, I64, U8, form


def windows(c, spatial, dilated=True, least=1, most=4):
    """(kernel, attributes) of something that slides over `spatial` axes."""
    kernel = c.ints(spatial, least, most)
    attributes = dict(strides=c.some(c.ints(spatial, 1, 3)))
    attributes["dilations"] = c.some(c.ints(spatial, 1, 3), 0.4) if dilated else None
    how = c.pick("none", "pads", "pads", "SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET")
    if how in ("pads", "NOTSET"):
        # Not as wide as the kernel: a window that lies in the padding alone has no answer all agree on.
        attributes["pads"] = [c.int(0, size - 1) for size in kernel * 2]
    if how.isupper():
        attributes["auto_pad"] = how
    if how.startswith("SAME"):
        # ONNX Runtime counts a window without its dilations there, and where one is smaller than the stride each op
        # has its own way to leave elements out.
        attributes["dilations"] = None
        kernel = [max(pair) for pair in zip(kernel, attributes["strides"] or kernel)]
    return kernel, attributes


def reach(kernel, attributes):
    return [(size - 1) * dilation + 1 for size, dilation in zip(kernel, attributes["dilations"] or [1] * len(kernel))]


def pooled(c, kernel, attributes):
    """The shape of what is pooled: no axis is smaller than the window.  The specification's size for `VALID` does not
    heed `ceil_mode`; ONNX Runtime's does."""
    if attributes.get("auto_pad") == "VALID":
        attributes["ceil_mode"] = None
    return [c.int(1, 3), c.pick(1, 2, 3, 16), *[c.int(size, size + 6) for size in reach(kernel, attributes)]]


@form(weight=3)
def conv(c):
    c.opset = c.pick(1, 11, 22)
    spatial, group = c.pick(1, 2, 2, 2, 3), c.pick(1, 1, 1, 2, 3)
    per_in, per_out = c.pick(1, 1, 2, 3, 8, 16), c.pick(1, 2, 3, 5, 16)
    if c.chance(0.2):
        per_in, per_out, group = 1, c.pick(1, 1, 2), c.pick(4, 8, 17)
    kernel, attributes = windows(c, spatial)
    x = c.values([c.pick(1, 1, 2, 3), per_in * group, *[c.int(3, 10) for _ in kernel]])
    w = c.values([per_out * group, per_in, *kernel])
    c.atol = 1e-4
    c.node("Conv", [c.run(x), c.any(w), c.maybe(c.values([per_out * group]))], group=c.some(group) or group,
           kernel_shape=c.some(kernel), **attributes)


@form(weight=2)
def conv_transpose(c):
    c.opset = c.pick(1, 11, 22)
    spatial, group = c.pick(1, 2, 2, 3), c.pick(1, 1, 2, 3)
    per_in, per_out = c.pick(1, 2, 3, 8), c.pick(1, 2, 3, 8)
    kernel, attributes = windows(c, spatial)
    strides = attributes["strides"] or [1] * spatial
    if c.chance(0.3):
        attributes["output_padding"] = [c.int(0, stride - 1) for stride in strides]
    x = c.values([c.pick(1, 2), per_in * group, *[c.int(1, 6) for _ in kernel]])
    if c.chance(0.15):
        attributes.pop("pads", None)
        attributes["output_shape"] = [size * stride + c.int(0, 1) for size, stride in zip(x.shape[2:], strides)]
    w = c.values([per_in * group, per_out, *kernel])
    c.atol = 1e-4
    c.node("ConvTranspose", [c.run(x), c.any(w), c.maybe(c.values([per_out * group]))], group=group,
           kernel_shape=c.some(kernel), **attributes)


@form(weight=3)
def max_pool(c):
    c.any_symbols()
    c.opset = c.pick(1, 8, 10, 11, 12, 22)
    kernel, attributes = windows(c, c.pick(1, 2, 2, 3), dilated=c.opset >= 10)
    dtype = c.pick(F, F, F, U8, I8, D, H) if c.opset >= 12 else F
    results = c.pick(1, 2) if c.opset >= 8 else 1
    if c.opset >= 10:
        attributes["ceil_mode"] = c.some(c.int(0, 1), 0.7)
    if c.opset >= 8:
        attributes["storage_order"] = c.some(c.int(0, 1), 0.3)
    shape = pooled(c, kernel, attributes)
    x = c.distinct(shape, dtype) if results > 1 else c.values(shape, dtype, -128, 255)
    c.node("MaxPool", [c.run(x)], results, kernel_shape=kernel, **attributes)


@form(weight=2)
def average_pool(c):
    c.any_symbols()
    c.opset = c.pick(1, 7, 10, 11, 19, 22)
    kernel, attributes = windows(c, c.pick(1, 2, 2, 3), dilated=c.opset >= 19)
    if c.opset >= 7:
        attributes["count_include_pad"] = c.some(c.int(0, 1), 0.7)
    if c.opset >= 10:
        attributes["ceil_mode"] = c.some(c.int(0, 1), 0.7)
    x = c.values(pooled(c, kernel, attributes))
    c.node("AveragePool", [c.run(x)], kernel_shape=kernel, **attributes)


@form
def lp_pool(c):
    c.any_symbols()
    c.opset = c.pick(2, 11, 18, 22)
    kernel, attributes = windows(c, c.pick(1, 2, 2, 3), dilated=c.opset >= 18)
    if c.opset >= 18:
        attributes["ceil_mode"] = c.some(c.int(0, 1), 0.7)
    x = c.values(pooled(c, kernel, attributes))
    c.node("LpPool", [c.run(x)], kernel_shape=kernel, p=c.some(c.int(1, 3)), **attributes)


@form
def global_pool(c):
    op = c.pick("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
    p = c.some(c.int(1, 3)) if op == "GlobalLpPool" else None
    c.node(op, [c.run(c.values([*c.full(2, 2), *c.full(1, 3)]))], p=p)


@form
def max_unpool(c):
    kernel, attributes = windows(c, c.pick(1, 2), dilated=False, least=2, most=3)
    attributes["strides"] = kernel
    attributes.pop("auto_pad", None)
    x = c.run(c.distinct([c.int(1, 2), c.int(1, 3), *[c.int(4, 8) for _ in kernel]]))
    y, indices = c.node("MaxPool", [x], 2, kernel_shape=kernel, **attributes)
    c.node("MaxUnpool", [y, indices], kernel_shape=kernel, **attributes)


@form
def col2im(c):
    c.opset = 18
    spatial = c.pick(1, 2, 2)
    image, block = c.ints(spatial, 5, 9), c.ints(spatial, 1, 3)
    # Of one axis ONNX Runtime loses elements where it is dilated.
    strides, dilations = c.some(c.ints(spatial, 1, 2)), c.some(c.ints(spatial, 1, 2)) if spatial > 1 else None
    pads = c.some(c.ints(2 * spatial, 0, 2))
    blocks = 1
    for i in range(spatial):
        room = image[i] + ((pads[i] + pads[i + spatial]) if pads else 0)
        reach = (dilations[i] if dilations else 1) * (block[i] - 1) + 1
        blocks *= (room - reach) // (strides[i] if strides else 1) + 1
    x = c.values([c.int(1, 2), c.int(1, 3) * int(np.prod(block)), blocks])
    c.node("Col2Im", [c.run(x), c.fixed(image, I64), c.fixed(block, I64)], strides=strides, dilations=dilations,
           pads=pads)


@form
def deform_conv(c):
    c.opset = c.pick(19, 22)
    group, offset_group = c.pick(1, 1, 2), c.pick(1, 1, 2)
    kernel, attributes = c.ints(2, 1, 3), dict(strides=c.some(c.ints(2, 1, 2)), dilations=c.some(c.ints(2, 1, 2)),
                                               pads=c.some(c.ints(4, 0, 2)))
    channels, size = 2 * c.int(1, 2), c.ints(2, 4, 7)
    dilations, strides = attributes["dilations"] or [1, 1], attributes["strides"] or [1, 1]
    pads = attributes["pads"] or [0] * 4
    out = [(size[i] + pads[i] + pads[i + 2] - dilations[i] * (kernel[i] - 1) - 1) // strides[i] + 1 for i in range(2)]
    n, taps = c.int(1, 2), kernel[0] * kernel[1]
    c.atol = 1e-4
    weights = c.values([2 * group, channels // group, *kernel])
    c.node("DeformConv", [c.run(c.values([n, channels, *size])), c.any(weights),
                          c.run(c.values([n, offset_group * taps * 2, *out])), c.maybe(c.values([2 * group])),
                          c.maybe(c.values([n, offset_group * taps, *out]))],
           group=group, offset_group=offset_group, **attributes)
