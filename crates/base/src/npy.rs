//! NumPy's `.npy` format, bytes to tensor and back (versions 1 to 3).
//! In: a whole file's bytes.  Out: a row-major little-endian tensor; column-major files are transposed.
//! Element types that NumPy lacks (bf16, fp8, 4-bit) stand as a structure with one field named after the
//! type, `[('bf16', '<u2')]`: NumPy still loads the file, and the type is not lost.
//! `np.save` of an array of `ml_dtypes` names the width alone, `'<V2'`: such a file is read as the type that is wanted.
//! `x.view(ml_dtypes.bfloat16)` gives the numbers of either form.
//! Strings (`S` and `U`) are read as `u8` with one axis more: the bytes of UTF-8, filled up with zeros.
//! Source: numpy.lib.format, "Format Version 1.0".

use crate::{DType, Diagnostic, HostTensor};

const MAGIC: &[u8; 6] = b"\x93NUMPY";
/// The header is padded so that the data starts at a multiple of this many bytes.
const ALIGNMENT: usize = 64;

/// Reads a file's bytes.
/// Errors (`npy`): those of [`decode_as`], and a file that only says how wide its elements are.
pub fn decode(file: &[u8]) -> Result<HostTensor, Diagnostic> {
    decode_as(file, None)
}

/// As [`decode`]; `wanted` is the type of elements of which the file says only how wide they are. Others keep their own.
/// Errors (`npy`): not an `.npy` file, an element type that Tegula lacks, or fewer or more bytes than the shape needs.
pub fn decode_as(file: &[u8], wanted: Option<DType>) -> Result<HostTensor, Diagnostic> {
    let (header, data) = split(file)?;
    let Header { element, column_major, mut shape } = Header::parse(header)?;
    let text;
    let (dtype, data) = match element {
        Element::Number(dtype) => (dtype, data),
        Element::Unnamed(width) => (unnamed(width, wanted)?, data),
        Element::Bytes(width) => {
            shape.push(width);
            (DType::U8, data)
        }
        Element::Letters(letters) => {
            let width;
            (text, width) = in_utf8(data, letters)?;
            shape.push(width);
            (DType::U8, text.as_slice())
        }
    };
    if column_major && matches!(element, Element::Bytes(_) | Element::Letters(_)) && shape.len() > 2 {
        return Err(malformed("strings in column-major order").help("save it with `np.ascontiguousarray(x)`"));
    }
    let count = shape.iter().try_fold(1usize, |count, size| count.checked_mul(*size));
    let wanted = count.and_then(|count| count.checked_mul(dtype.size()));
    if wanted != Some(data.len()) {
        return Err(malformed(format!(
            "the file holds {} bytes of data, but {dtype}{shape:?} needs {}",
            data.len(),
            wanted.map_or("more than memory can hold".to_string(), |bytes| bytes.to_string()),
        )));
    }
    let bytes = if column_major && matches!(element, Element::Number(_) | Element::Unnamed(_)) {
        to_row_major(data, &shape, dtype.size())
    } else {
        data.to_vec()
    };
    Ok(HostTensor { dtype, shape, bytes })
}

/// How many axes a file's array has; `None` where it is no such file.
pub fn rank(file: &[u8]) -> Option<usize> {
    let (header, _) = split(file).ok()?;
    Header::parse(header).ok().map(|header| header.shape.len())
}

/// A version 1.0 file of the tensor.
pub fn encode(tensor: &HostTensor) -> Vec<u8> {
    let sizes: Vec<String> = tensor.shape.iter().map(usize::to_string).collect();
    let shape = match sizes.as_slice() {
        [one] => format!("({one},)"),
        sizes => format!("({})", sizes.join(", ")),
    };
    let descr = descr_of(tensor.dtype);
    let mut header = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}");
    let fixed = MAGIC.len() + 4;
    let padded = (fixed + header.len() + 1).next_multiple_of(ALIGNMENT);
    header.push_str(&" ".repeat(padded - fixed - header.len() - 1));
    header.push('\n');

    let mut file = Vec::with_capacity(padded + tensor.bytes.len());
    file.extend_from_slice(MAGIC);
    file.extend_from_slice(&[1, 0]);
    file.extend_from_slice(&(header.len() as u16).to_le_bytes());
    file.extend_from_slice(header.as_bytes());
    file.extend_from_slice(&tensor.bytes);
    file
}

