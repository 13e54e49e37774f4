//! Tells TensorFlow's messages from ONNX's by their first fields: neither has a signature.

/// `SavedModel { 1: schema version, 2: MetaGraphDef { 1: MetaInfoDef, 2: GraphDef } }`, where an ONNX model has its version
/// and the name of its producer.
pub(super) fn is_saved_model(bytes: &[u8]) -> bool {
    let mut fields = Fields(bytes);
    let Some((1, Field::Number(1))) = fields.next() else { return false };
    let Some((2, Field::Bytes(meta_graph))) = fields.next() else { return false };
    let mut fields = Fields(meta_graph);
    let Some((1, Field::Bytes(_))) = fields.next() else { return false };
    matches!(fields.next(), Some((2, Field::Bytes(graph))) if is_graph_def(graph))
}

/// `GraphDef { 1: NodeDef { 1: name, 2: op } }`, where an ONNX model has a number first.
pub(super) fn is_graph_def(bytes: &[u8]) -> bool {
    let Some((1, Field::Bytes(node))) = Fields(bytes).next() else { return false };
    let mut fields = Fields(node);
    let Some((1, Field::Bytes(name))) = fields.next() else { return false };
    let Some((2, Field::Bytes(op))) = fields.next() else { return false };
    let is_op = |op: &[u8]| op.first().is_some_and(|first| first.is_ascii_uppercase() || *first == b'_');
    !name.is_empty() && name.is_ascii() && is_op(op) && op.iter().all(|byte| byte.is_ascii_graphic())
}

enum Field<'a> {
    Number(u64),
    /// Text, bytes or a message; as much of it as there is.
    Bytes(&'a [u8]),
    /// Of a type that nothing here asks for.
    Other,
}

/// The numbers and values of a message's fields, in order, up to what is no field.
struct Fields<'a>(&'a [u8]);

impl<'a> Iterator for Fields<'a> {
    type Item = (u64, Field<'a>);

    fn next(&mut self) -> Option<(u64, Field<'a>)> {
        let tag = self.number()?;
        let field = match tag & 7 {
            0 => Field::Number(self.number()?),
            1 => self.skip(8)?,
            2 => {
                let length = usize::try_from(self.number()?).ok()?.min(self.0.len());
                let (value, rest) = self.0.split_at(length);
                self.0 = rest;
                Field::Bytes(value)
            }
            5 => self.skip(4)?,
            _ => return None,
        };
        Some((tag >> 3, field))
    }
}

impl<'a> Fields<'a> {
    /// Seven bits a byte, the low ones first.
    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = self.0.split_first()?;
            self.0 = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    fn skip(&mut self, n: usize) -> Option<Field<'a>> {
        self.0 = self.0.get(n..)?;
        Some(Field::Other)
    }
}
