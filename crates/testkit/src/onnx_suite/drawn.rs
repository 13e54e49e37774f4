//! Cases whose results are drawn at random. ONNX fixes no generator and says of its own files that implementations differ
//! even where a seed is given; so such a case is judged by type, shape and what every draw obeys.

use std::collections::BTreeMap;

use tegula_base::HostTensor;

/// What holds of each draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Law {
    /// Every element is 0 or 1, and about as many are 1 as input 0, the probabilities, says.
    Coin,
    /// Every element is 0, or that of input 0 over `1 - ratio`; a second output says which. About as many are 0 as `ratio`
    /// says.
    Dropout,
}

/// The law of a case; none where its results are determined.
pub fn law_of(case: &str) -> Option<Law> {
    match case {
        _ if case.starts_with("test_bernoulli") => Some(Law::Coin),
        // Nothing is left out with a ratio of 0.
        _ if case.contains("zero_ratio") => None,
        _ if case.starts_with("test_training_dropout") => Some(Law::Dropout),
        _ => None,
    }
}

impl Law {
    /// Errors: in words, what of the outputs no draw can be. `expected` gives types and shapes, in the graph's order.
    pub fn check(
        self,
        inputs: &[(String, HostTensor)],
        outputs: &BTreeMap<String, HostTensor>,
        expected: &[(String, HostTensor)],
    ) -> Result<(), String> {
        let mut drawn = Vec::new();
        for (name, expected) in expected {
            let actual = outputs.get(name).ok_or_else(|| format!("output `{name}` is missing"))?;
            if actual.dtype != expected.dtype || actual.shape != expected.shape {
                return Err(format!(
                    "output `{name}` is {}{:?}, not {}{:?}",
                    actual.dtype, actual.shape, expected.dtype, expected.shape
                ));
            }
            drawn.push(actual.to_f64());
        }
        match (self, &drawn[..]) {
            (Law::Coin, [sides]) => match sides.iter().find(|side| !matches!(**side, 0.0 | 1.0)) {
                Some(side) => Err(format!("{side} is neither 0 nor 1")),
                None => {
                    let (_, chances) = inputs.first().ok_or("input 0 is missing")?;
                    is_likely(sides.iter().filter(|side| **side == 1.0).count(), &chances.to_f64())
                }
            },
            (Law::Dropout, [kept, masks @ ..]) => is_dropout(inputs, kept, masks.first().map(Vec::as_slice)),
            _ => Err("there are other outputs than the law speaks of".to_string()),
        }
    }
}

/// Whether so many of events with these chances may have come to pass: within three standard deviations, and a half.
fn is_likely(seen: usize, chances: &[f64]) -> Result<(), String> {
    let mean: f64 = chances.iter().sum();
    let deviation = chances.iter().map(|p| p * (1.0 - p)).sum::<f64>().sqrt();
    match (seen as f64 - mean).abs() <= 3.0 * deviation + 0.5 {
        true => Ok(()),
        false => Err(format!("{seen} of {} came to pass, {mean:.1} +- {deviation:.1} should", chances.len())),
    }
}

fn is_dropout(inputs: &[(String, HostTensor)], kept: &[f64], mask: Option<&[f64]>) -> Result<(), String> {
    let values = |i: usize| inputs.get(i).map(|(_, tensor)| tensor.to_f64());
    let x = values(0).ok_or("input 0 is missing")?;
    // The ratio is an input of rank 0; where the case has none, it is a half.
    let ratio =
        inputs.get(1).filter(|(_, ratio)| ratio.dtype.is_float()).map_or(0.5, |(_, ratio)| ratio.to_f64()[0]);
    let mut stayed = 0;
    for (i, (kept, x)) in kept.iter().zip(&x).enumerate() {
        let whole = x / (1.0 - ratio);
        let stays = (kept - whole).abs() <= 1e-6 * whole.abs();
        let says = mask.map_or(stays, |mask| mask[i] != 0.0);
        if !(stays && says || *kept == 0.0 && (!says || whole == 0.0)) {
            return Err(format!("element {i} is {kept}, which is neither 0 nor {whole} as the mask says"));
        }
        stayed += usize::from(says);
    }
    is_likely(stayed, &vec![1.0 - ratio; x.len()])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floats(name: &str, elements: &[f32]) -> (String, HostTensor) {
        (name.to_string(), HostTensor::from_elements(&[elements.len()], elements))
    }

    #[test]
    fn draws_that_cannot_be_are_named() {
        let chances = [floats("p", &[0.5; 16])];
        let half = |i: usize| (i % 2) as f32;
        let coin = |sides: &[f32]| {
            let expected = [floats("y", &[0.0; 16])];
            Law::Coin.check(&chances, &BTreeMap::from([floats("y", sides)]), &expected)
        };
        assert_eq!(coin(&std::array::from_fn::<f32, 16, _>(half)), Ok(()));
        assert!(coin(&[0.5; 16]).unwrap_err().contains("neither"));
        assert!(coin(&[0.0]).unwrap_err().contains("[1]"));
        assert!(coin(&[0.0; 16]).is_err() && coin(&[1.0; 16]).is_err());
        let inputs = [floats("x", &[3.0; 16])];
        let dropout = |kept: &[f32]| {
            let expected = [floats("y", &[0.0; 16])];
            Law::Dropout.check(&inputs, &BTreeMap::from([floats("y", kept)]), &expected)
        };
        assert_eq!(dropout(&std::array::from_fn::<f32, 16, _>(|i| 6.0 * half(i))), Ok(()));
        assert!(dropout(&[3.0; 16]).is_err());
        assert!(dropout(&[0.0; 16]).is_err() && dropout(&[6.0; 16]).is_err());
    }
}