/// Splits a file into the header's text and the data.
fn split(file: &[u8]) -> Result<(&str, &[u8]), Diagnostic> {
    let truncated = || malformed("the file ends within its header");
    let rest = file
        .strip_prefix(MAGIC)
        .ok_or_else(|| malformed("the file does not start with the .npy signature"))?;
    let (&[major, minor], rest) = rest.split_first_chunk::<2>().ok_or_else(truncated)?;
    let (length, rest) = match major {
        1 => {
            let (length, rest) = rest.split_first_chunk::<2>().ok_or_else(truncated)?;
            (u16::from_le_bytes(*length) as usize, rest)
        }
        2 | 3 => {
            let (length, rest) = rest.split_first_chunk::<4>().ok_or_else(truncated)?;
            (u32::from_le_bytes(*length) as usize, rest)
        }
        _ => return Err(malformed(format!("version {major}.{minor} of the .npy format is not known"))),
    };
    let (header, data) = rest.split_at_checked(length).ok_or_else(truncated)?;
    let header = std::str::from_utf8(header).map_err(|_| malformed("the header is not text"))?;
    Ok((header, data))
}

/// What an element is.
#[derive(Clone, Copy)]
enum Element {
    Number(DType),
    /// That many bytes, of a type that NumPy lacks.
    Unnamed(usize),
    /// That many bytes, of a string.
    Bytes(usize),
    /// That many code points of 4 bytes each.
    Letters(usize),
}

/// Strings of code points, little-endian, as bytes of UTF-8; and how many bytes each has room for.
fn in_utf8(data: &[u8], letters: usize) -> Result<(Vec<u8>, usize), Diagnostic> {
    let room = letters.saturating_mul(4).max(1);
    if !data.len().is_multiple_of(room) {
        return Err(malformed(format!(
            "the file's {} bytes of data are no strings of {room} bytes",
            data.len()
        )));
    }
    let mut texts = Vec::new();
    for text in data.chunks_exact(room) {
        let points = text.as_chunks::<4>().0.iter().map(|point| u32::from_le_bytes(*point));
        let letters = points.take_while(|point| *point != 0).map(char::from_u32);
        let text: Option<String> = letters.collect();
        texts.push(text.ok_or_else(|| malformed("a string holds what is no letter of Unicode"))?);
    }
    let width = texts.iter().map(String::len).max().unwrap_or(0).max(1);
    let mut bytes = vec![0; width * texts.len()];
    for (row, text) in bytes.chunks_exact_mut(width).zip(&texts) {
        row[..text.len()].copy_from_slice(text.as_bytes());
    }
    Ok((bytes, width))
}

struct Header {
    element: Element,
    column_major: bool,
    shape: Vec<usize>,
}

impl Header {
    /// Parses the header, a Python dict literal with the keys `descr`, `fortran_order` and `shape`.
    fn parse(text: &str) -> Result<Header, Diagnostic> {
        let mut cursor = Cursor { rest: text };
        let (mut element, mut column_major, mut shape) = (None, None, None);
        cursor.expect("{")?;
        while !cursor.eat("}") {
            let key = cursor.string()?;
            cursor.expect(":")?;
            match key {
                "descr" => element = Some(cursor.descr()?),
                "fortran_order" => column_major = Some(cursor.boolean()?),
                "shape" => shape = Some(cursor.sizes()?),
                _ => return Err(malformed(format!("the header has an unknown key `{key}`"))),
            }
            cursor.eat(",");
        }
        match (element, column_major, shape) {
            (Some(element), Some(column_major), Some(shape)) => Ok(Header { element, column_major, shape }),
            _ => Err(malformed("the header lacks `descr`, `fortran_order` or `shape`")),
        }
    }
}

