#!/usr/bin/env python3
"""Models that resize one axis in every mode, and what they compute by rational arithmetic.

  resize_cases.py DIR

DIR/<case>/model.onnx, DIR/<case>/x.npy, and of each output `<name>.npy`, the result in f64, and `<name>_slack.npy`, how far one
in f32 may be from it: 0 of the nearest element.  DIR/cases.json lists {name, outputs}.  Sizes are drawn up to 512, scales are
the f32 numbers that they are.  Nothing here is Tegula's or ONNX Runtime's.  Needs numpy and onnx."""
import json
import os
import random
import sys
from fractions import Fraction
from math import ceil, floor

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

UNIT = 2.0 ** -24  # of f32, half a step
CASES = 300
OPSET = 19
TRANSFORMS = ["half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric",
              "tf_crop_and_resize"]
HALF = Fraction(1, 2)
NEAREST = {
    "round_prefer_floor": lambda c: ceil(c - HALF),
    "round_prefer_ceil": lambda c: floor(c + HALF),
    "floor": floor,
    "ceil": ceil,
}


def coordinate(transform, x, n, m, scale, region):
    """The formulas of ONNX's Resize."""
    centre = (x + HALF) / scale - HALF
    if transform == "half_pixel":
        return centre
    if transform == "half_pixel_symmetric":
        return Fraction(n, 2) * (1 - m / (n * scale)) + centre
    if transform == "pytorch_half_pixel":
        return centre if m > 1 else Fraction(0)
    if transform == "align_corners":
        return Fraction(x * (n - 1), m - 1) if m > 1 else Fraction(0)
    if transform == "asymmetric":
        return x / scale
    start, end = region
    return start * (n - 1) + x * (end - start) * (n - 1) / (m - 1) if m > 1 else HALF * (start + end) * (n - 1)


def cubic(distance, a):
    d = abs(distance)
    if d <= 1:
        return (a + 2) * d ** 3 - (a + 3) * d ** 2 + 1
    return a * d ** 3 - 5 * a * d ** 2 + 8 * a * d - 4 * a if d < 2 else 0.0


def weighted(x, c, taps, weight, inside_only):
    """The sum of weighted elements about a coordinate, and of their sizes."""
    n, low = len(x), floor(c)
    places, behind = [low + tap for tap in taps], float(c - low)
    weights = [weight(tap - behind) for tap in taps]
    if inside_only:
        weights = [w if 0 <= place < n else 0.0 for w, place in zip(weights, places)]
        total = sum(weights)
        weights = [w / total for w in weights]
    terms = [w * x[min(max(place, 0), n - 1)] for w, place in zip(weights, places)]
    return sum(terms), sum(map(abs, terms))


def main(folder):
    rng = random.Random(20)
    listed = []
    for number in range(CASES):
        transform = TRANSFORMS[number % len(TRANSFORMS)]
        n, m = (int(2 ** rng.uniform(0, 9)) for _ in range(2))
        by_scale = rng.random() < 0.5
        if by_scale:
            factor = np.float32(rng.choice([m / n, 1.5, 0.6, 2.5, round(rng.uniform(0.2, 3), 2)]))
            scale, m = Fraction(float(factor)), floor(np.float32(n) * factor)
            if m == 0 or m > 1024:
                factor, scale, m = np.float32(1.5), Fraction(3, 2), floor(1.5 * n)
        else:
            scale = Fraction(m, n)
        start, end = (np.float32(rng.uniform(*span)) for span in ((-0.2, 0.5), (0.5, 1.2)))
        region = (Fraction(float(start)), Fraction(float(end)))
        a, beside = np.float32(rng.choice([-0.75, -0.5])), np.float32(7.5)
        inside_only = rng.random() < 0.5
        x = np.random.default_rng(number).uniform(-8, 8, n).astype(np.float32)
        own = [float(v) for v in x]
        constants = [numpy_helper.from_array(np.array([start, end], np.float32), "roi")]
        if by_scale:
            constants.append(numpy_helper.from_array(np.array([factor], np.float32), "scales"))
            operands = ["x", "roi", "scales"]
        else:
            constants.append(numpy_helper.from_array(np.array([m], np.int64), "sizes"))
            operands = ["x", "roi", "", "sizes"]
        nodes, results = [], {}
        coordinates = [coordinate(transform, place, n, m, scale, region) for place in range(m)]

        def add(name, compute, **attributes):
            nodes.append(helper.make_node("Resize", operands, [name], coordinate_transformation_mode=transform,
                                          extrapolation_value=float(beside), **attributes))
            rows = []
            for c in coordinates:
                outside = transform == "tf_crop_and_resize" and not 0 <= c <= n - 1
                rows.append((float(beside), 0.0) if outside else compute(c))
            results[name] = tuple(np.array(column, np.float64) for column in zip(*rows))

        for mode, nearest in NEAREST.items():
            add(mode, lambda c: (own[min(max(nearest(c), 0), n - 1)], 0.0), mode="nearest", nearest_mode=mode)
        # Each weight, each product and each sum rounds once; weights that cancel are as large as those of the filter.
        room = max(map(abs, own)) * 8 * UNIT

        def interpolated(taps, weight):
            def compute(c):
                value, size = weighted(own, c, taps, weight, inside_only)
                return value, (len(taps) + 3) * UNIT * size + room
            return compute

        exclude = dict(exclude_outside=1) if inside_only else {}
        add("linear", interpolated(range(2), lambda d: max(1 - abs(d), 0.0)), mode="linear", **exclude)
        add("cubic", interpolated(range(-1, 3), lambda d: cubic(d, float(a))), mode="cubic",
            cubic_coeff_a=float(a), **exclude)

        name = f"{transform}_{n}_{m}_{'scale' if by_scale else 'size'}_{number}"
        where = os.path.join(folder, name)
        os.makedirs(where, exist_ok=True)
        info = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [n])]
        out = [helper.make_tensor_value_info(output, TensorProto.FLOAT, [m]) for output in results]
        graph = helper.make_graph(nodes, "resize", info, out, constants)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10),
                  os.path.join(where, "model.onnx"))
        np.save(os.path.join(where, "x.npy"), x)
        for output, (value, slack) in results.items():
            np.save(os.path.join(where, f"{output}.npy"), value)
            np.save(os.path.join(where, f"{output}_slack.npy"), slack)
        listed.append(dict(name=name, outputs=list(results)))
    with open(os.path.join(folder, "cases.json"), "w") as file:
        json.dump(listed, file, indent=1)


if __name__ == "__main__":
    main(sys.argv[1])
