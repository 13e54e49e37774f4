//! Short words for writing host programs by hand.
#![allow(dead_code)] // Each test file uses its part.

use std::sync::Arc;
use tegula_base::{DType, Dim, HostTensor};
use tegula_package::*;
use tegula_runtime::{Session, SessionOptions};

pub fn dim(text: &str) -> Dim {
    text.parse().expect("a size")
}

pub fn dims(shape: &[&str]) -> Vec<Dim> {
    shape.iter().map(|text| dim(text)).collect()
}

/// Builds a program step by step; lifetimes span the whole program unless set afterwards.
#[derive(Default)]
pub struct Source {
    pub program: HostProgram,
    pub package: PackageBuilder,
    pub features: Vec<String>,
    /// The home's instruction set; empty for x86-64.
    pub isa: String,
    /// Devices beside the home.
    pub devices: Vec<PackageDevice>,
}

impl Source {
    pub fn input_symbol(&mut self, name: &str, input: u32, axis: u32, min: i64, max: i64, divisor: i64) {
        let origin = Origin::Input { input, axis };
        self.program.symbols.push(Symbol { name: name.into(), origin, min, max, divisor, upper: None });
    }

    pub fn data_symbol(&mut self, name: &str, upper: Option<&str>) -> u32 {
        self.program.symbols.push(Symbol {
            name: name.into(),
            origin: Origin::Data,
            min: 0,
            max: i64::from(i32::MAX),
            divisor: 1,
            upper: upper.map(dim),
        });
        self.program.symbols.len() as u32 - 1
    }

    pub fn buffer(&mut self, name: &str, bytes: &str, place: Place) -> BufferId {
        let (name, bytes, device) = (name.into(), dim(bytes), DeviceId::HOME);
        self.program.buffers.push(Buffer { name, bytes, place, device, first: 0, last: 0 });
        BufferId::from(self.program.buffers.len() - 1)
    }

    pub fn arena(&mut self, name: &str, bytes: &str) -> BufferId {
        self.buffer(name, bytes, Place::Arena)
    }

    fn bytes(dtype: DType, shape: &[&str]) -> String {
        let count = dims(shape).into_iter().fold(Dim::from(dtype.size()), |product, dim| product * dim);
        count.to_string()
    }

    pub fn input(&mut self, name: &str, dtype: DType, shape: &[&str]) -> BufferId {
        let index = self.program.inputs.len() as u32;
        let buffer = self.buffer(name, &Source::bytes(dtype, shape), Place::Input(index));
        self.program.inputs.push(Port {
            name: name.into(),
            dtype,
            shape: dims(shape),
            buffer,
            alias: None,
            default: None,
        });
        buffer
    }

    pub fn output(&mut self, name: &str, dtype: DType, shape: &[&str]) -> BufferId {
        let index = self.program.outputs.len() as u32;
        let buffer = self.buffer(name, &Source::bytes(dtype, shape), Place::Output(index));
        self.output_of(name, dtype, shape, buffer);
        buffer
    }

    /// An output that shows an existing buffer.
    pub fn output_of(&mut self, name: &str, dtype: DType, shape: &[&str], buffer: BufferId) {
        self.program.outputs.push(Port {
            name: name.into(),
            dtype,
            shape: dims(shape),
            buffer,
            alias: None,
            default: None,
        });
    }

    pub fn constant(&mut self, name: &str, tensor: &HostTensor) -> BufferId {
        let place = self.package.add_constant(ConstantData::Bytes(tensor.bytes.clone().into()));
        self.buffer(name, &tensor.bytes.len().to_string(), place)
    }

    pub fn kernel(&mut self, name: &str, code: KernelCode) -> u32 {
        self.program.kernels.push(Kernel {
            name: name.into(),
            code,
            scratch: Dim::from(64),
            cost: Default::default(),
            source: [format!("model/{name}")].into(),
        });
        self.program.kernels.len() as u32 - 1
    }

    pub fn native(&mut self, name: &str, attrs: &str) -> u32 {
        self.kernel(name, KernelCode::Native { name: name.into(), attrs: attrs.into() })
    }