/// The unread part of a header.
struct Cursor<'a> {
    rest: &'a str,
}

impl<'a> Cursor<'a> {
    fn eat(&mut self, token: &str) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, token: &str) -> Result<(), Diagnostic> {
        if self.eat(token) { Ok(()) } else { Err(self.unexpected(token)) }
    }

    fn unexpected(&self, wanted: &str) -> Diagnostic {
        let seen: String = self.rest.chars().take(16).collect();
        malformed(format!("the header has `{seen}` where `{wanted}` is expected"))
    }

    fn string(&mut self) -> Result<&'a str, Diagnostic> {
        let quote = if self.eat("'") {
            '\''
        } else if self.eat("\"") {
            '"'
        } else {
            return Err(self.unexpected("'"));
        };
        let (text, rest) = self.rest.split_once(quote).ok_or_else(|| self.unexpected("'"))?;
        self.rest = rest;
        Ok(text)
    }

    fn boolean(&mut self) -> Result<bool, Diagnostic> {
        if self.eat("True") {
            return Ok(true);
        }
        self.expect("False").map(|()| false)
    }

    fn sizes(&mut self) -> Result<Vec<usize>, Diagnostic> {
        let mut sizes = Vec::new();
        self.expect("(")?;
        while !self.eat(")") {
            self.rest = self.rest.trim_start();
            let end = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
            let (digits, rest) = self.rest.split_at(end);
            sizes.push(digits.parse().map_err(|_| self.unexpected("a size"))?);
            self.rest = rest;
            self.eat("L"); // Python 2 wrote long integers so.
            self.eat(",");
        }
        Ok(sizes)
    }

    /// `'<f4'`, `'|S5'`, or `[('bf16', '<u2')]` for a type that NumPy lacks.
    fn descr(&mut self) -> Result<Element, Diagnostic> {
        if !self.eat("[") {
            let descr = self.string()?;
            let room = |stem: &str| descr.strip_prefix(stem)?.parse().ok();
            if let Some(width) = room("<V").or_else(|| room("|V")) {
                return Ok(Element::Unnamed(width));
            }
            return Ok(match (room("|S"), room("<U")) {
                (Some(bytes), _) => Element::Bytes(bytes),
                (_, Some(letters)) => Element::Letters(letters),
                _ => Element::Number(plain_dtype(descr)?),
            });
        }
        self.expect("(")?;
        let name = self.string()?;
        self.expect(",")?;
        let storage = plain_dtype(self.string()?)?;
        self.eat(",");
        self.expect(")")?;
        self.eat(",");
        self.expect("]")?;
        let dtype: DType = name.parse().map_err(|_| unknown_type(name))?;
        if storage.size() != dtype.size() {
            return Err(malformed(format!("`{name}` takes {} bytes, not those of {storage}", dtype.size())));
        }
        Ok(Element::Number(dtype))
    }
}

/// The type of elements that are `width` bytes wide and none of NumPy's.
fn unnamed(width: usize, wanted: Option<DType>) -> Result<DType, Diagnostic> {
    let fits = |dtype: &DType| dtype.size() == width && descr_of(*dtype).starts_with('[');
    match wanted.filter(fits) {
        Some(dtype) => Ok(dtype),
        None if width == DType::BF16.size() => Ok(DType::BF16),
        None => {
            Err(malformed(format!("the file does not say which type its elements of {width} bytes have"))
                .help("save them as a structure that names it: `x.view([('f8e4m3fn', '|u1')])`"))
        }
    }
}

