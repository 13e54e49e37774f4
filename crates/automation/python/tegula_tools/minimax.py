#!/usr/bin/env python3
"""Minimax polynomials of the targets' f32 functions (crates/target/src/coefficients.rs).

Prints that file. Needs mpmath (pip install mpmath).

Method: for f(x) ~ sum c_k x^k with weight w(x), the exchange algorithm of Remez on a dense Chebyshev grid minimises
max |w (p - f)|. Coefficients are then rounded to f32 one after the other, from the constant term up; after each
rounding the rest is fitted again, so that later coefficients absorb what earlier ones lost. The error printed is
that of the rounded polynomial, in units of 2^-24 (half an ulp of 1).

Tables of polynomials on pieces: each is fitted by weighted least squares at Chebyshev nodes instead,
which comes near to the minimax polynomial on so short a piece, and rounded in the same way.
"""
import struct

from mpmath import atanh, cos, erf, erfc, exp, expm1, fabs, log, log1p, ldexp, frexp, lu_solve, matrix, mp, mpf, nint, pi, sin, sqrt, tanh

mp.prec = 160
GRID = 600


def f32(value):
    """The nearest f32, exactly."""
    return mpf(struct.unpack("f", struct.pack("f", float(value)))[0])


def f64(value):
    """The nearest f64, exactly."""
    return mpf(float(value))


def literal(value):
    """The shortest decimal that reads back to the same f32."""
    for digits in range(1, 12):
        text = f"{float(value):.{digits}g}"
        if f32(mpf(text)) == f32(value):
            return text if "." in text or "e" in text else text + ".0"
    raise ValueError(value)


def evaluate(coefficients, x):
    total = mpf(0)
    for c in reversed(coefficients):
        total = total * x + c
    return total


def remez(xs, fs, ws, powers):
    """Coefficients of x^p, p in powers, minimising max |w (sum c x^p - f)| over the grid."""
    n = len(powers) + 1
    reference = [round(i * (len(xs) - 1) / (n - 1)) for i in range(n)]
    for _ in range(60):
        a = matrix(n, n)
        b = matrix(n, 1)
        for row, i in enumerate(reference):
            for column, power in enumerate(powers):
                a[row, column] = ws[i] * xs[i] ** power
            a[row, n - 1] = mpf(-1) ** row
            b[row] = ws[i] * fs[i]
        solution = lu_solve(a, b)
        coefficients = [solution[k] for k in range(n - 1)]
        errors = [
            ws[i] * (sum(c * xs[i] ** p for c, p in zip(coefficients, powers)) - fs[i]) for i in range(len(xs))
        ]
        # One extremum a run of equal signs; drop the smallest ends while there are too many.
        runs = []
        for i, error in enumerate(errors):
            if runs and (errors[runs[-1]] > 0) == (error > 0):
                if fabs(error) > fabs(errors[runs[-1]]):
                    runs[-1] = i
            else:
                runs.append(i)
        while len(runs) > n:
            runs.pop(0 if fabs(errors[runs[0]]) < fabs(errors[runs[-1]]) else -1)
        if len(runs) < n or runs == reference:
            break
        reference = runs
    return coefficients


def fit(f, w, lo, hi, degree, nearest=f32):
    """Rounded coefficients of a polynomial of this degree on [lo, hi], with its weighted error."""
    lo, hi = mpf(lo), mpf(hi)
    xs = [(lo + hi) / 2 - (hi - lo) / 2 * cos(pi * i / (GRID - 1)) for i in range(GRID)]
    fs, ws = [f(x) for x in xs], [fabs(w(x)) for x in xs]
    fixed = []
    for k in range(degree + 1):
        rest = [y - evaluate(fixed, x) for x, y in zip(xs, fs)]
        fixed.append(nearest(remez(xs, rest, ws, list(range(k, degree + 1)))[0]))
    error = max(fabs(w * (evaluate(fixed, x) - y)) for x, y, w in zip(xs, fs, ws))
    return fixed, error


def near_zero(f, limit):
    """f with its value at 0 given: the quotients below are 0/0 there."""
    return lambda x: limit if fabs(x) < mpf(10) ** -12 else f(x)


def least_squares(xs, fs, ws, powers):
    """Coefficients of x^p, p in powers, minimising the sum of (w (sum c x^p - f))^2."""
    n = len(powers)
    a, b = matrix(n, n), matrix(n, 1)
    for x, f, w in zip(xs, fs, ws):
        row = [w * x**p for p in powers]
        for i in range(n):
            b[i] += row[i] * w * f
            for j in range(n):
                a[i, j] += row[i] * row[j]
    return list(lu_solve(a, b))


