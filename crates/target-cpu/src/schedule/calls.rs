//! How `call` spells an entry of the ABI's function table: the operands' element type, a point, the operation.
//!
//! `f32.pow`, `u32.pow`, `f64.atan2`: [`Function::name`] alone is not unique, the element type makes it so.

use tegula_base::DType;
use tegula_package::Function;

/// The entry that a `call` names.
pub fn function(spelling: &str) -> Option<Function> {
    let (dtype, name) = spelling.split_once('.')?;
    Function::find(name, dtype.parse::<DType>().ok()?)
}

/// The spelling of an entry.
pub fn spelling(function: Function) -> String {
    format!("{}.{}", function.dtype(), function.name())
}
