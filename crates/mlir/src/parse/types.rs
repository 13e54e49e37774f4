//! Types: the built-in ones to their tree, dialect types verbatim.

use super::{Parser, Result};
use crate::ast::{Attr, Sign, Type};
use crate::lexer::Kind;

/// The widest integer type that upstream builds, in bits (`IntegerType::kMaxWidth`).
const MAX_INTEGER_WIDTH: u32 = (1 << 24) - 1;

/// Every float type that MLIR 22 spells without a dialect.
const FLOATS: [&str; 18] = [
    "f16",
    "bf16",
    "f32",
    "f64",
    "tf32",
    "f80",
    "f128",
    "f8E5M2",
    "f8E4M3",
    "f8E4M3FN",
    "f8E5M2FNUZ",
    "f8E4M3FNUZ",
    "f8E4M3B11FNUZ",
    "f8E3M4",
    "f8E8M0FNU",
    "f6E2M3FN",
    "f6E3M2FN",
    "f4E2M1FN",
];

/// Whether a built-in type begins with this word.
pub(super) fn starts_type(word: &str) -> bool {
    let compound = matches!(word, "index" | "none" | "complex" | "tuple" | "tensor" | "vector" | "memref");
    compound || FLOATS.contains(&word) || is_integer_type(word)
}

/// `i32`, `si8`, `ui16`.
fn is_integer_type(word: &str) -> bool {
    let digits = word.strip_prefix(['s', 'u']).unwrap_or(word).strip_prefix('i').unwrap_or_default();
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
}

