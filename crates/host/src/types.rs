//! The one type of the host level: a buffer of so many bytes, `!tgh.buffer<4*n>`, on a device, `!tgh.buffer<4*n on 1>`.

use tegula_base::Dim;
use tegula_ir::TypeText;
use tegula_ir::mlir::Type;

/// Untyped memory; `bytes` is its size.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BufferType {
    pub bytes: Dim,
    /// The device's number in the package; 0 is the home.
    pub device: u32,
}

impl BufferType {
    /// Memory of the home.
    pub fn home(bytes: Dim) -> BufferType {
        BufferType { bytes, device: 0 }
    }
}

impl TypeText for BufferType {
    fn to_mlir(&self) -> Type {
        Type::Dialect(match self.device {
            0 => format!("tgh.buffer<{}>", self.bytes),
            device => format!("tgh.buffer<{} on {device}>", self.bytes),
        })
    }

    fn from_mlir(ty: &Type) -> Result<BufferType, String> {
        let Type::Dialect(body) = ty else { return Err("a buffer is expected".into()) };
        let body = body.strip_prefix("tgh.buffer<").and_then(|rest| rest.strip_suffix('>'));
        let body = body.ok_or("a buffer is expected")?;
        let (bytes, device) = match body.rsplit_once(" on ") {
            Some((bytes, device)) => (bytes, device.parse().map_err(|_| "a device has a number")?),
            None => (body, 0),
        };
        Ok(BufferType { bytes: bytes.parse()?, device })
    }
}
