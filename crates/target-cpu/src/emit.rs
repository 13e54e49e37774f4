//! Encodes allocated machine IR and lists it.
//!
//! Before: an [`Allocation`] of the machine IR. After: bytes, constants behind the code, every branch resolved.
//! Method: one pass; backward branches are short where they can be, forward ones are long and patched, as are
//! references to constants.

mod encode;
mod listing;

use crate::abi::Frame;
use crate::allocate::{self, Allocation, Edit, EditKind};
use crate::isa::{Isa, Width};
use crate::mir::{Arg, Base, Class, Cond, Inst, Kind, Label, Mem, Mir, Size, VReg};
use crate::schedule::CpuFunc;
pub use encode::append_constants;
use encode::{Encoder, Line};
use iced_x86::{Code as X86, Instruction, Register};
use smallvec::smallvec;
use tegula_base::Diagnostic;
use tegula_ir::OpId;

/// Heads of innermost loops are aligned to the size of a fetch block.
const LOOP_ALIGN: usize = 32;

/// A compiled kernel.
#[derive(Clone, Debug)]
pub struct Code {
    /// Machine code and, behind it, its constants. To be placed at a multiple of 64.
    pub bytes: Vec<u8>,
    /// Stack that the kernel uses below its saved registers.
    pub frame_bytes: usize,
    /// Values that live in the frame because registers were short.
    pub n_spills: usize,
    /// Length of the code without constants.
    pub code_bytes: usize,
    lines: Vec<Line>,
}

/// Encodes a kernel.
/// Errors: internal only; an operand that no encoding takes.
pub fn emit(func: &CpuFunc, mir: &Mir, allocation: &Allocation) -> Result<Code, Diagnostic> {
    let frame = Frame::new(mir, allocation);
    let encoder = Encoder::new(mir.n_labels as usize, mir.insts.len() + allocation.edits.len());
    let emit = Emit { mir, allocation, frame, encoder };
    emit.kernel()
        .map_err(|error| Diagnostic::internal(format!("encoding x86-64 code for `{}`: {error}", func.name)))
}

struct Emit<'a> {
    mir: &'a Mir,
    allocation: &'a Allocation,
    frame: Frame,
    encoder: Encoder,
}

type Emitted<T> = Result<T, String>;

