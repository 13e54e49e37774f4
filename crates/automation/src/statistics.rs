//! Medians, means, and how sure a median is.

use serde::Serialize;

/// A median and an interval that holds the true one with at least 90 %: the order statistics `x_(k)` and `x_(n+1-k)`
/// with the largest `k` for which a binomial variable of `n` throws is below `k` with at most 5 % (David and Nagaraja,
/// Order Statistics, 3rd edition, section 7.1). It needs no distribution and no random draws. Five values are the
/// fewest for 90 %; of fewer it is the whole range.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    pub median: f64,
    pub low: f64,
    pub high: f64,
}

impl Interval {
    pub fn of(values: &[f64]) -> Interval {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let Some(last) = sorted.len().checked_sub(1) else {
            return Interval { median: f64::NAN, low: f64::NAN, high: f64::NAN };
        };
        let below = values_outside(sorted.len());
        Interval { median: median(values.to_vec()), low: sorted[below], high: sorted[last - below] }
    }
}

/// How many of the smallest of `n` values lie below the interval.
fn values_outside(n: usize) -> usize {
    // The chance of exactly `k` heads, in logarithms: 0.5^n is no number for large n.
    let (mut log_chance, mut sum) = (n as f64 * 0.5f64.ln(), 0.0);
    for k in 0..n / 2 {
        sum += log_chance.exp();
        if sum > 0.05 {
            return k.saturating_sub(1);
        }
        log_chance += ((n - k) as f64 / (k + 1) as f64).ln();
    }
    0
}

pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => values[n / 2],
        n => (values[n / 2 - 1] + values[n / 2]) / 2.0,
    }
}

/// Of repeats on a machine that others use too: what they take of it is not what is measured.
pub fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

pub fn geometric_mean(values: &[f64]) -> f64 {
    (values.iter().map(|value| value.ln()).sum::<f64>() / values.len() as f64).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!((geometric_mean(&[0.5, 2.0]) - 1.0).abs() < 1e-12);
    }

    /// Against printed tables of the sign test's interval: at 90 %, k is 1 of 5, 2 of 8, 6 of 20, 11 of 30, 19 of 50.
    #[test]
    fn ranks_of_the_interval_are_those_of_tables() {
        for (n, k) in [(4, 1), (5, 1), (8, 2), (20, 6), (30, 11), (50, 19)] {
            let values: Vec<f64> = (1..=n).map(f64::from).collect();
            let interval = Interval::of(&values);
            assert_eq!((interval.low, interval.high), (f64::from(k), f64::from(n + 1 - k)), "{n}");
        }
    }
}