def fit_pieces(f, pieces, degree):
    """Polynomials for an odd f on pieces (middle, lo, hi), in x - middle, and their largest relative error. The first
    piece's middle is 0, and its polynomial is of f(x) - x and has no constant term."""
    nodes = [cos(pi * (k + mpf(1) / 2) / 100) for k in range(100)]
    polynomials, error = [], mpf(0)
    for i, (middle, lo, hi) in enumerate(pieces):
        # The last bit of a quotient decides which piece a number next to two of them falls to.
        lo, hi = [middle + (x - middle) * mpf("1.0001") for x in (lo, hi)]
        xs = [(lo + hi) / 2 + (hi - lo) / 2 * node - middle for node in nodes]
        fs = [f(middle + x) - (0 if i > 0 else x) for x in xs]
        ws = [1 / f(middle + x) for x in xs]
        fixed = [] if i > 0 else [mpf(0)]
        for k in range(len(fixed), degree + 1):
            rest = [y - evaluate(fixed, x) for x, y in zip(xs, fs)]
            fixed.append(f32(least_squares(xs, rest, ws, list(range(k, degree + 1)))[0]))
        polynomials.append(fixed)
        error = max([error] + [fabs(w * (evaluate(fixed, x) - y)) for x, y, w in zip(xs, fs, ws)])
    return polynomials, error


ROWS = [
    (
        "EXP",
        "`(exp(r) - 1 - r) / r^2`, |r| <= ln 2 / 2.",
        near_zero(lambda r: (expm1(r) - r) / r**2, mpf(1) / 2),
        lambda r: r**2 / exp(r),
        -log(2) / 2 * 1.0001,
        log(2) / 2 * 1.0001,
        4,
    ),
    (
        "EXP_ABOVE",
        "`(exp(r) - 1 - r) / r^2`, 0 <= r <= ln 2.",
        near_zero(lambda r: (expm1(r) - r) / r**2, mpf(1) / 2),
        lambda r: r**2 / exp(r),
        -0.0002,
        log(2) * 1.0003,
        4,
    ),
    (
        "EXP2_ABOVE",
        "`(2^f - 1) / f`, 0 <= f <= 1.",
        near_zero(lambda f: (mpf(2) ** f - 1) / f, log(2)),
        lambda f: f / mpf(2) ** f,
        0,
        1,
        5,
    ),
    (
        "EXPM1",
        "`(exp(r) - 1 - r) / r^2`, |r| <= 0.7 ln 2.",
        near_zero(lambda r: (expm1(r) - r) / r**2, mpf(1) / 2),
        near_zero(lambda r: r**2 / expm1(r), mpf(0)),
        -log(2) * 0.701,
        log(2) * 0.701,
        5,
    ),
    (
        "LOG",
        "`(log(1 + f) - f + f^2 / 2) / f^3`, 1 + f in [sqrt(1/2), sqrt(2)].",
        near_zero(lambda f: (log1p(f) - f + f**2 / 2) / f**3, mpf(1) / 3),
        near_zero(lambda f: f**3 / log1p(f), mpf(0)),
        sqrt(mpf(1) / 2) - 1,
        sqrt(mpf(2)) - 1,
        8,
    ),
    (
        "TANH",
        "`(tanh(x) / x - 1) / t` in t = x^2, |x| <= 0.65.",
        near_zero(lambda t: (tanh(sqrt(t)) / sqrt(t) - 1) / t, -mpf(1) / 3),
        near_zero(lambda t: t / (tanh(sqrt(t)) / sqrt(t)), mpf(0)),
        0,
        mpf("0.65") ** 2,
        4,
    ),
    (
        "ERF",
        "`erf(x) / x - 1` in t = x^2, |x| <= 1.",
        near_zero(lambda t: erf(sqrt(t)) / sqrt(t) - 1, 2 / sqrt(pi) - 1),
        near_zero(lambda t: sqrt(t) / erf(sqrt(t)), sqrt(pi) / 2),
        0,
        1,
        6,
    ),
    (
        "ERFC_ROOT",
        "`erfc(x)^(1/4)` in u = x - 1, 1 <= x <= 4.1.",
        lambda u: erfc(u + 1) ** mpf("0.25"),
        lambda u: 4 * erfc(u + 1) ** mpf("0.75") / erf(u + 1),
        0,
        mpf("3.1"),
        9,
    ),
    (
        "SIN",
        "`(sin(r) / r - 1) / t` in t = r^2, |r| <= pi / 4.",
        near_zero(lambda t: (sin(sqrt(t)) / sqrt(t) - 1) / t, -mpf(1) / 6),
        near_zero(lambda t: t / (sin(sqrt(t)) / sqrt(t)), mpf(0)),
        0,
        (pi / 4 * 1.001) ** 2,
        2,
    ),
    (
        "COS",
        "`(cos(r) - 1 + t / 2) / t^2` in t = r^2, |r| <= pi / 4.",
        near_zero(lambda t: (cos(sqrt(t)) - 1 + t / 2) / t**2, mpf(1) / 24),
        lambda t: t**2 / cos(sqrt(t)),
        0,
        (pi / 4 * 1.001) ** 2,
        2,
    ),
]

