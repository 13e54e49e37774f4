//! Short ways to build and to ask syntax trees, for the levels that print and parse themselves through them.

use crate::ast::{Attr, Operation, ResultPack, Sign, Type, ValueRef};

impl Attr {
    /// `7`, which is an `i64`.
    pub fn int(value: i64) -> Attr {
        Attr::Integer(value.into(), None)
    }

    /// `1.5 : f32`, with the shortest decimal that reads back as `value`; bits in hex where no decimal does.
    pub fn f32(value: f32) -> Attr {
        let text = if value.is_finite() {
            decimal(&format!("{value:?}"))
        } else {
            format!("0x{:08X}", value.to_bits())
        };
        Attr::Float(text, Some(Type::float("f32")))
    }

    /// `1.5 : f64`, likewise.
    pub fn f64(value: f64) -> Attr {
        let text = if value.is_finite() {
            decimal(&format!("{value:?}"))
        } else {
            format!("0x{:016X}", value.to_bits())
        };
        Attr::Float(text, Some(Type::float("f64")))
    }

    pub fn str(text: impl Into<String>) -> Attr {
        Attr::String(text.into().into_bytes(), None)
    }

    /// `@name`.
    pub fn symbol(name: impl Into<String>) -> Attr {
        Attr::Symbol(vec![name.into()])
    }

    /// `array<i64: 1, 2>`.
    pub fn ints(values: &[i64]) -> Attr {
        Attr::DenseArray(Type::int(64), values.iter().map(i64::to_string).collect())
    }

    /// The value of an integer attribute, whatever its type, if it fits.
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Attr::Integer(value, _) => (*value).try_into().ok(),
            _ => None,
        }
    }

    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Attr::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// The value of a float attribute, rounded to its type; hex bits are understood for f64, f32, f16 and bf16.
    pub fn as_float(&self) -> Option<f64> {
        let Attr::Float(text, ty) = self else { return None };
        let ty = match ty {
            None => "f64",
            Some(Type::Float(spelling)) => spelling,
            Some(_) => return None,
        };
        let Some(digits) = text.strip_prefix("0x") else {
            return if ty == "f32" { text.parse().ok().map(f32::into) } else { text.parse().ok() };
        };
        let bits = u64::from_str_radix(digits, 16).ok()?;
        match ty {
            "f64" => Some(f64::from_bits(bits)),
            "f32" => Some(f32::from_bits(bits.try_into().ok()?).into()),
            "bf16" => Some(f32::from_bits(u32::from(u16::try_from(bits).ok()?) << 16).into()),
            "f16" => Some(half_to_f64(bits.try_into().ok()?)),
            _ => None,
        }
    }

    /// The text of a string attribute, if it is UTF-8.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Attr::String(bytes, _) => std::str::from_utf8(bytes).ok(),
            _ => None,
        }
    }

    pub fn as_type(&self) -> Option<&Type> {
        match self {
            Attr::Type(ty) => Some(ty),
            _ => None,
        }
    }

    /// The name of a symbol without nesting.
    pub fn as_symbol(&self) -> Option<&str> {
        match self {
            Attr::Symbol(path) if path.len() == 1 => Some(&path[0]),
            _ => None,
        }
    }

    pub fn as_array(&self) -> Option<&[Attr]> {
        match self {
            Attr::Array(items) => Some(items),
            _ => None,
        }
    }

    pub fn as_dictionary(&self) -> Option<&[(String, Attr)]> {
        match self {
            Attr::Dictionary(entries) => Some(entries),
            _ => None,
        }
    }

    /// The values of `array<iN: ...>`, if each fits.
    pub fn as_ints(&self) -> Option<Vec<i64>> {
        match self {
            Attr::DenseArray(Type::Integer { .. }, literals) => {
                literals.iter().map(|text| integer(text)).collect()
            }
            _ => None,
        }
    }
}

impl Type {
    /// `iN`.
    pub fn int(width: u32) -> Type {
        Type::Integer { width, sign: Sign::Signless }
    }

    /// `f32` and its kin, by spelling.
    pub fn float(spelling: impl Into<String>) -> Type {
        Type::Float(spelling.into())
    }

    /// `tensor<2x?xelement>`; `None` is `?`.
    pub fn tensor(shape: impl Into<Vec<Option<u64>>>, element: Type) -> Type {
        Type::RankedTensor { shape: shape.into(), element: Box::new(element), encoding: None }
    }
}

impl Operation {
    pub fn new(name: impl Into<String>) -> Operation {
        Operation { name: name.into(), ..Operation::default() }
    }

    /// The attribute called `name`: a property, else a discardable one.
    pub fn attr(&self, name: &str) -> Option<&Attr> {
        self.properties.iter().chain(&self.attributes).find(|(key, _)| key == name).map(|(_, attr)| attr)
    }
}

impl ValueRef {
    /// `%name`, the first or only result of its name.
    pub fn new(name: impl Into<String>) -> ValueRef {
        ValueRef { name: name.into(), index: 0 }
    }
}

impl ResultPack {
    /// `%name =`, one result.
    pub fn new(name: impl Into<String>) -> ResultPack {
        ResultPack { name: name.into(), count: 1 }
    }
}

/// Rust writes `1e20`, MLIR wants `1.0e20`.
fn decimal(text: &str) -> String {
    match text.split_once('e') {
        Some((mantissa, exponent)) if !mantissa.contains('.') => format!("{mantissa}.0e{exponent}"),
        _ => text.to_owned(),
    }
}

fn integer(text: &str) -> Option<i64> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let magnitude = match digits.strip_prefix("0x") {
        Some(hex) => i128::from_str_radix(hex, 16).ok()?,
        None => digits.parse().ok()?,
    };
    i64::try_from(if negative { magnitude.checked_neg()? } else { magnitude }).ok()
}

/// IEEE 754 binary16.
fn half_to_f64(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1F), f64::from(bits & 0x3FF));
    let magnitude = match exponent {
        0 => fraction * 2f64.powi(-24),
        0x1F if fraction == 0.0 => f64::INFINITY,
        0x1F => f64::NAN,
        _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
    };
    if bits >> 15 == 1 { -magnitude } else { magnitude }
}
