//! The type of a tensor value: `tensor<2x?xf32, {dims = ["batch"], layout = ["1", "0"]}>`.
//! `?` dims are listed in order under `dims`; the encoding is left out when there is nothing to say.

use crate::Layout;
use tegula_base::{DType, Dim, Shape};
use tegula_ir::mlir::{Attr, Type};
use tegula_ir::{AttrText, TypeText, dtype_of, element_type};

/// The most that one tensor may take: the address space of a process on x86-64 and AArch64. Sums of a few such sizes
/// stay far below what `i64` holds.
pub const MAX_BYTES: u128 = 1 << 47;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TensorType {
    pub dtype: DType,
    pub shape: Shape,
    /// `None` is row-major.
    pub layout: Option<Box<Layout>>,
}

impl TensorType {
    pub fn new(dtype: DType, shape: impl Into<Shape>) -> TensorType {
        TensorType { dtype, shape: shape.into(), layout: None }
    }

    pub fn scalar(dtype: DType) -> TensorType {
        TensorType::new(dtype, Shape::scalar())
    }

    pub fn rank(&self) -> usize {
        self.shape.rank()
    }

    /// Bytes that the constant dims ask for at least, whatever the symbols are; 0 where one of them is 0.
    pub fn least_bytes(&self) -> u128 {
        let constant = self.shape.iter().filter_map(Dim::as_const).map(|n| n.max(0) as u128);
        constant.fold(self.dtype.size() as u128, u128::saturating_mul)
    }

    /// Bytes of the tensor's buffer, padding of its layout included.
    pub fn buffer_bytes(&self) -> Dim {
        let count = match &self.layout {
            Some(layout) => layout.physical_shape(&self.shape).count(),
            None => self.shape.count(),
        };
        count * Dim::from(self.dtype.size())
    }

    /// Whether no size is negative and a process could hold the tensor; `false` says nothing.
    pub(crate) fn is_sound(&self) -> bool {
        let extent = |dim: &Dim| u64::try_from(dim.as_const().unwrap_or(1)).ok();
        let mut dims = self.shape.iter();
        let bytes = dims.try_fold(self.dtype.size() as u64, |bytes, dim| bytes.checked_mul(extent(dim)?));
        bytes.is_some_and(|bytes| u128::from(bytes) <= MAX_BYTES)
    }

    /// Errors: no process could hold the tensor, see [`MAX_BYTES`].
    pub fn check_size(&self) -> Result<(), String> {
        let bytes = self.least_bytes();
        if bytes <= MAX_BYTES {
            return Ok(());
        }
        Err(format!("{self} takes {:.1e} bytes, more than the 2^47 that a process can address", bytes as f64))
    }

    pub fn with_layout(self, layout: Layout) -> TensorType {
        TensorType { layout: (!layout.is_row_major()).then(|| Box::new(layout)), ..self }
    }

    /// The layout, row-major where none is set.
    pub fn layout_or_default(&self) -> Layout {
        self.layout.as_deref().cloned().unwrap_or_else(|| Layout::row_major(self.rank()))
    }

    /// Whether this, a transpose of `from`, has each element where that has it.
    pub fn shows(&self, from: &TensorType, perm: &[usize]) -> bool {
        let renamed = from.layout_or_default().transposed(perm);
        renamed.is_some_and(|layout| layout.lies_alike(&self.layout_or_default(), &self.shape))
    }
}

/// `f32[2,batch]`.
impl std::fmt::Display for TensorType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}", self.dtype, self.shape)
    }
}

impl TypeText for TensorType {
    fn to_mlir(&self) -> Type {
        let shape = self.shape.iter().map(|dim| dim.as_const().and_then(|n| u64::try_from(n).ok())).collect();
        let symbolic: Vec<Dim> =
            self.shape.iter().filter(|dim| dim.as_const().is_none_or(|n| n < 0)).cloned().collect();
        let mut entries = Vec::new();
        if !symbolic.is_empty() {
            let dims = symbolic.iter().map(|dim| tegula_ir::attr::string(dim.to_string())).collect();
            entries.push(("dims".to_string(), Attr::Array(dims)));
        }
        if let Some(layout) = &self.layout {
            entries.push(("layout".to_string(), layout.to_attr()));
        }
        let encoding = (!entries.is_empty()).then(|| Box::new(Attr::Dictionary(entries)));
        Type::RankedTensor { shape, element: Box::new(element_type(self.dtype)), encoding }
    }

    fn from_mlir(ty: &Type) -> Result<TensorType, String> {
        let Type::RankedTensor { shape, element, encoding } = ty else {
            return Err("a ranked tensor type is expected".into());
        };
        let entry = |name: &str| match encoding.as_deref() {
            Some(Attr::Dictionary(entries)) => {
                entries.iter().find(|(key, _)| key == name).map(|(_, attr)| attr)
            }
            _ => None,
        };
        let symbolic = match entry("dims") {
            Some(attr) => Vec::<Dim>::from_attr(attr)?,
            None => vec![],
        };
        let mut symbolic = symbolic.into_iter();
        let dims = shape
            .iter()
            .map(|extent| match extent {
                Some(n) => i64::try_from(*n).map(Dim::from).map_err(|_| "a dim is too large".to_string()),
                None => symbolic.next().ok_or_else(|| "`dims` must name every `?`".to_string()),
            })
            .collect::<Result<Shape, String>>()?;
        if symbolic.next().is_some() {
            return Err("`dims` names more dims than there are `?`".into());
        }
        let layout = entry("layout").map(Layout::from_attr).transpose()?.map(Box::new);
        Ok(TensorType { dtype: dtype_of(element)?, shape: dims, layout })
    }
}