impl Parser<'_> {
    pub(super) fn ty(&mut self) -> Result<Type> {
        self.nested(|p| match p.token.kind {
            Kind::LParen => {
                p.function_type("of a function type").map(|(inputs, results)| Type::Function(inputs, results))
            }
            _ => p.plain_type(),
        })
    }

    /// `(a, b) -> c` or `(a, b) -> (c, d)`; `context` says in errors where the arrow belongs.
    pub(super) fn function_type(&mut self, context: &str) -> Result<(Vec<Type>, Vec<Type>)> {
        self.expect(Kind::LParen, context)?;
        let inputs = self.list(Kind::RParen, "after a type", Self::ty)?;
        self.expect(Kind::Arrow, context)?;
        let results = match self.eat(Kind::LParen) {
            true => self.list(Kind::RParen, "after a type", Self::ty)?,
            false => vec![self.nested(Self::plain_type)?],
        };
        Ok((inputs, results))
    }

    /// Any type but a function type.
    fn plain_type(&mut self) -> Result<Type> {
        if self.at(Kind::Bang) {
            return Ok(match self.dialect_symbol()? {
                (text, true) => Type::Dialect(text),
                (name, false) => Type::Alias(name),
            });
        }
        if !self.at(Kind::Word) || !starts_type(self.spelling()) {
            return Err(self.fail("a type"));
        }
        match self.spelling() {
            "index" => self.word_type(Type::Index),
            "none" => self.word_type(Type::None),
            "complex" => {
                self.open_type()?;
                let element = self.ty()?;
                self.close_type()?;
                Ok(Type::Complex(Box::new(element)))
            }
            "tuple" => {
                self.open_type()?;
                Ok(Type::Tuple(self.list(Kind::Greater, "after a type", Self::ty)?))
            }
            "tensor" => self.tensor(),
            "vector" => self.vector(),
            "memref" => self.memref(),
            float if FLOATS.contains(&float) => self.word_type(Type::Float(float.to_owned())),
            _ => self.integer_type(),
        }
    }

    fn word_type(&mut self, ty: Type) -> Result<Type> {
        self.advance();
        Ok(ty)
    }

    fn integer_type(&mut self) -> Result<Type> {
        let word = self.spelling();
        let (sign, digits) = match word.as_bytes()[0] {
            b's' => (Sign::Signed, &word[2..]),
            b'u' => (Sign::Unsigned, &word[2..]),
            _ => (Sign::Signless, &word[1..]),
        };
        match digits.parse() {
            Ok(width) if width <= MAX_INTEGER_WIDTH => self.word_type(Type::Integer { width, sign }),
            _ => Err(self.fail(&format!("an integer type of at most {MAX_INTEGER_WIDTH} bits"))),
        }
    }

    /// The keyword and `<`.
    fn open_type(&mut self) -> Result<()> {
        let keyword = self.spelling();
        self.advance();
        self.expect(Kind::Less, &format!("after `{keyword}`")).map(|_| ())
    }

    fn close_type(&mut self) -> Result<()> {
        self.expect(Kind::Greater, "at the end of the type").map(|_| ())
    }

    fn tensor(&mut self) -> Result<Type> {
        self.open_type()?;
        if self.at(Kind::Star) {
            let element = self.unranked_element()?;
            self.close_type()?;
            return Ok(Type::UnrankedTensor(element));
        }
        let shape = self.shape()?;
        let element = Box::new(self.ty()?);
        let encoding = if self.eat(Kind::Comma) { Some(Box::new(self.attr()?)) } else { None };
        self.close_type()?;
        Ok(Type::RankedTensor { shape, element, encoding })
    }

    fn vector(&mut self) -> Result<Type> {
        self.open_type()?;
        let shape = self.dimensions(|p| match p.eat_byte(b'[') {
            false => Ok((p.dimension()?, false)),
            true => {
                let size = p.dimension()?;
                match p.eat_byte(b']') {
                    true => Ok((size, true)),
                    false => Err(p.fail_here("`]` after a scalable dimension")),
                }
            }
        })?;
        let element = Box::new(self.ty()?);
        self.close_type()?;
        Ok(Type::Vector { shape, element })
    }

    fn memref(&mut self) -> Result<Type> {
        self.open_type()?;
        if self.at(Kind::Star) {
            let element = self.unranked_element()?;
            return Ok(Type::UnrankedMemRef { element, trailing: self.trailing_attrs()? });
        }
        let shape = self.shape()?;
        let element = Box::new(self.ty()?);
        Ok(Type::MemRef { shape, element, trailing: self.trailing_attrs()? })
    }

    /// `, layout, space>`.
    fn trailing_attrs(&mut self) -> Result<Vec<Attr>> {
        let mut attrs = Vec::new();
        while self.eat(Kind::Comma) {
            attrs.push(self.attr()?);
        }
        self.close_type()?;
        Ok(attrs)
    }

    /// `*xf32`.
    fn unranked_element(&mut self) -> Result<Box<Type>> {
        self.lexer.seek(self.token.end);
        if !self.eat_byte(b'x') {
            return Err(self.fail_here("`x` after `*`"));
        }
        self.advance();
        Ok(Box::new(self.ty()?))
    }

    fn shape(&mut self) -> Result<Vec<Option<u64>>> {
        self.dimensions(|p| if p.eat_byte(b'?') { Ok(None) } else { p.dimension().map(Some) })
    }

    /// Dimensions up to the element type.  They are read by characters, as `0xf32` is no hex number here.
    fn dimensions<T>(&mut self, read: impl Fn(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let mut dims = Vec::new();
        self.lexer.seek(self.token.start);
        while matches!(self.peek_byte(), b'0'..=b'9' | b'?' | b'[') {
            dims.push(read(self)?);
            if !self.eat_byte(b'x') {
                return Err(self.fail_here("`x` after a dimension"));
            }
        }
        self.advance();
        Ok(dims)
    }

    fn dimension(&mut self) -> Result<u64> {
        let text = &self.lexer.text()[self.lexer.offset()..];
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 {
            return Err(self.fail_here("a dimension"));
        }
        match text[..digits].parse::<i64>() {
            Ok(size) => {
                self.lexer.seek(self.lexer.offset() + digits);
                Ok(size.unsigned_abs())
            }
            Err(_) => Err(self.fail_here("a dimension below 2^63")),
        }
    }

    /// The next byte that is not blank, without reading it.
    fn peek_byte(&mut self) -> u8 {
        self.lexer.skip_blank();
        self.lexer.text().as_bytes().get(self.lexer.offset()).copied().unwrap_or(0)
    }

    fn eat_byte(&mut self, byte: u8) -> bool {
        let found = self.peek_byte() == byte;
        if found {
            self.lexer.seek(self.lexer.offset() + 1);
        }
        found
    }

    /// An error at the lexer's place instead of the next token's.
    fn fail_here(&mut self, expected: &str) -> crate::SyntaxError {
        self.advance();
        self.fail(expected)
    }
}
