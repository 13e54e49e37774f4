//! Chooses how buffers lie in memory.
//!
//! Before: kernels are formed, every buffer is row-major.  After: activations of convolutions and pools, and what is
//! computed between them, have their channels innermost; right sides of contractions are packed for the target's tiles
//! where they are constant, or large; `relayout` kernels stand where a buffer is wanted otherwise;
//! transposes that leave every element in its place stand outside of kernels, as views (`views.rs`). Meaning is
//! untouched.
//!
//! What stays row-major: program inputs and outputs, operands of control flow and runtime kernels, scatters.
//! Method: one walk in program order. A convolution wants channels last; a map, row or concat kernel follows its
//! operands; a reshape hands a layout on where whole axes keep their order (`reshape.rs`). Where a map kernel's only reader
//! wants another layout, the kernel writes that layout itself; so does attention before a transpose of its heads.

mod reshape;
mod views;

use tegula_backend::Target;
use tegula_base::HashMap;
use tegula_base::{Diagnostic, Diagnostics, Dim, Shape};
use tegula_ir::pass::{Changed, PassCx};
use tegula_ir::rewrite::{Rewrite, rewrite_region};
use tegula_ir::{Def, OpId, RegionId, Value};
use tegula_tensor::facts::{is_known_constant, outer_operand};
use tegula_tensor::{KernelClass, Layout, TensorFunc, TensorOp, TensorProgram, TensorType};

/// Errors: internal, when a kernel does not have the form that its class says.
pub fn assign_layouts(
    program: &mut TensorProgram,
    target: &dyn Target,
    cx: &mut PassCx,
) -> Result<Changed, Diagnostics> {
    let mut changed = Changed::No;
    for func in &mut program.funcs {
        let symbols = &program.symbols;
        // Before any region is taken apart: asserts may stand in branches and behind what they speak of.
        let asserted = reshape::asserted_sizes(func);
        let mut walk = Walk { target, symbols, asserted, made: HashMap::default(), changed: Changed::No };
        walk.region(func, func.body(), cx)?;
        changed |= walk.changed | views::show_renamed(func, &walk.asserted, cx)?;
    }
    Ok(changed)
}

struct Walk<'a> {
    target: &'a dyn Target,
    symbols: &'a tegula_base::Symbols,
    /// Sizes that an assert makes equal.
    asserted: Vec<(Dim, Dim)>,
    /// Relayouts in sight, by source.
    made: HashMap<(Value, Layout), Value>,
    changed: Changed,
}

