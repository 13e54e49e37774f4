#!/usr/bin/env python3
"""What ml_dtypes reads and rounds in the floats of at most 8 bits.

  small_floats.py > crates/base/tests/small_float.txt

Two lines a type, numbers as the bits of f32: `TYPE codes VALUE...`, the values of all codes in order;
`TYPE rounds NUMBER:CODE...`, numbers around the places where rounding turns.  Needs ml_dtypes."""
import ml_dtypes
import numpy as np

TYPES = {
    "f4e2m1": (ml_dtypes.float4_e2m1fn, 4),
    "f6e2m3": (ml_dtypes.float6_e2m3fn, 6),
    "f6e3m2": (ml_dtypes.float6_e3m2fn, 6),
    "f8e4m3fn": (ml_dtypes.float8_e4m3fn, 8),
    "f8e4m3fnuz": (ml_dtypes.float8_e4m3fnuz, 8),
    "f8e5m2": (ml_dtypes.float8_e5m2, 8),
    "f8e5m2fnuz": (ml_dtypes.float8_e5m2fnuz, 8),
    "f8e8m0": (ml_dtypes.float8_e8m0fnu, 8),
}


def probes(name, values):
    """Half way between neighbours and beside it, a little beyond the ends."""
    finite = np.unique(values[np.isfinite(values)].astype(np.float64))
    middles = ((finite[:-1] + finite[1:]) / 2).astype(np.float32)
    below, above = np.nextafter(middles, np.float32(-np.inf)), np.nextafter(middles, np.float32(np.inf))
    # Powers of two as ONNX has them: ties go up, beyond the ends is NaN. ml_dtypes rounds f32's denormals otherwise.
    if name == "f8e8m0":
        return np.concatenate([below[1:], above[1:]])
    ends = np.array([-1, 1], np.float32) * np.float32(finite[-1])
    beyond = np.concatenate([ends * np.float32(factor) for factor in (1.02, 1.05, 1.2, 2, 1e4)])
    special = np.array([np.inf, -np.inf, 0.0, -0.0], np.float32)
    return np.concatenate([below, middles, above, beyond, special])


def main():
    for name, (dtype, bits) in TYPES.items():
        values = np.arange(1 << bits, dtype=np.uint8).view(dtype).astype(np.float32)
        words = " ".join(f"{word:x}" for word in values.view(np.uint32))
        print(name, "codes", words)
        numbers = probes(name, values)
        codes = numbers.astype(dtype).view(np.uint8)
        pairs = zip(numbers.view(np.uint32), codes)
        print(name, "rounds", " ".join(f"{word:x}:{code:x}" for word, code in pairs))


if __name__ == "__main__":
    main()