# What `f64` lanes compute: results are rounded to f32 once, so their errors are far below its ulp.
WIDE_ROWS = [
    (
        "LOG2_ATANH",
        "`2 atanh(s) / (s ln 2)` in z = s^2, `log2(m) / s` where s = (m - 1) / (m + 1), m in [sqrt(1/2), sqrt(2)].",
        near_zero(lambda z: 2 * atanh(sqrt(z)) / (sqrt(z) * log(2)), 2 / log(2)),
        near_zero(lambda z: sqrt(z) * log(2) / (2 * atanh(sqrt(z))), log(2) / 2),
        0,
        ((sqrt(mpf(2)) - 1) / (sqrt(mpf(2)) + 1)) ** 2 * 1.0001,
        4,
    ),
    ("EXP2", "`2^r`, |r| <= 1/2.", lambda r: mpf(2) ** r, lambda r: mpf(2) ** -r, mpf(-1) / 2, mpf(1) / 2, 6),
]


def parts(value, bits):
    """The value as a sum of f32 numbers, part k with at most bits[k] significant bits."""
    result, rest = [], mpf(value)
    for n in bits:
        mantissa, exponent = frexp(rest)
        part = f32(ldexp(nint(ldexp(mantissa, n)), exponent - n))
        result.append(part)
        rest -= part
    return result


CONSTANTS = [
    ("LN_2", "ln 2: 16 bits, so that products with exponents are exact, and the rest.", log(2), [16, 24]),
    ("PI_2", "pi / 2 in three parts, 24 bits each.", pi / 2, [24, 24, 24]),
]


ERF_STEP = mpf(65) / 256
ERF_BOUNDS = [mpf(0)] + [ERF_STEP * (2 * i + 1) / 2 for i in range(16)]
ERF_SPANS = [(i * ERF_STEP, ERF_BOUNDS[i], ERF_BOUNDS[i + 1]) for i in range(16)]

# Four pieces to each doubling of x + 1: their numbers are bits of that sum, counted from the exponent of 1, which ends in 11.
TANH_BOUNDS = [mpf(2) ** (i // 4) * (1 + mpf(i % 4) / 4) - 1 for i in range(15)]
TANH_SPANS = [((lo + hi) / 2 if lo > 0 else mpf(0), lo, hi) for lo, hi in zip(TANH_BOUNDS, TANH_BOUNDS[1:])]


def rotated(row):
    """What belongs to piece i at place i + 12, modulo 16."""
    row = list(row)
    row += [mpf(0)] * (16 - len(row))
    return row[4:] + row[:4]


def print_table(row):
    print(f"    [{', '.join(literal(c) for c in row)}],")


def print_pieces():
    polynomials, error = fit_pieces(erf, ERF_SPANS, 5)
    print("\n/// The distance of pieces of `erf`, of which 15.5 reach to where it rounds to 1.")
    print(f"pub const ERF_STEP: f32 = {literal(ERF_STEP)};")
    print("\n/// `erf(x)` in d = x - i step, |d| <= step / 2, for i = 0 to 15: the coefficients of one power of d in each row.")
    print(f"/// For i = 0 `erf(x) - x`. Error {float(error * 2**24):.3f} x 2^-24.")
    print("pub const ERF_PIECES: [[f32; 16]; 6] = [")
    for row in zip(*polynomials):
        print_table(row)
    print("];")
    polynomials, error = fit_pieces(tanh, TANH_SPANS, 6)
    print("\n/// Middles of the pieces of `tanh`: bits 21 to 24 of x + 1 are a piece's place. 0 is that of the first.")
    print("pub const TANH_MIDDLES: [f32; 16] =")
    print(f"    [{', '.join(literal(c) for c in rotated(middle for middle, _, _ in TANH_SPANS))}];")
    print("\n/// `tanh(x)` in d = x - middle: the coefficients of one power of d in each row; of the first piece `tanh(x) - x`.")
    print(f"/// Error {float(error * 2**24):.3f} x 2^-24.")
    print("pub const TANH_PIECES: [[f32; 16]; 7] = [")
    for row in zip(*polynomials):
        print_table(rotated(row))
    print("];")


def main():
    print("//! Coefficients of f32 functions on every target: minimax polynomials from the constant term up, split constants.")
    print("//!")
    print("//! Printed by `tegula_tools/minimax.py`, which tells the method. Errors are relative to the function, unrounded.")
    for name, doc, value, bits in CONSTANTS:
        print(f"\n/// {doc}")
        print(f"pub const {name}: [f32; {len(bits)}] = [{', '.join(literal(p) for p in parts(value, bits))}];")
    for name, doc, f, w, lo, hi, degree in ROWS:
        fixed, error = fit(f, w, lo, hi, degree)
        print(f"\n/// {doc} Error {float(error * 2**24):.3f} x 2^-24.")
        print(f"pub const {name}: [f32; {degree + 1}] = [")
        for c in fixed:
            print(f"    {literal(c)},")
        print("];")
    for name, doc, f, w, lo, hi, degree in WIDE_ROWS:
        fixed, error = fit(f, w, lo, hi, degree, f64)
        print(f"\n/// {doc} Error {float(error * 2**24):.6f} x 2^-24.")
        print(f"pub const {name}: [f64; {degree + 1}] = [")
        for c in fixed:
            print(f"    {float(c)!r},")
        print("];")
    print_pieces()


if __name__ == "__main__":
    main()