impl Walk<'_> {
    fn region(
        &mut self,
        func: &mut TensorFunc,
        region: RegionId,
        cx: &mut PassCx,
    ) -> Result<(), Diagnostics> {
        rewrite_region(func, region, &mut |func, region, op| {
            self.op(func, region, op, cx)?;
            let inner = match func.kind(op) {
                TensorOp::Kernel { .. } => vec![],
                _ => func.regions_of(op).to_vec(),
            };
            for inner in inner {
                // What a region makes is not in sight after it.
                let outer = self.made.clone();
                self.region(func, inner, cx)?;
                self.made = outer;
            }
            Ok(Rewrite::Keep)
        })?;
        Ok(())
    }

    fn op(
        &mut self,
        func: &mut TensorFunc,
        region: RegionId,
        op: OpId,
        cx: &mut PassCx,
    ) -> Result<(), Diagnostics> {
        match *func.kind(op) {
            TensorOp::Kernel { class } => self.kernel(func, region, op, class, cx)?,
            TensorOp::Reshape { .. } => self.reshape(func, region, op, cx),
            TensorOp::Transpose { .. } => self.transpose(func, op),
            TensorOp::Relayout { .. } | TensorOp::Constant { .. } => {}
            _ => self.want_all_row_major(func, region, op, cx),
        }
        Ok(())
    }

    fn reshape(&mut self, func: &mut TensorFunc, region: RegionId, op: OpId, cx: &mut PassCx) {
        let (from, to) = (func.ty(func.operand(op, 0)), func.ty(func.result(op)));
        if from.layout.is_none() {
            return;
        }
        let to = to.shape.clone();
        if reshape::layout_after(from, &to, &self.asserted).is_none() {
            let layout = reshape::layout_before(from, &to, &self.asserted);
            let layout = layout.unwrap_or_else(|| Layout::row_major(from.rank()));
            self.want(func, region, op, 0, &layout, cx);
        }
        let from = func.ty(func.operand(op, 0));
        if let Some(layout) = reshape::layout_after(from, &to, &self.asserted) {
            self.set_layout(func, func.result(op), layout);
        }
    }

    /// One outside of kernels moves axes of extent 1 only, or is a view already.
    fn transpose(&mut self, func: &mut TensorFunc, op: OpId) {
        let TensorOp::Transpose { perm } = func.kind(op) else { return };
        let (from, to) = (func.ty(func.operand(op, 0)), func.ty(func.result(op)));
        if !to.shows(from, perm)
            && let Some(layout) = from.layout_or_default().transposed(perm)
        {
            self.set_layout(func, func.result(op), layout);
        }
    }

    fn kernel(
        &mut self,
        func: &mut TensorFunc,
        region: RegionId,
        op: OpId,
        class: KernelClass,
        cx: &mut PassCx,
    ) -> Result<(), Diagnostics> {
        match class {
            KernelClass::Conv => self.convolution(func, region, op, cx)?,
            KernelClass::Dot => self.contraction(func, region, op, cx)?,
            KernelClass::Pool => self.pool(func, region, op, cx),
            KernelClass::Map | KernelClass::Reduce | KernelClass::Rows => self.follow(func, region, op, cx),
            KernelClass::Gather
            | KernelClass::Scatter
            | KernelClass::Update
            | KernelClass::Scan
            | KernelClass::Recurrent
            | KernelClass::Native
            | KernelClass::Region => self.want_all_row_major(func, region, op, cx),
            KernelClass::Attention => {
                self.want_all_row_major(func, region, op, cx);
                self.attention(func, op, cx);
            }
        }
        self.refresh_arguments(func, op);
        Ok(())
    }

    /// Heads that are only brought next to each other afterwards are written there.
    fn attention(&mut self, func: &mut TensorFunc, op: OpId, cx: &mut PassCx) {
        let &[result] = func.results(op) else { return };
        let &[reader] = func.users(result) else { return };
        let Some(layout) = views::layout_transposed_by(func, reader) else { return };
        if func.parent(reader) == func.parent(op) {
            cx.remark(func.op(op).location.as_ref(), "its heads are written where their reader wants them");
            self.set_layout(func, result, layout);
        }
    }

    /// Region arguments lie as the launch's operands do.
    fn refresh_arguments(&mut self, func: &mut TensorFunc, op: OpId) {
        let region = func.regions_of(op)[0];
        for i in 0..func.operands(op).len() {
            let (arg, operand) = (func.args(region)[i], func.operand(op, i));
            if func.ty(arg).layout != func.ty(operand).layout {
                let ty = func.ty(operand).clone();
                func.set_type(arg, ty);
                self.changed = Changed::Yes;
            }
        }
    }

    fn convolution(
        &mut self,
        func: &mut TensorFunc,
        region: RegionId,
        op: OpId,
        cx: &mut PassCx,
    ) -> Result<(), Diagnostics> {
        let root = root_of(func, op)?;
        let [x, w] = [0, 1].map(|i| outer_operand(func, op, root, i));
        let (Some(x), Some(w)) = (x, w) else {
            return Err(Diagnostic::internal("a convolution kernel reads values of its own").into());
        };
        let rank = func.ty(func.operand(op, x)).rank();
        let last = Layout::channels_last(rank);
        // Few channels are read as they lie, or as a view shows them: a pass over the image would cost more than it
        // saves. What is read by twos or fours is not.
        let few = func.ty(func.operand(op, x)).shape[1].as_const().is_some_and(|channels| channels <= 4);
        let free = self.shown(func, func.operand(op, x), &last).is_some();
        let layouts = self.target.layouts(func, op, self.symbols);
        if !few || free || layouts.channel_groups {
            self.want(func, region, op, x, &last, cx);
        }
        if let Some(packing) = layouts.packing {
            self.pack(func, region, op, w, packing.layout, cx);
        }
        self.around(func, region, op, &[x, w], &last, cx);
        Ok(())
    }

    fn contraction(
        &mut self,
        func: &mut TensorFunc,
        region: RegionId,
        op: OpId,
        cx: &mut PassCx,
    ) -> Result<(), Diagnostics> {
        let root = root_of(func, op)?;
        let [lhs, rhs] = [0, 1].map(|i| outer_operand(func, op, root, i));
        let (Some(lhs), Some(rhs)) = (lhs, rhs) else {
            // What a prologue reads lies as its ops say.
            for i in (0..func.operands(op).len()).filter(|i| Some(*i) != lhs) {
                self.want_row_major(func, region, op, i, cx);
            }
            return Ok(());
        };
        let right = func.operand(op, rhs);
        // The left side, or an epilogue, may read it as it lies.
        let packing = match is_read_elsewhere(func, op, root, rhs) {
            true => None,
            false => self.target.layouts(func, op, self.symbols).packing,
        };
        if let Some(packing) = packing {
            if is_known_constant(func, right) {
                self.pack(func, region, op, rhs, packing.layout, cx);
            } else if defined_in(func, right) == Some(region)
                && (is_rewritable(func, right, region)
                    || self.symbols.bounds(&rows_of(func, root)).0 >= packing.fewest_rows)
            {
                self.want(func, region, op, rhs, &packing.layout, cx);
            }
        }
        let rank = func.ty(func.results(op)[0]).rank();
        self.around(func, region, op, &[lhs, rhs], &Layout::row_major(rank), cx);
        Ok(())
    }

    /// As its operand lies. What lies row-major is read with its channels last where a view does that. It is transposed
    /// where that is quick and channels fill vectors: windows along vectors read past their ends.
    fn pool(&mut self, func: &mut TensorFunc, region: RegionId, op: OpId, cx: &mut PassCx) {
        let x = func.operand(op, 0);
        let ty = func.ty(x);
        let last = Layout::channels_last(ty.rank());
        let side = self.target.layouts(func, op, self.symbols).transposed_square;
        let pixels =
            ty.shape[2..].iter().try_fold(1i64, |pixels, dim| Some(pixels.saturating_mul(dim.as_const()?)));
        let are_many = |side: i64| {
            ty.shape[1].as_const().is_some_and(|channels| channels >= side)
                && pixels.is_none_or(|n| n >= side)
        };
        let is_quick = ty.layout.is_none() && side.is_some_and(are_many);
        if is_quick || self.shown(func, x, &last).is_some() {
            self.want(func, region, op, 0, &last, cx);
        }
        let layout = func.ty(func.operand(op, 0)).layout_or_default();
        self.around(func, region, op, &[0], &layout, cx);
    }

    /// Operands of full rank, and results, get one layout; those of the root, `own`, have theirs.
    fn around(
        &mut self,
        func: &mut TensorFunc,
        region: RegionId,
        op: OpId,
        own: &[usize],
        layout: &Layout,
        cx: &mut PassCx,
    ) {
        let rank = layout.0.len();
        for i in (0..func.operands(op).len()).filter(|i| !own.contains(i)) {
            if func.ty(func.operand(op, i)).rank() == rank {
                self.want(func, region, op, i, layout, cx);
            }
        }
        if !layout.is_row_major() {
            for result in func.results(op).to_vec() {
                self.set_layout(func, result, layout.clone());
            }
        }
    }

    /// A map, row or concat kernel takes the layout of its widest operand that has one of its own; a kernel whose ops
    /// give axes a meaning (a transpose, a gather that adds axes) reads any layouts and writes row-major.
    fn follow(&mut self, func: &mut TensorFunc, region: RegionId, op: OpId, cx: &mut PassCx) {
        let types = views::types_of(func, op, &self.asserted);
        if let Some(renamed) = types.as_deref().and_then(<[_]>::last) {
            // Its operand got a layout just now. Who wants the result otherwise has the kernel write it so.
            if !arguments_lie_as_operands(func, op) {
                self.set_layout(func, func.result(op), renamed.layout_or_default());
            }
            return;
        }
        let rank = func.ty(func.results(op)[0]).rank();
        let wide = |ty: &TensorType| ty.shape.iter().filter(|dim| !dim.is_const(1)).count();
        let moved = |ty: &TensorType| ty.layout.as_ref().is_some_and(|own| !lies_row_major(&ty.shape, own));
        let operands = func.operands(op).iter().map(|value| func.ty(*value));
        let layouts = operands
            .filter(|ty| ty.rank() == rank && moved(ty))
            .max_by_key(|ty| wide(ty))
            .map(TensorType::layout_or_default);
        let Some(layout) = layouts else { return };
        let is_relayout = |op: &OpId| matches!(func.kind(*op), TensorOp::Relayout { .. });
        if permutes(func, op, rank) && !func.ops_in(func.regions_of(op)[0]).iter().any(is_relayout) {
            self.around(func, region, op, &[], &layout, cx);
        }
    }

    fn set_layout(&mut self, func: &mut TensorFunc, value: Value, layout: Layout) {
        let ty = func.ty(value).clone();
        if ty.layout_or_default() != layout {
            let layout = (!layout.is_row_major()).then(|| Box::new(layout));
            func.set_type(value, TensorType { layout, ..ty });
            self.changed = Changed::Yes;
        }
    }

    fn want_all_row_major(&mut self, func: &mut TensorFunc, region: RegionId, op: OpId, cx: &mut PassCx) {
        for i in 0..func.operands(op).len() {
            self.want_row_major(func, region, op, i, cx);
        }
    }

    fn want_row_major(
        &mut self,
        func: &mut TensorFunc,
        region: RegionId,
        op: OpId,
        i: usize,
        cx: &mut PassCx,
    ) {
        let layout = Layout::row_major(func.ty(func.operand(op, i)).rank());
        self.want(func, region, op, i, &layout, cx);
    }

    /// Makes operand `i` lie as `layout` says.
    fn want(
        &mut self,
        func: &mut TensorFunc,
        region: RegionId,
        op: OpId,
        i: usize,
        layout: &Layout,
        cx: &mut PassCx,
    ) {
        let value = func.operand(op, i);
        let ty = func.ty(value);
        if (ty.layout.is_none() && layout.is_row_major())
            || ty.layout_or_default().lies_alike(layout, &ty.shape)
        {
            return;
        }
        if is_rewritable(func, value, region) {
            if self.shown(func, value, layout).is_none() {
                let remark = || format!("operand {i} is written in the layout wanted");
                cx.remark_with(func.op(op).location.as_ref(), remark);
            }
            self.set_layout(func, value, layout.clone());
            return;
        }
        let relaid = self.relaid(func, region, value, layout, cx);
        func.set_operand(op, i, relaid);
    }

    /// A constant operand in another layout costs nothing at run time.
    fn pack(
        &mut self,
        func: &mut TensorFunc,
        region: RegionId,
        op: OpId,
        i: usize,
        layout: Layout,
        cx: &mut PassCx,
    ) {
        let value = func.operand(op, i);
        let relaid = self.relaid(func, region, value, &layout, cx);
        func.set_operand(op, i, relaid);
    }

    /// The kernel that computes a value, and the types of its ops, when in this layout it would only name axes anew.
    fn shown(&self, func: &TensorFunc, value: Value, layout: &Layout) -> Option<(OpId, Vec<TensorType>)> {
        let kernel = func.def_op(value)?;
        Some((kernel, views::types_in(func, kernel, layout, &self.asserted)?))
    }

    /// A value in a layout: a view where it is one, a bare `relayout` of a constant, a kernel of one else.
    fn relaid(
        &mut self,
        func: &mut TensorFunc,
        region: RegionId,
        value: Value,
        layout: &Layout,
        cx: &mut PassCx,
    ) -> Value {
        if let Some(made) = self.made.get(&(value, layout.clone())) {
            return *made;
        }
        let source = func.ty(value).clone();
        let relaid = TensorType { layout: Some(Box::new(layout.clone())), ..source.clone() };
        if let Some((kernel, types)) = self.shown(func, value, layout) {
            let view = views::show(func, region, kernel, types);
            self.changed = Changed::Yes;
            self.made.insert((value, layout.clone()), view);
            return view;
        }
        let location = func.def_op(value).and_then(|op| func.op(op).location.clone());
        let kind = TensorOp::Relayout { layout: layout.clone() };
        let made = if is_known_constant(func, value) {
            cx.count("packed", 1);
            let op = func.push_op(region, kind, &[value], [relaid], location);
            func.result(op)
        } else {
            cx.count("relayouts", 1);
            cx.remark(location.as_ref(), "its layout changes in a kernel of its own");
            let kernel = TensorOp::Kernel { class: KernelClass::Map };
            let plain = (!layout.is_row_major()).then(|| Box::new(layout.clone()));
            let result = TensorType { layout: plain, ..source.clone() };
            let op = func.push_op(region, kernel, &[value], [result], location.clone());
            let inside = func.regions_of(op)[0];
            let arg = func.add_arg(inside, source);
            let inner = func.push_op(inside, kind, &[arg], [relaid], location);
            let result = func.result(inner);
            func.push_op(inside, TensorOp::Yield {}, &[result], [], None);
            func.result(op)
        };
        self.changed = Changed::Yes;
        self.made.insert((value, layout.clone()), made);
        made
    }
}

