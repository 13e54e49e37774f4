"""Images at other places: Resize, GridSample, regions of interest."""
import numpy as np

from tegula_tools.drawn.case import F, I8, I64, U8, form


@form(weight=5)
def resize(c):
    c.opset = c.pick(10, 11, 13, 18, 19)
    spatial = c.pick(1, 2, 2, 2, 3)
    rank = spatial + 2
    mode = c.pick("nearest", "linear", *(["cubic"] if spatial == 2 and c.opset > 10 else []))
    x = c.values([c.int(1, 2), c.int(1, 3), *c.ints(spatial, 2, 7)], c.pick(F, F, F, F, U8, I8))
    # Integers are cut or rounded.
    c.atol = 1e-4 if x.dtype == F or mode == "nearest" else 1
    coordinates = ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_crop_and_resize"]
    coordinates = c.pick(*coordinates, *(["half_pixel_symmetric"] if c.opset >= 19 else []))
    # Scales that are sums of a few powers of two, or places near a step of the mode fall to either side of it.
    scales = [c.pick(0.5, 2.0, 1.0, 1.5, 3.0, 0.75, 1.25, 2.5) for _ in range(spatial)]
    if c.opset > 10 and coordinates not in ("half_pixel", "asymmetric"):
        # The size of a result before it is cut to a whole number decides in ONNX, the one after in ONNX Runtime; and an
        # axis that stays as it is has no region of interest there.
        scales = [c.pick(2.0, 3.0) for _ in range(spatial)]
    # Axes of equal sizes are copied by ONNX Runtime.
    scales = [2.0 if int(size * scale) == size else scale for size, scale in zip(x.shape[2:], scales)]
    if c.opset == 10:
        return c.node("Resize", [c.run(x), c.fixed([1, 1, *scales], F)], mode=mode)
    attributes = dict(mode=mode, coordinate_transformation_mode=coordinates)
    if mode == "nearest":
        attributes["nearest_mode"] = c.some(c.pick("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"), 0.8)
    if mode == "cubic":
        attributes.update(cubic_coeff_a=c.some(-0.5), exclude_outside=c.some(c.int(0, 1)))
    axes = None
    if c.opset >= 18:
        # ONNX Runtime rounds bytes after each axis, and filters signed ones as if they were not.
        attributes["antialias"] = c.some(c.int(0, 1)) if mode != "nearest" and x.dtype == F else None
        axes = [int(axis) + 2 for axis in c.rng.permutation(spatial)] if c.chance() else None
    ordered = lambda tail: [tail[axis - 2] for axis in axes] if axes else tail
    whole = lambda tail, one: ordered(tail) if axes else [one, one, *tail]
    roi = c.fixed([], F) if c.opset == 11 else ""
    if coordinates == "tf_crop_and_resize":
        starts, ends = ([c.pick(*some) for _ in range(spatial)] for some in ((0.0, 0.13, -0.21), (1.03, 0.73, 1.39)))
        roi = c.fixed(whole(starts, 0) + whole(ends, 1), F)
        attributes["extrapolation_value"] = c.some(2.5)
    if c.chance():
        return c.node("Resize", [c.run(x), roi, c.mostly_fixed(whole(scales, 1), F)], axes=axes, **attributes)
    sizes = [int(size * scale) for size, scale in zip(x.shape[2:], scales)]
    if mode != "nearest":
        sizes = [c.pick(c.int(1, size - 1), c.int(size + 1, 12)) for size in x.shape[2:]]
    if axes and coordinates in ("half_pixel", "asymmetric") and mode != "nearest":
        attributes["keep_aspect_ratio_policy"] = c.some(c.pick("stretch", "not_larger", "not_smaller"))
    sizes = ordered(sizes) if axes else [*x.shape[:2], *sizes]
    c.node("Resize", [c.run(x), roi, c.fixed([], F) if c.opset == 11 else "", c.mostly_fixed(sizes)], axes=axes,
           **attributes)


@form
def upsample(c):
    c.opset = c.pick(7, 9)
    x = c.values([c.int(1, 2), c.int(1, 3), *c.ints(2, 2, 5)])
    scales = [1.0, 1.0, c.pick(1.0, 1.5, 2.0, 3.0), c.pick(1.0, 2.0, 2.6)]
    mode = c.some(c.pick("nearest", "linear"))
    if c.opset == 7:
        return c.node("Upsample", [c.run(x)], mode=mode, scales=scales)
    c.node("Upsample", [c.run(x), c.fixed(scales, F)], mode=mode)


@form(weight=2)
def grid_sample(c):
    c.opset = c.pick(16, 20, 22)
    spatial = 2 if c.opset == 16 else c.pick(2, 2, 3)
    n = c.int(1, 2)
    modes = ["bilinear", "nearest", "bicubic"] if c.opset == 16 else ["linear", "nearest", "cubic"]
    x = c.values([n, c.int(1, 3), *c.ints(spatial, 2, 6)])
    grid = (c.rng.uniform(-1.6, 1.6, [n, *c.ints(spatial, 1, 6), spatial])).astype(F)
    c.atol = 2e-4
    c.node("GridSample", [c.run(x), c.any(grid)], mode=c.some(c.pick(*modes), 0.8),
           padding_mode=c.some(c.pick("zeros", "border", "reflection"), 0.8), align_corners=c.some(c.int(0, 1)))


@form
def affine_grid(c):
    c.opset = 20
    spatial, n = c.pick(2, 3), c.int(1, 3)
    size = [n, c.int(1, 3), *c.ints(spatial, 2, 6)]
    c.node("AffineGrid", [c.run(c.values([n, spatial, spatial + 1])), c.fixed(size, I64)],
           align_corners=c.some(c.int(0, 1)))


@form
def roi_align(c):
    c.opset = c.pick(10, 16, 22)
    rois = c.int(1, 4)
    n, size = c.int(1, 2), c.ints(2, 4, 9)
    corners = c.rng.uniform(-2, 8, [rois, 2])
    boxes = np.concatenate([corners, corners + c.rng.uniform(0.1, 8, [rois, 2])], 1).astype(F)
    c.atol = 1e-4
    # Of the largest of its samples ONNX Runtime says itself that it is wrong.
    transformation = c.some(c.pick("half_pixel", "output_half_pixel")) if c.opset >= 16 else None
    c.node("RoiAlign", [c.run(c.values([n, c.int(1, 3), *size])), c.run(boxes), c.any(c.whole([rois], I64, 0, n - 1))],
           mode=c.some("avg"), output_height=c.some(c.int(1, 4)), output_width=c.some(c.int(1, 4)),
           sampling_ratio=c.some(c.int(0, 3)), spatial_scale=c.some(c.pick(0.5, 1.0, 2.0)),
           coordinate_transformation_mode=transformation)


@form
def non_max_suppression(c):
    batch, boxes, classes = c.int(1, 2), c.int(1, 9), c.int(1, 3)
    corners = c.rng.uniform(0, 4, [batch, boxes, 2])
    spread = np.concatenate([corners, corners + c.rng.uniform(0.5, 3, [batch, boxes, 2])], 2).astype(F)
    center = c.some(c.int(0, 1))
    scores = c.distinct([batch, classes, boxes]) / 20
    # Left out, the most of a class is none at all.
    c.node("NonMaxSuppression", [c.run(spread), c.run(scores.astype(F)), c.mostly_fixed([c.int(1, 6)]),
                                 c.maybe(np.array([c.pick(0.0, 0.3, 0.5)], F)), c.maybe(np.array([0.1], F))],
           center_point_box=center)
