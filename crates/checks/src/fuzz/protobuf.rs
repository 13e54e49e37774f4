//! Protobuf as a tree of fields, without a schema: enough to damage a message and have its lengths right again.
//! Source: Protocol Buffers, "Encoding".

use tegula_testkit::random::Rng;

/// A field and what it holds.
#[derive(Clone, Debug)]
pub struct Field {
    number: u64,
    value: Value,
}

#[derive(Clone, Debug)]
enum Value {
    Varint(u64),
    Fixed64([u8; 8]),
    Fixed32([u8; 4]),
    Bytes(Vec<u8>),
    /// Bytes that read as a message to the end.
    Message(Vec<Field>),
}

/// `None`: the bytes are no message.
pub fn read(bytes: &[u8]) -> Option<Vec<Field>> {
    let mut rest = bytes;
    let mut fields = vec![];
    while !rest.is_empty() {
        let key = varint(&mut rest)?;
        let number = key >> 3;
        if number == 0 || number > 1 << 16 {
            return None;
        }
        let value = match key & 7 {
            0 => Value::Varint(varint(&mut rest)?),
            1 => Value::Fixed64(take(&mut rest, 8)?.try_into().ok()?),
            2 => {
                let len = usize::try_from(varint(&mut rest)?).ok()?;
                let inner = take(&mut rest, len)?;
                // Names read as messages now and then; damage to them is as good.
                match read(inner) {
                    Some(fields) if !fields.is_empty() => Value::Message(fields),
                    _ => Value::Bytes(inner.to_vec()),
                }
            }
            5 => Value::Fixed32(take(&mut rest, 4)?.try_into().ok()?),
            _ => return None,
        };
        fields.push(Field { number, value });
    }
    Some(fields)
}

pub fn write(fields: &[Field]) -> Vec<u8> {
    let mut bytes = vec![];
    for Field { number, value } in fields {
        let (wire, payload) = match value {
            Value::Varint(n) => (0, encoded(*n)),
            Value::Fixed64(raw) => (1, raw.to_vec()),
            Value::Fixed32(raw) => (5, raw.to_vec()),
            Value::Bytes(raw) => (2, [encoded(raw.len() as u64), raw.clone()].concat()),
            Value::Message(fields) => {
                let raw = write(fields);
                (2, [encoded(raw.len() as u64), raw].concat())
            }
        };
        bytes.extend(encoded(number << 3 | wire));
        bytes.extend(payload);
    }
    bytes
}

fn take<'a>(rest: &mut &'a [u8], n: usize) -> Option<&'a [u8]> {
    let (taken, after) = rest.split_at_checked(n)?;
    *rest = after;
    Some(taken)
}

fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut n = 0u64;
    for shift in (0..70).step_by(7) {
        let byte = take(rest, 1)?[0];
        n |= u64::from(byte & 0x7f).checked_shl(shift)?;
        if byte & 0x80 == 0 {
            return Some(n);
        }
    }
    None
}

fn encoded(mut n: u64) -> Vec<u8> {
    let mut bytes = vec![];
    loop {
        let low = (n & 0x7f) as u8;
        n >>= 7;
        if n == 0 {
            bytes.push(low);
            return bytes;
        }
        bytes.push(low | 0x80);
    }
}

/// Numbers that sizes, axes and enums stumble over.
const NUMBERS: [u64; 16] = [
    0,
    1,
    2,
    3,
    7,
    11,
    16,
    64,
    255,
    1 << 16,
    (1 << 31) - 1,
    1 << 31,
    1 << 40,
    i64::MAX as u64,
    i64::MIN as u64,
    u64::MAX,
];

