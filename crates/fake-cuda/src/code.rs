//! Modules and functions: PTX that the simulator runs.

use std::sync::Arc;

use tegula_isa_ptx::parse;
use tegula_sim_ptx::Kernel;

use crate::settings::settings;

pub struct Module {
    pub functions: Vec<Arc<Function>>,
}

pub struct Function {
    pub name: String,
    pub kernel: Kernel,
    /// Bytes of each parameter.
    pub params: Vec<usize>,
}

impl Module {
    /// Errors: what a compiler would say.
    pub fn new(text: &str) -> Result<Module, String> {
        if let Some(words) = &settings().jit {
            return Err(words.clone());
        }
        let module = parse(text, "ptx").map_err(|errors| errors.to_string())?;
        let functions = module.entries.iter().map(|entry| {
            Ok(Arc::new(Function {
                name: entry.name.clone(),
                kernel: Kernel::new(entry).map_err(|errors| errors.to_string())?,
                params: entry.params.iter().map(|param| param.ty.size() as usize).collect(),
            }))
        });
        Ok(Module { functions: functions.collect::<Result<_, String>>()? })
    }
}
