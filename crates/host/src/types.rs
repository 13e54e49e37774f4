//! The one type of the host level: a buffer of so many bytes, `!tgh.buffer<4*n>`.

use tegula_base::Dim;
use tegula_ir::TypeText;
use tegula_ir::mlir::Type;

/// Untyped memory; `bytes` is its size.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BufferType {
    pub bytes: Dim,
}

impl TypeText for BufferType {
    fn to_mlir(&self) -> Type {
        Type::Dialect(format!("tgh.buffer<{}>", self.bytes))
    }

    fn from_mlir(ty: &Type) -> Result<BufferType, String> {
        let Type::Dialect(body) = ty else { return Err("a buffer is expected".into()) };
        let bytes = body.strip_prefix("tgh.buffer<").and_then(|rest| rest.strip_suffix('>'));
        let bytes = bytes.ok_or("a buffer is expected")?;
        Ok(BufferType { bytes: bytes.parse()? })
    }
}