/// Damages one field somewhere in the tree; `others` are fields of another message to take.
pub fn damage(rng: &mut Rng, fields: &mut Vec<Field>, others: &[Field]) {
    if fields.is_empty() {
        fields.extend(others.first().cloned());
        return;
    }
    let at = rng.below(fields.len());
    if let Value::Message(inner) = &mut fields[at].value
        && rng.chance(75)
    {
        return damage(rng, inner, others);
    }
    match rng.below(8) {
        0 => {
            fields.remove(at);
        }
        1 => fields.insert(at, fields[at].clone()),
        2 => {
            let to = rng.below(fields.len());
            fields.swap(at, to);
        }
        3 => {
            let from = rng.below(fields.len());
            fields[at].value = fields[from].value.clone();
        }
        4 if !others.is_empty() => {
            let taken = any_of(rng, others);
            fields.insert(at, taken);
        }
        5 => fields[at].number = rng.between(1, 40) as u64,
        _ => value(rng, &mut fields[at].value),
    }
}

fn any_of(rng: &mut Rng, fields: &[Field]) -> Field {
    let field = rng.pick(fields);
    match &field.value {
        Value::Message(inner) if !inner.is_empty() && rng.chance(70) => any_of(rng, inner),
        _ => field,
    }
}

fn value(rng: &mut Rng, value: &mut Value) {
    match value {
        Value::Varint(n) => {
            *n = if rng.chance(70) { rng.pick(&NUMBERS) } else { n.wrapping_add(rng.between(-2, 2) as u64) }
        }
        Value::Fixed64(raw) => *raw = rng.pick(&NUMBERS).to_le_bytes(),
        Value::Fixed32(raw) => {
            *raw = rng.pick(&[0u32, 1, 0x7f80_0000, 0x7fc0_0000, u32::MAX, 0x8000_0000]).to_le_bytes()
        }
        Value::Bytes(raw) => super::mutate::bytes(rng, raw),
        Value::Message(fields) => *value = Value::Bytes(write(fields)),
    }
}

/// `y = Add(x, w)`, `y = Reshape(x, [-1])` and `y = Gemm(x, w)` over small tensors, opset 17.
pub fn small_models() -> Vec<Vec<u8>> {
    let text = |number, text: &str| Field { number, value: Value::Bytes(text.as_bytes().to_vec()) };
    let number = |number, n| Field { number, value: Value::Varint(n) };
    let message = |number, fields| Field { number, value: Value::Message(fields) };
    let ty = |dims: &[u64]| {
        let dims = dims.iter().map(|n| message(1, vec![number(1, *n)])).collect();
        message(2, vec![message(1, vec![number(1, 1), message(2, dims)])])
    };
    ["Add", "MatMul", "Gemm", "Reshape", "Concat", "Softmax", "Conv"]
        .into_iter()
        .map(|op| {
            let mut node = vec![text(1, "x"), text(1, "w"), text(2, "y"), text(3, "node"), text(4, op)];
            if op == "Concat" {
                node.push(message(5, vec![text(1, "axis"), number(3, 1), number(20, 2)]));
            }
            let raw = Value::Bytes(vec![0x3f; 64]);
            let weight =
                vec![number(1, 4), number(1, 4), number(2, 1), text(8, "w"), Field { number: 9, value: raw }];
            let graph = vec![
                message(1, node),
                text(2, "graph"),
                message(5, weight),
                message(11, vec![text(1, "x"), ty(&[4, 4])]),
                message(12, vec![text(1, "y"), ty(&[4, 4])]),
            ];
            write(&[number(1, 8), message(7, graph), message(8, vec![text(1, ""), number(2, 17)])])
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_undamaged_message_is_written_as_it_was_read() {
        for model in small_models() {
            assert_eq!(write(&read(&model).expect("a message")), model);
        }
    }

    #[test]
    fn damage_leaves_a_message() {
        let models = small_models();
        let mut rng = Rng::new(1);
        let others = read(&models[1]).expect("a message");
        let mut changed = 0;
        for _ in 0..500 {
            let mut fields = read(&models[0]).expect("a message");
            damage(&mut rng, &mut fields, &others);
            let bytes = write(&fields);
            assert!(read(&bytes).is_some());
            changed += usize::from(bytes != models[0]);
        }
        assert!(changed > 300, "{changed} of 500");
    }

    #[test]
    fn what_is_no_message_is_refused() {
        for bytes in [&[0x08][..], &[0x0a, 5, 1], &[0x03], &[0xff; 12]] {
            assert!(read(bytes).is_none(), "{bytes:?}");
        }
    }
}
