//! Small models whose sizes decide whether a chip holds them, as text.

use anyhow::{Result, anyhow};
use tegula_base::{DType, Dim, HostTensor, Shape, SymbolInfo};
use tegula_ir::{PrintOptions, Value, print_program};
use tegula_tensor::build::Built;
use tegula_tensor::{Builder, TensorFunc, TensorProgram};

/// Layers of `f32[rows, width]` by weights of `[width, width]`.
pub fn layers(count: usize, width: i64) -> Result<String> {
    text(|func, program| {
        let mut x = Net { func, program, node: String::new() }.arg([Dim::symbol("rows"), Dim::from(width)]);
        for layer in 0..count {
            let mut net = Net { func, program, node: format!("layer{layer}") };
            x = net.dense(x, width, layer)?;
        }
        Ok(vec![x])
    })
}

/// A query of one token past keys and values of `context` tokens, which are state of the host.
pub fn decoder(heads: i64, width: i64) -> Result<String> {
    text(|func, program| {
        let mut net = Net { func, program, node: "attend".to_string() };
        let one = [Dim::from(1), Dim::from(heads), Dim::from(1), Dim::from(width)];
        let past = [Dim::from(1), Dim::from(heads), Dim::symbol("context"), Dim::from(width)];
        let (q, k, v) = (net.arg(one), net.arg(past.clone()), net.arg(past));
        Ok(vec![net.b().attention(&[q, k, v], 0.25, false, -1, 0.0)?])
    })
}

struct Net<'a> {
    func: &'a mut TensorFunc,
    program: &'a mut TensorProgram,
    node: String,
}

impl Net<'_> {
    fn b(&mut self) -> Builder<'_> {
        let body = self.func.body();
        Builder::new(self.func, &mut self.program.consts).at(body, Some(self.node.as_str().into()))
    }

    fn arg(&mut self, shape: impl Into<Shape>) -> Value {
        self.b().arg(DType::F32, shape)
    }

    /// Weights differ from layer to layer, so that each has a place of its own.
    fn dense(&mut self, x: Value, width: i64, seed: usize) -> Built {
        let number = |at: usize| (((at * 7 + seed * 13) % 101) as f32 - 50.0) / 64.0;
        let count = (width * width) as usize;
        let bytes = (0..count).flat_map(|at| number(at).to_le_bytes()).collect();
        let shape = vec![width as usize, width as usize];
        let w = self.b().literal(HostTensor { dtype: DType::F32, shape, bytes })?;
        let sums = self.b().dot_2d(x, w)?;
        self.b().tanh(sums)
    }
}

fn text(build: impl FnOnce(&mut TensorFunc, &mut TensorProgram) -> Built<Vec<Value>>) -> Result<String> {
    let mut program = TensorProgram::new(TensorFunc::new("main"));
    let mut func = std::mem::replace(program.entry_mut(), TensorFunc::new("main"));
    let results = build(&mut func, &mut program).map_err(|reason| anyhow!("{reason}"))?;
    Builder::new(&mut func, &mut program.consts).ret(&results).map_err(|reason| anyhow!("{reason}"))?;
    let args = func.args(func.body()).to_vec();
    func.arg_names = (0..args.len()).map(|i| format!("in{i}")).collect();
    func.result_names = (0..results.len()).map(|i| format!("out{i}")).collect();
    for (number, arg) in args.iter().enumerate() {
        for (axis, dim) in func.ty(*arg).shape.iter().enumerate() {
            if let Some(name) = dim.as_symbol().filter(|name| program.symbols.get(name).is_none()) {
                let info = SymbolInfo { min: 1, ..SymbolInfo::input(number as u32, axis as u32) };
                program.symbols.insert(name, info);
            }
        }
    }
    *program.entry_mut() = func;
    Ok(print_program(&program, &PrintOptions::WHOLE))
}