fn plain_dtype(descr: &str) -> Result<DType, Diagnostic> {
    if descr.starts_with('>') {
        return Err(malformed(format!("big-endian data (`{descr}`)"))
            .help("save it with `x.astype('<' + x.dtype.str[1:])`"));
    }
    Ok(match descr.trim_start_matches(['<', '|', '=']) {
        "b1" | "?" => DType::Bool,
        "i1" => DType::I8,
        "u1" => DType::U8,
        "i2" => DType::I16,
        "u2" => DType::U16,
        "i4" => DType::I32,
        "u4" => DType::U32,
        "i8" => DType::I64,
        "u8" => DType::U64,
        "f2" => DType::F16,
        "f4" => DType::F32,
        "f8" => DType::F64,
        // So `ml_dtypes` has it; NumPy has no float of one byte.
        "f1" => DType::F8E5M2,
        _ => return Err(unknown_type(descr)),
    })
}

fn descr_of(dtype: DType) -> String {
    let plain = match dtype {
        DType::Bool => "|b1",
        DType::I8 => "|i1",
        DType::U8 => "|u1",
        DType::I16 => "<i2",
        DType::U16 => "<u2",
        DType::I32 => "<i4",
        DType::U32 => "<u4",
        DType::I64 => "<i8",
        DType::U64 => "<u8",
        DType::F16 => "<f2",
        DType::F32 => "<f4",
        DType::F64 => "<f8",
        DType::BF16 => return format!("[('{dtype}', '<u2')]"),
        DType::I2 | DType::I4 => return format!("[('{dtype}', '|i1')]"),
        DType::U2
        | DType::U4
        | DType::F4E2M1
        | DType::F6E2M3
        | DType::F6E3M2
        | DType::F8E4M3FN
        | DType::F8E4M3FNUZ
        | DType::F8E5M2
        | DType::F8E5M2FNUZ
        | DType::F8E8M0 => return format!("[('{dtype}', '|u1')]"),
    };
    format!("'{plain}'")
}

/// Reorders column-major elements of `size` bytes each.
fn to_row_major(data: &[u8], shape: &[usize], size: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(data.len());
    let mut index = vec![0usize; shape.len()];
    for _ in 0..data.len() / size {
        // Horner's rule from the last axis: the first axis has stride 1.
        let at = index.iter().zip(shape).rev().fold(0, |at, (i, n)| at * n + i);
        bytes.extend_from_slice(&data[at * size..(at + 1) * size]);
        for (i, n) in index.iter_mut().zip(shape).rev() {
            *i += 1;
            if *i < *n {
                break;
            }
            *i = 0;
        }
    }
    bytes
}

fn unknown_type(descr: &str) -> Diagnostic {
    let names: Vec<&str> = DType::ALL.iter().map(|dtype| dtype.name()).collect();
    malformed(format!("element type `{descr}` is not known")).help(format!("known: {}", names.join(", ")))
}

