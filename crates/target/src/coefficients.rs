//! Coefficients of f32 functions on every target: minimax polynomials from the constant term up, split constants.
//!
//! Printed by `tools/minimax.py`, which tells the method. Errors are relative to the function, unrounded.

/// ln 2: 16 bits, so that products with exponents are exact, and the rest.
pub const LN_2: [f32; 2] = [0.69314575, 1.4286068e-06];

/// pi / 2 in three parts, 24 bits each.
pub const PI_2: [f32; 3] = [1.5707964, -4.371139e-08, -1.7151245e-15];

/// `(exp(r) - 1 - r) / r^2`, |r| <= ln 2. Error 0.243 x 2^-24.
pub const EXP_WIDE: [f32; 6] = [0.50000036, 0.16666616, 0.04166117, 0.008335909, 0.0014106169, 0.00019644012];

/// `(exp(r) - 1 - r) / r^2`, |r| <= ln 2 / 2. Error 0.053 x 2^-24.
pub const EXP: [f32; 5] = [0.49999994, 0.16666517, 0.041668102, 0.008369191, 0.0013838845];

/// `(exp(r) - 1 - r) / r^2`, |r| <= 0.7 ln 2. Error 0.142 x 2^-24.
pub const EXPM1: [f32; 6] = [0.50000006, 0.16666698, 0.04166494, 0.008328679, 0.0014010867, 0.00021373632];

/// `(log(1 + f) - f + f^2 / 2) / f^3`, 1 + f in [sqrt(1/2), sqrt(2)]. Error 0.205 x 2^-24.
pub const LOG: [f32; 9] = [
    0.33333313,
    -0.25000167,
    0.20002224,
    -0.1665936,
    0.14209504,
    -0.12552172,
    0.1210051,
    -0.10916295,
    0.054312434,
];

/// `(tanh(x) / x - 1) / t` in t = x^2, |x| <= 0.65. Error 0.114 x 2^-24.
pub const TANH: [f32; 5] = [-0.3333326, 0.13330829, -0.053687904, 0.020469, -0.00551468];

/// `erf(x) / x - 1` in t = x^2, |x| <= 1. Error 0.024 x 2^-24.
pub const ERF: [f32; 7] =
    [0.12837917, -0.37612626, 0.11283579, -0.026853347, 0.005187162, -0.0007997853, 7.806903e-05];

/// `erfc(x)^(1/4)` in u = x - 1, 1 <= x <= 4.1. Error 0.196 x 2^-24.
pub const ERFC_ROOT: [f32; 10] = [
    0.6297695,
    -0.4154841,
    0.0042924946,
    0.05105036,
    -0.0045535965,
    -0.0040110443,
    -0.0001473364,
    0.0008373284,
    -0.00025763715,
    2.656649e-05,
];

/// `(sin(r) / r - 1) / t` in t = r^2, |r| <= pi / 4. Error 0.067 x 2^-24.
pub const SIN: [f32; 3] = [-0.16666655, 0.008332187, -0.00019517897];

/// `(cos(r) - 1 + t / 2) / t^2` in t = r^2, |r| <= pi / 4. Error 0.002 x 2^-24.
pub const COS: [f32; 3] = [0.041666646, -0.001388731, 2.4432327e-05];
