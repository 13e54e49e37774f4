//! Types of the tile level: `index`, `!tgt.tile<4x16xf32>` (static extents) and `!tgt.view<...>` (memory).

use smallvec::SmallVec;
use tegula_base::{DType, Dim, Shape};
use tegula_ir::TypeText;
use tegula_ir::mlir::Type;

/// A rectangle of elements in memory: symbolic extents, strides in elements. `strides[i]` may be 0.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ViewType {
    pub dtype: DType,
    pub shape: Shape,
    pub strides: Shape,
}

impl ViewType {
    /// Elements that follow each other, the last axis innermost.
    pub fn row_major(dtype: DType, shape: Shape) -> ViewType {
        let mut strides = vec![Dim::from(1); shape.rank()];
        for axis in (1..shape.rank()).rev() {
            strides[axis - 1] = strides[axis].clone() * shape[axis].clone();
        }
        ViewType { dtype, shape, strides: strides.into() }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TileType {
    /// A signed 64-bit size, offset or coordinate.
    Index,
    /// An SSA value of static extents, all at least 1; rank 0 is a scalar.
    Tile {
        dtype: DType,
        shape: SmallVec<[i64; 4]>,
    },
    View(Box<ViewType>),
}

impl TileType {
    pub fn tile(dtype: DType, shape: &[i64]) -> TileType {
        TileType::Tile { dtype, shape: shape.into() }
    }

    #[inline]
    pub fn as_tile(&self) -> Option<(DType, &[i64])> {
        match self {
            TileType::Tile { dtype, shape } => Some((*dtype, shape)),
            TileType::Index | TileType::View(_) => None,
        }
    }

    pub fn as_view(&self) -> Option<&ViewType> {
        match self {
            TileType::View(view) => Some(view),
            TileType::Index | TileType::Tile { .. } => None,
        }
    }
}

/// `!tgt.view<f32, [n,384], [384,1]>`.
impl TypeText for TileType {
    fn to_mlir(&self) -> Type {
        match self {
            TileType::Index => Type::Index,
            TileType::Tile { dtype, shape } => {
                let extents: String = shape.iter().map(|n| format!("{n}x")).collect();
                Type::Dialect(format!("tgt.tile<{extents}{dtype}>"))
            }
            TileType::View(view) => {
                Type::Dialect(format!("tgt.view<{}, {}, {}>", view.dtype, view.shape, view.strides))
            }
        }
    }

    fn from_mlir(ty: &Type) -> Result<TileType, String> {
        let body = match ty {
            Type::Index => return Ok(TileType::Index),
            Type::Dialect(body) => body.as_str(),
            _ => return Err("`index`, a tile or a view is expected".into()),
        };
        let inner = |prefix: &str| body.strip_prefix(prefix).and_then(|rest| rest.strip_suffix('>'));
        if let Some(text) = inner("tgt.tile<") {
            let mut parts: Vec<&str> = text.split('x').collect();
            let dtype = computed(parts.pop().unwrap_or_default())?;
            let extent = |part: &str| {
                part.parse::<i64>()
                    .ok()
                    .filter(|n| *n >= 1)
                    .ok_or_else(|| format!("`{part}` is no tile extent"))
            };
            let shape = parts.into_iter().map(extent).collect::<Result<_, _>>()?;
            return Ok(TileType::Tile { dtype, shape });
        }
        let text = inner("tgt.view<").ok_or("a tile or a view is expected")?;
        let error = || "a view is `!tgt.view<dtype, [extents], [strides]>`".to_string();
        let (dtype, rest) = text.split_once(", [").ok_or_else(error)?;
        let (shape, strides) = rest.split_once("], [").ok_or_else(error)?;
        let strides = strides.strip_suffix(']').ok_or_else(error)?;
        let (shape, strides) = (dims(shape)?, dims(strides)?);
        if shape.rank() != strides.rank() {
            return Err("a view has one stride an extent".into());
        }
        Ok(TileType::View(Box::new(ViewType { dtype: computed(dtype)?, shape, strides })))
    }
}

/// An element type that kernels compute with. Errors: none is called so, or it is only stored.
fn computed(name: &str) -> Result<DType, String> {
    let dtype: DType = name.parse()?;
    if dtype.is_stored_only() {
        Err(format!("{dtype} is only stored: kernels hold it as u8"))
    } else {
        Ok(dtype)
    }
}

/// Splits at commas outside of parentheses.
fn dims(text: &str) -> Result<Shape, String> {
    let (mut depth, mut start, mut out) = (0, 0, Vec::<Dim>::new());
    if text.trim().is_empty() {
        return Ok(Shape::scalar());
    }
    for (i, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                out.push(text[start..i].parse()?);
                start = i + 1;
            }
            _ => {}
        }
    }
    out.push(text[start..].parse()?);
    Ok(out.into())
}