impl Emit<'_> {
    fn kernel(mut self) -> Emitted<Code> {
        self.prologue()?;
        let mut edits = self.allocation.edits.iter().peekable();
        for (i, inst) in self.mir.insts.iter().enumerate() {
            self.encoder.op = inst.op;
            while let Some(edit) = edits.next_if(|edit| edit.point <= 2 * i as u32) {
                self.edit(*edit)?;
            }
            if !self.allocation.dropped[i] {
                self.inst(inst)?;
            }
            while let Some(edit) = edits.next_if(|edit| edit.point == 2 * i as u32 + 1) {
                self.edit(*edit)?;
            }
        }
        let code_bytes = self.encoder.len;
        let pool = allocate::constants(self.mir.pool.clone(), &self.allocation.repeated);
        let (bytes, lines) = self.encoder.finish(&pool)?;
        let (frame_bytes, n_spills) = (self.frame.bytes(), self.allocation.n_spills);
        Ok(Code { bytes, frame_bytes, n_spills, code_bytes, lines })
    }

    // --- frame -----------------------------------------------------------------------------------------

    fn prologue(&mut self) -> Emitted<()> {
        for &register in &self.frame.saved {
            self.encoder.push(with1(X86::Push_r64, gpr(register))?)?;
        }
        let Some(saved_rsp) = self.frame.saved_rsp else { return Ok(()) };
        // rax is no argument register.
        self.encoder.push(with2(X86::Mov_r64_rm64, Register::RAX, Register::RSP)?)?;
        let bytes = saved_rsp as i32 + 8;
        self.encoder.push(immediate(X86::Sub_rm64_imm32, Register::RSP, bytes)?)?;
        self.encoder.push(immediate(X86::And_rm64_imm8, Register::RSP, -64)?)?;
        let mut save = with2(X86::Mov_rm64_r64, Register::RAX, Register::RAX)?;
        set_memory(&mut save, 0, Register::RSP, Register::None, 1, i64::from(saved_rsp));
        self.encoder.push(save)
    }

    fn epilogue(&mut self) -> Emitted<()> {
        if self.frame.uses_vectors {
            self.encoder.push(Instruction::with(X86::VEX_Vzeroupper))?;
        }
        if let Some(saved_rsp) = self.frame.saved_rsp {
            let mut restore = with2(X86::Mov_r64_rm64, Register::RSP, Register::RSP)?;
            set_memory(&mut restore, 1, Register::RSP, Register::None, 1, i64::from(saved_rsp));
            self.encoder.push(restore)?;
        }
        for &register in self.frame.saved.iter().rev() {
            self.encoder.push(with1(X86::Pop_r64, gpr(register))?)?;
        }
        self.encoder.push(Instruction::with(X86::Retnq))
    }

    fn edit(&mut self, edit: Edit) -> Emitted<()> {
        let size = self.mir.vregs[edit.reg.0 as usize].size;
        let reg = Arg::Reg(edit.reg, size);
        let home = |home: u32| Arg::Mem(Mem::at(Base::Frame(self.allocation.homes[home as usize])));
        match edit.kind {
            EditKind::Reload { home: h } => self.copy(reg, home(h)),
            EditKind::Store { home: h } => self.copy(home(h), reg),
            EditKind::Repeat { inst } => {
                let mut inst = self.mir.insts[inst as usize].clone();
                if let Arg::Reg(_, size) = inst.args[0] {
                    inst.args[0] = Arg::Reg(edit.reg, size);
                }
                self.inst(&inst)
            }
        }
    }

    // --- instructions ----------------------------------------------------------------------------------

    fn inst(&mut self, inst: &Inst) -> Emitted<()> {
        match inst.kind {
            Kind::Isa(isa, width) => self.isa(isa, width, inst),
            Kind::Move => self.copy(inst.args[0], inst.args[1]),
            Kind::Zero => self.zero(inst.args[0]),
            Kind::Label { label, aligned } => {
                if aligned {
                    self.encoder.align(LOOP_ALIGN);
                }
                self.encoder.bind(label);
                Ok(())
            }
            Kind::Jump(label) => self.jump(X86::Jmp_rel8_64, X86::Jmp_rel32_64, label),
            Kind::Branch(cond, label) => {
                let (short, long) = branch(cond);
                self.jump(short, long, label)
            }
            Kind::Divide { signed, remainder } => self.divide(signed, remainder, &inst.args),
            Kind::Call { entry } => self.call(entry, &inst.args),
            Kind::Entry(register) => match self.register(inst.args[0])? {
                to if to == gpr(register) => Ok(()),
                to => self.encoder.push(with2(X86::Mov_r64_rm64, to, gpr(register))?),
            },
            Kind::Return => self.epilogue(),
        }
    }

    fn copy(&mut self, to: Arg, from: Arg) -> Emitted<()> {
        let size = match (to, from) {
            (_, Arg::Reg(_, size)) | (Arg::Reg(_, size), _) => size,
            _ => return Err("a copy from memory to memory".into()),
        };
        if let (Arg::Reg(..), Arg::Reg(..)) = (to, from)
            && self.register(to)? == self.register(from)?
        {
            return Ok(());
        }
        let store = matches!(to, Arg::Mem(_));
        let load = matches!(from, Arg::Mem(_));
        let (isa, width) = match (size, store, load) {
            (Size::B8 | Size::B16 | Size::B32 | Size::B64, true, _) => (Isa::MovStore, Width::X),
            (Size::B8 | Size::B16 | Size::B32 | Size::B64, false, _) => (Isa::Mov, Width::X),
            (Size::K, true, _) => (Isa::KmovStore, Width::X),
            (Size::K, false, _) => (Isa::Kmov, Width::X),
            (size, true, _) => (Isa::VmovupsStore, width_of(size)),
            (size, false, true) => (Isa::VmovupsLoad, width_of(size)),
            (size, false, false) => (Isa::Vmovaps, width_of(size)),
        };
        let whole = |arg: Arg| match arg {
            Arg::Reg(reg, Size::B8 | Size::B16 | Size::B32) => Arg::Reg(reg, Size::B64),
            Arg::Reg(reg, _) => Arg::Reg(reg, size),
            arg => arg,
        };
        let args = smallvec![whole(to), whole(from)];
        self.isa(isa, width, &Inst { kind: Kind::Move, args, mask: None, broadcast: false, op: None })
    }

    fn zero(&mut self, to: Arg) -> Emitted<()> {
        let Arg::Reg(reg, _) = to else { return Err("zeroing memory".into()) };
        if self.class(reg) == Class::Mask {
            let k = self.register(Arg::Reg(reg, Size::K))?;
            return self.encoder.push(with3(X86::VEX_Kxorq_kr_kr_kr, k, k, k)?);
        }
        let arg = Arg::Reg(reg, Size::X);
        let args = smallvec![arg, arg, arg];
        self.isa(
            Isa::Vpxor,
            Width::X,
            &Inst { kind: Kind::Zero, args, mask: None, broadcast: false, op: None },
        )
    }

    fn jump(&mut self, short: X86, long: X86, label: Label) -> Emitted<()> {
        self.encoder.jump(short, long, label)
    }

    fn divide(&mut self, signed: bool, remainder: bool, args: &[Arg]) -> Emitted<()> {
        let [to, a, b] = [self.register(args[0])?, self.register(args[1])?, self.register(args[2])?];
        self.encoder.push(with2(X86::Mov_r64_rm64, Register::RAX, a)?)?;
        if signed {
            self.encoder.push(Instruction::with(X86::Cqo))?;
            self.encoder.push(with1(X86::Idiv_rm64, b)?)?;
        } else {
            self.encoder.push(with2(X86::Xor_r32_rm32, Register::EDX, Register::EDX)?)?;
            self.encoder.push(with1(X86::Div_rm64, b)?)?;
        }
        let result = if remainder { Register::RDX } else { Register::RAX };
        self.encoder.push(with2(X86::Mov_r64_rm64, to, result)?)
    }

    fn call(&mut self, entry: u32, args: &[Arg]) -> Emitted<()> {
        let [to, table] = [self.register(args[0])?, self.register(args[1])?];
        for (&arg, parameter) in args[2..].iter().zip([Register::RDI, Register::RSI]) {
            let source = self.register(arg)?;
            self.encoder.push(with2(X86::Mov_r64_rm64, parameter, source)?)?;
        }
        // The callee may be compiled for SSE.
        self.encoder.push(Instruction::with(X86::VEX_Vzeroupper))?;
        let mut call = with1(X86::Call_rm64, table)?;
        set_memory(&mut call, 0, table, Register::None, 1, 8 * i64::from(entry));
        self.encoder.push(call)?;
        self.encoder.push(with2(X86::Mov_r64_rm64, to, Register::RAX)?)
    }

    fn isa(&mut self, isa: Isa, width: Width, inst: &Inst) -> Emitted<()> {
        if isa.is_general() {
            return self.general(isa, &inst.args);
        }
        let mut wide = width == Width::Z || inst.broadcast || inst.mask.is_some();
        for arg in &inst.args {
            match *arg {
                Arg::Reg(reg, _) => wide |= self.is_high(reg),
                Arg::Mem(Mem { index: Some((reg, _)), .. }) => wide |= self.is_high(reg),
                _ => {}
            }
        }
        let code = match (isa.vex(width), isa.evex(width)) {
            (X86::INVALID, evex) => evex,
            (_, evex) if wide => evex,
            (vex, _) => vex,
        };
        if code == X86::INVALID {
            return Err(format!("{isa:?} has no form of width {width:?}"));
        }
        let mut instruction = Instruction::default();
        instruction.set_code(code);
        self.set_operands(&mut instruction, &inst.args)?;
        instruction.set_is_broadcast(inst.broadcast);
        if let Some((reg, masking)) = inst.mask {
            instruction.set_op_mask(self.register(Arg::Reg(reg, Size::K))?);
            instruction.set_zeroing_masking(masking == crate::mir::Masking::Zero);
        }
        self.push(instruction, &inst.args)
    }

    fn general(&mut self, isa: Isa, args: &[Arg]) -> Emitted<()> {
        let Some(&Arg::Imm(value)) = args.last() else {
            let mut instruction = Instruction::default();
            instruction.set_code(isa.register_form());
            self.set_operands(&mut instruction, args)?;
            return self.push(instruction, args);
        };
        let short = isa.imm8_form() != X86::INVALID && i8::try_from(value).is_ok();
        let code = if short { isa.imm8_form() } else { isa.imm32_form() };
        let to = self.register(args[0])?;
        let instruction = match args {
            [_, _] if isa == Isa::MovI => Instruction::with2(code, to, value).map_err(|e| e.to_string())?,
            [_, _] => immediate(code, to, value as i32)?,
            [_, source @ Arg::Reg(..), _] => {
                Instruction::with3(code, to, self.register(*source)?, value as i32)
                    .map_err(|e| e.to_string())?
            }
            [_, source, _] => {
                let mut instruction =
                    Instruction::with3(code, to, to, value as i32).map_err(|e| e.to_string())?;
                self.set_operand(&mut instruction, 1, *source)?;
                instruction
            }
            _ => return Err(format!("{isa:?} with {} operands", args.len())),
        };
        self.push(instruction, args)
    }

    fn push(&mut self, instruction: Instruction, args: &[Arg]) -> Emitted<()> {
        let constant = args.iter().find_map(|arg| match arg {
            Arg::Mem(Mem { base: Base::Pool(id), disp, .. }) => Some((*id, *disp)),
            _ => None,
        });
        match constant {
            Some((id, disp)) => self.encoder.push_with_constant(instruction, id, disp),
            None => self.encoder.push(instruction),
        }
    }

    // --- operands --------------------------------------------------------------------------------------

    fn set_operands(&self, instruction: &mut Instruction, args: &[Arg]) -> Emitted<()> {
        for (i, &arg) in args.iter().enumerate() {
            self.set_operand(instruction, i as u32, arg)?;
        }
        Ok(())
    }

    #[inline(always)]
    fn set_operand(&self, instruction: &mut Instruction, i: u32, arg: Arg) -> Emitted<()> {
        match arg {
            Arg::Reg(..) => {
                instruction.set_op_kind(i, iced_x86::OpKind::Register);
                instruction.set_op_register(i, self.register(arg)?);
            }
            Arg::Imm(value) => {
                instruction.set_op_kind(i, iced_x86::OpKind::Immediate8);
                instruction.set_immediate8(value as u8);
            }
            Arg::Mem(mem) => {
                let (base, disp) = match mem.base {
                    Base::Reg(reg) => (self.register(Arg::Reg(reg, Size::B64))?, mem.disp),
                    Base::Frame(area) => (Register::RSP, mem.disp + self.frame.offsets[area as usize] as i32),
                    Base::Pool(_) => (Register::RIP, 0),
                };
                let index = match mem.index {
                    Some((reg, size)) => self.register(Arg::Reg(reg, size))?,
                    None => Register::None,
                };
                set_memory(instruction, i, base, index, u32::from(mem.scale), i64::from(disp));
            }
        }
        Ok(())
    }

    fn class(&self, reg: VReg) -> Class {
        self.mir.vregs[reg.0 as usize].class
    }

    #[inline(always)]
    fn number(&self, reg: VReg) -> Emitted<u32> {
        match self.allocation.register[reg.0 as usize] {
            u8::MAX => Err(format!("v{} has no register", reg.0)),
            number => Ok(u32::from(number)),
        }
    }

    /// Whether only EVEX reaches the register: no class but that of vectors has so many.
    fn is_high(&self, reg: VReg) -> bool {
        (16..32).contains(&self.allocation.register[reg.0 as usize])
    }

    #[inline(always)]
    fn register(&self, arg: Arg) -> Emitted<Register> {
        let Arg::Reg(reg, size) = arg else { return Err(format!("a register is expected, not {arg:?}")) };
        let n = self.number(reg)?;
        Ok(match size {
            Size::B8 if n < 4 => Register::AL + n,
            Size::B8 if n < 8 => Register::SPL + (n - 4),
            Size::B8 => Register::R8L + (n - 8),
            Size::B16 => Register::AX + n,
            Size::B32 => Register::EAX + n,
            Size::B64 => Register::RAX + n,
            Size::X => Register::XMM0 + n,
            Size::Y => Register::YMM0 + n,
            Size::Z => Register::ZMM0 + n,
            Size::K => Register::K0 + n,
        })
    }
}