/// The contraction, convolution or pool of a kernel.
fn root_of(func: &TensorFunc, kernel: OpId) -> Result<OpId, Diagnostics> {
    let is_root = |op: &OpId| {
        let kind = func.kind(*op);
        matches!(kind, TensorOp::Dot { .. } | TensorOp::Conv { .. } | TensorOp::WinogradConv { .. })
    };
    let found = func.ops_in(func.regions_of(kernel)[0]).iter().copied().find(is_root);
    found.ok_or_else(|| Diagnostic::internal("a kernel of a contraction holds none").into())
}

/// The rows of a contraction in normal form.
fn rows_of(func: &TensorFunc, dot: OpId) -> Dim {
    let shape = &func.ty(func.result(dot)).shape;
    shape[shape.rank() - 2].clone()
}

/// Whether operand `i` of a kernel is more than the right side of its contraction.
fn is_read_elsewhere(func: &TensorFunc, kernel: OpId, root: OpId, i: usize) -> bool {
    let arg = func.args(func.regions_of(kernel)[0])[i];
    func.operand(root, 0) == arg || func.users(arg).len() > 1
}

/// What is packed in a loop but made outside of it would be packed in every round.
fn defined_in(func: &TensorFunc, value: Value) -> Option<RegionId> {
    match func.def(value) {
        Def::Arg(region, _) => Some(region),
        Def::Result(op, _) => func.parent(op),
    }
}

