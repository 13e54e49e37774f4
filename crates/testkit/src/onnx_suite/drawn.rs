//! Cases whose results are drawn at random. ONNX fixes no generator and says of its own files that implementations differ
//! even where a seed is given; so such a case is judged by type, shape and what every draw obeys.

use std::collections::BTreeMap;

use tegula_base::HostTensor;

/// What holds of each draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Law {
    /// Every element is 0 or 1.
    Coin,
    /// Every element is 0, or that of input 0 over `1 - ratio`; a second output says which.
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
                None => Ok(()),
            },
            (Law::Dropout, [kept, masks @ ..]) => is_dropout(inputs, kept, masks.first().map(Vec::as_slice)),
            _ => Err("there are other outputs than the law speaks of".to_string()),
        }
    }
}

fn is_dropout(inputs: &[(String, HostTensor)], kept: &[f64], mask: Option<&[f64]>) -> Result<(), String> {
    let values = |i: usize| inputs.get(i).map(|(_, tensor)| tensor.to_f64());
    let x = values(0).ok_or("input 0 is missing")?;
    // The ratio is an input of rank 0; where the case has none, it is a half.
    let ratio =
        inputs.get(1).filter(|(_, ratio)| ratio.dtype.is_float()).map_or(0.5, |(_, ratio)| ratio.to_f64()[0]);
    for (i, (kept, x)) in kept.iter().zip(x).enumerate() {
        let whole = x / (1.0 - ratio);
        let stays = (kept - whole).abs() <= 1e-6 * whole.abs();
        let says = mask.map_or(stays, |mask| mask[i] != 0.0);
        if !(stays && says || *kept == 0.0 && (!says || whole == 0.0)) {
            return Err(format!("element {i} is {kept}, which is neither 0 nor {whole} as the mask says"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floats(name: &str, elements: &[f32]) -> (String, HostTensor) {
        (name.to_string(), HostTensor::from_elements(&[elements.len()], elements))
    }

    #[test]
    fn draws_that_cannot_be_are_named() {
        let coin = |sides: &[f32]| {
            let expected = [floats("y", &[0.0, 0.0])];
            Law::Coin.check(&[], &BTreeMap::from([floats("y", sides)]), &expected)
        };
        assert_eq!(coin(&[1.0, 0.0]), Ok(()));
        assert!(coin(&[0.5, 0.0]).unwrap_err().contains("neither"));
        assert!(coin(&[0.0]).unwrap_err().contains("[1]"));
        let inputs = [floats("x", &[3.0, 4.0])];
        let dropout = |kept: &[f32]| {
            let expected = [floats("y", &[0.0, 0.0])];
            Law::Dropout.check(&inputs, &BTreeMap::from([floats("y", kept)]), &expected)
        };
        assert_eq!(dropout(&[6.0, 0.0]), Ok(()));
        assert!(dropout(&[3.0, 0.0]).is_err());
    }
}