fn malformed(message: impl Into<String>) -> Diagnostic {
    Diagnostic::error("npy", message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(header: &str, data: &[u8]) -> Vec<u8> {
        let mut file = b"\x93NUMPY\x01\x00".to_vec();
        file.extend_from_slice(&(header.len() as u16).to_le_bytes());
        file.extend_from_slice(header.as_bytes());
        file.extend_from_slice(data);
        file
    }

    #[test]
    fn every_type_comes_back() {
        for dtype in DType::ALL {
            for shape in [vec![], vec![0], vec![3], vec![2, 3]] {
                let mut tensor = HostTensor::zeros(dtype, &shape);
                tensor.bytes.iter_mut().enumerate().for_each(|(i, byte)| *byte = i as u8 % 2);
                let file = encode(&tensor);
                assert_eq!((file.len() - tensor.bytes.len()) % ALIGNMENT, 0);
                assert_eq!(decode(&file), Ok(tensor));
            }
        }
    }

    #[test]
    fn column_major_is_transposed() {
        // np.asfortranarray([[1, 2, 3], [4, 5, 6]], dtype=np.uint8) stores 1 4 2 5 3 6.
        let file = file("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }\n", &[1, 4, 2, 5, 3, 6]);
        assert_eq!(decode(&file).map(|tensor| tensor.bytes), Ok(vec![1, 2, 3, 4, 5, 6]));
    }

    #[test]
    fn keys_come_in_any_order_and_either_quote() {
        let file = file("{\"shape\": (2,), 'fortran_order': False, 'descr': '<i2'}", &[1, 0, 2, 0]);
        assert_eq!(decode(&file), Ok(HostTensor::from_elements(&[2], &[1i16, 2])));
    }

    /// What `np.save` writes of arrays of `ml_dtypes`.
    #[test]
    fn unnamed_types_are_those_that_are_wanted() {
        let saved = |descr: &str, data: &[u8]| {
            file(&format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (2,), }}\n"), data)
        };
        let (two, one) = (saved("<V2", &[128, 63, 0, 192]), saved("<V1", &[56, 184]));
        let dtype = |file: &[u8], wanted| decode_as(file, wanted).map(|tensor| tensor.dtype).ok();
        assert_eq!(decode(&two).map(|tensor| tensor.to_f64()), Ok(vec![1.0, -2.0]));
        assert_eq!(dtype(&two, Some(DType::F16)), Some(DType::BF16));
        assert_eq!(decode_as(&one, Some(DType::F8E4M3FN)).map(|tensor| tensor.to_f64()), Ok(vec![1.0, -1.0]));
        assert_eq!(dtype(&one, Some(DType::I4)), Some(DType::I4));
        assert_eq!(
            (dtype(&one, None), dtype(&one, Some(DType::U8)), dtype(&one, Some(DType::BF16))),
            (None, None, None)
        );
        assert_eq!(dtype(&saved("<f1", &[60, 188]), None), Some(DType::F8E5M2));
        assert_eq!(dtype(&saved("|V3", &[0; 6]), None), None);
    }

    #[test]
    fn strings_are_bytes_along_one_axis_more() {
        let narrow = file("{'descr': '|S2', 'fortran_order': False, 'shape': (2,), }\n", b"a\0bc");
        assert_eq!(decode(&narrow), Ok(HostTensor::from_elements(&[2, 2], &[97u8, 0, 98, 99])));
        // np.array(['ä', 'b'])
        let points: Vec<u8> = ['ä', 'b'].iter().flat_map(|letter| (*letter as u32).to_le_bytes()).collect();
        let wide = file("{'descr': '<U1', 'fortran_order': False, 'shape': (2,), }\n", &points);
        assert_eq!(decode(&wide), Ok(HostTensor::from_elements(&[2, 2], &[195u8, 164, 98, 0])));
    }

    #[test]
    fn damaged_files_are_refused() {
        let good = encode(&HostTensor::from_elements(&[2, 2], &[1f32, 2.0, 3.0, 4.0]));
        for length in 0..good.len() {
            assert!(decode(&good[..length]).is_err(), "{length} bytes of {}", good.len());
        }
        for header in [
            "{}",
            "{'descr': '>f4', 'fortran_order': False, 'shape': ()}",
            "{'descr': '<c8', 'fortran_order': False, 'shape': ()}",
            "{'descr': '<f4', 'fortran_order': maybe, 'shape': ()}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (18446744073709551615, 4)}",
            "{'descr': '<U1', 'fortran_order': False, 'shape': (2,)}",
            "{'descr': '<U18446744073709551615', 'fortran_order': False, 'shape': (1,)}",
            "{'descr': [('bf16', '<u4')], 'fortran_order': False, 'shape': ()}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (1",
        ] {
            assert!(decode(&file(header, &[0; 4])).is_err(), "{header}");
        }
    }
}