fn gpr(number: u8) -> Register {
    Register::RAX + u32::from(number)
}

fn width_of(size: Size) -> Width {
    match size {
        Size::Z => Width::Z,
        Size::Y => Width::Y,
        _ => Width::X,
    }
}

fn branch(cond: Cond) -> (X86, X86) {
    match cond {
        Cond::Eq => (X86::Je_rel8_64, X86::Je_rel32_64),
        Cond::Ne => (X86::Jne_rel8_64, X86::Jne_rel32_64),
        Cond::Lt => (X86::Jl_rel8_64, X86::Jl_rel32_64),
        Cond::Ge => (X86::Jge_rel8_64, X86::Jge_rel32_64),
        Cond::Le => (X86::Jle_rel8_64, X86::Jle_rel32_64),
        Cond::Gt => (X86::Jg_rel8_64, X86::Jg_rel32_64),
    }
}

fn with1(code: X86, a: Register) -> Emitted<Instruction> {
    Instruction::with1(code, a).map_err(|e| e.to_string())
}

fn with2(code: X86, a: Register, b: Register) -> Emitted<Instruction> {
    Instruction::with2(code, a, b).map_err(|e| e.to_string())
}

fn with3(code: X86, a: Register, b: Register, c: Register) -> Emitted<Instruction> {
    Instruction::with3(code, a, b, c).map_err(|e| e.to_string())
}

fn immediate(code: X86, a: Register, value: i32) -> Emitted<Instruction> {
    Instruction::with2(code, a, value).map_err(|e| e.to_string())
}

fn set_memory(instruction: &mut Instruction, i: u32, base: Register, index: Register, scale: u32, disp: i64) {
    instruction.set_op_kind(i, iced_x86::OpKind::Memory);
    instruction.set_memory_base(base);
    instruction.set_memory_index(index);
    instruction.set_memory_index_scale(scale);
    instruction.set_memory_displacement64(disp as u64);
    // 1 stands for "as short as it fits"; without a displacement [rbp] and [r13] do not exist.
    let needs = disp != 0 || matches!(base, Register::RBP | Register::R13);
    instruction.set_memory_displ_size(if base == Register::RIP { 8 } else { u32::from(needs) });
}

/// Keeps the op of an inserted instruction for the listing.
pub(crate) type Origin = Option<OpId>;