    pub fn finish(mut self) -> Draft {
        let steps = Step::for_each(&self.program.steps, 0, &mut |_, _| {});
        for buffer in &mut self.program.buffers {
            if buffer.last == 0 {
                buffer.last = steps.max(1) - 1;
            }
        }
        let machine = MachineId {
            class: "test-class".into(),
            hash: "0".into(),
            isa: if self.isa.is_empty() { isa::X86_64.into() } else { self.isa },
            features: self.features,
            file: None,
        };
        let about = About {
            model: "test".into(),
            tegula: "0".into(),
            machine,
            devices: self.devices,
            options: Default::default(),
        };
        self.package.finish(about, self.program).unwrap_or_else(|found| panic!("{found}"))
    }

    pub fn session(self, threads: usize) -> Session {
        let options = SessionOptions { threads, executor: Some(Arc::new(AddExecutor)), ..Default::default() };
        Session::from_bytes(self.finish().to_bytes(), options).unwrap_or_else(|found| panic!("{found}"))
    }
}

pub fn launch(kernel: u32, args: &[Arg], grid: &str) -> Step {
    Step::Launch { kernel, args: args.to_vec(), grid: dim(grid) }
}

pub fn buf(buffer: BufferId) -> Arg {
    Arg::Buffer(buffer)
}

pub fn size(text: &str) -> Arg {
    Arg::Size(dim(text))
}

/// `out[i] = in[i] + 1` on i64, one element a work unit:
/// `mov r8,[rdi+8]; mov r9,[rdi+16]; L: cmp rdx,rcx; jae E; mov rax,[r8+rdx*8]; add rax,1;
/// mov [r9+rdx*8],rax; inc rdx; jmp L; E: ret`.
pub const INCREMENT: &[u8] = &[
    0x4C, 0x8B, 0x47, 0x08, 0x4C, 0x8B, 0x4F, 0x10, 0x48, 0x39, 0xCA, 0x73, 0x11, 0x49, 0x8B, 0x04, 0xD0,
    0x48, 0x83, 0xC0, 0x01, 0x49, 0x89, 0x04, 0xD1, 0x48, 0xFF, 0xC2, 0xEB, 0xEA, 0xC3,
];

/// `out[0] = pow(in[0], in[1])` on f64 through entry 1 of the function table:
/// `push rbx; mov rbx,[rdi+16]; mov rax,[rdi]; mov rcx,[rdi+8]; mov rdi,[rcx]; mov rsi,[rcx+8]; call [rax+8];
/// mov [rbx],rax; pop rbx; ret`.
pub const POW: &[u8] = &[
    0x53, 0x48, 0x8B, 0x5F, 0x10, 0x48, 0x8B, 0x07, 0x48, 0x8B, 0x4F, 0x08, 0x48, 0x8B, 0x39, 0x48, 0x8B,
    0x71, 0x08, 0xFF, 0x50, 0x08, 0x48, 0x89, 0x03, 0x5B, 0xC3,
];

/// A portable "executor": the code is one byte, which is added to each i64.
pub struct AddExecutor;

struct Add(i64);

impl PortableExecutor for AddExecutor {
    fn prepare(&self, code: &[u8]) -> Result<Arc<dyn PortableKernel>, String> {
        match code {
            [byte] => Ok(Arc::new(Add(i64::from(*byte)))),
            _ => Err(format!("{} bytes are no kernel", code.len())),
        }
    }
}

impl PortableKernel for Add {
    fn run(
        &self,
        args: &[u64],
        scratch: u64,
        memory: &dyn Memory,
        begin: u64,
        end: u64,
    ) -> Result<(), String> {
        for i in begin..end {
            let mut word = [0; 8];
            memory.read(args[1] + 8 * i, &mut word)?;
            memory.write(scratch, &word)?;
            memory.read(scratch, &mut word)?;
            memory.write(args[2] + 8 * i, &(i64::from_le_bytes(word) + self.0).to_le_bytes())?;
        }
        Ok(())
    }
}

pub fn slot(dtype: &str, rank: usize) -> String {
    format!(r#"{{"dtype":"{dtype}","rank":{rank}}}"#)
}

pub fn attrs(operands: &[String], results: &[String], params: &str) -> String {
    format!(r#"{{"operands":[{}],"results":[{}],"params":{params}}}"#, operands.join(","), results.join(","))
}