fn lies_row_major(shape: &Shape, layout: &Layout) -> bool {
    layout.lies_alike(&Layout::row_major(shape.rank()), shape)
}

fn arguments_lie_as_operands(func: &TensorFunc, kernel: OpId) -> bool {
    let arguments = func.args(func.regions_of(kernel)[0]).iter();
    arguments
        .zip(func.operands(kernel))
        .all(|(arg, operand)| func.ty(*arg).layout == func.ty(*operand).layout)
}

/// Whether a value's kernel may write it in any layout: it moves or maps elements, and one op reads the result.
fn is_rewritable(func: &TensorFunc, value: Value, region: RegionId) -> bool {
    let Def::Result(op, _) = func.def(value) else { return false };
    matches!(func.kind(op), TensorOp::Kernel { class: KernelClass::Map })
        && func.users(value).len() == 1
        && func.results(op).len() == 1
        && func.parent(op) == Some(region)
        && !func
            .ops_in(func.regions_of(op)[0])
            .iter()
            .any(|op| matches!(func.kind(*op), TensorOp::Concat { .. }))
}

/// Whether every op of a kernel means the same after the axes of all its values of this rank are permuted alike.
fn permutes(func: &TensorFunc, kernel: OpId, rank: usize) -> bool {
    let full = |value: &Value| func.ty(*value).rank() == rank;
    func.ops_in(func.regions_of(kernel)[0]).iter().all(|op| match func.kind(*op) {
        TensorOp::Elementwise { .. }
        | TensorOp::Broadcast { .. }
        | TensorOp::Splat { .. }
        | TensorOp::Reduce { .. }
        | TensorOp::Relayout { .. }
        | TensorOp::Yield {} => true,
        TensorOp::Iota { .. } | TensorOp::Slice { .. } | TensorOp::Concat { .. } | TensorOp::Scan { .. } => {
            func.operands(*op).iter().chain(func.results(*op)).all(full)
        }
        TensorOp::Pad { .. } => full(&func.operand(*op, 0)),
        TensorOp::Gather { .. } => full(&func.operand(*op, 0)) && full(&func.result(*op)),
        _ => false,
    })
}
