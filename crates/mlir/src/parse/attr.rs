//! Attributes: the built-in ones to their tree, dialect attributes verbatim.

use super::types::starts_type;
use super::{Parser, Result};
use crate::ast::{Attr, Type};
use crate::lexer::{Kind, Token};
use crate::spell::unescape;

impl Parser<'_> {
    pub(super) fn attr(&mut self) -> Result<Attr> {
        self.nested(Self::attr_body)
    }

    fn attr_body(&mut self) -> Result<Attr> {
        match self.token.kind {
            Kind::Integer | Kind::Float | Kind::Minus => self.number(),
            Kind::String => {
                let bytes = self.string_bytes();
                Ok(Attr::String(bytes, self.literal_type()?))
            }
            Kind::Symbol => self.symbol(),
            Kind::LBracket => {
                self.advance();
                Ok(Attr::Array(self.list(Kind::RBracket, "in an array", Self::attr)?))
            }
            Kind::LBrace => Ok(Attr::Dictionary(self.named_attrs()?)),
            Kind::Hash => Ok(match self.dialect_symbol()? {
                (text, true) => Attr::Dialect(text),
                (name, false) => Attr::Alias(name),
            }),
            Kind::LParen | Kind::Bang => Ok(Attr::Type(self.ty()?)),
            Kind::Word => self.word_attr(),
            _ => Err(self.fail("an attribute")),
        }
    }

    fn word_attr(&mut self) -> Result<Attr> {
        let plain = match self.spelling() {
            "unit" => Attr::Unit,
            "true" => Attr::Bool(true),
            "false" => Attr::Bool(false),
            "dense" => return self.dense(),
            "dense_resource" => return self.dense_resource(),
            "sparse" => return self.sparse(),
            "array" => return self.dense_array(),
            "affine_map" | "affine_set" => return self.affine(),
            "strided" => return self.strided(),
            "distinct" => return self.distinct(),
            "loc" => return Ok(Attr::Location(Box::new(self.location()?))),
            word if starts_type(word) => return self.ty().map(Attr::Type),
            _ => return Err(self.fail("an attribute")),
        };
        self.advance();
        Ok(plain)
    }

    /// `: type` behind a literal, where it stands.
    fn literal_type(&mut self) -> Result<Option<Type>> {
        if self.eat(Kind::Colon) { self.ty().map(Some) } else { Ok(None) }
    }

    /// The bytes of the string that stands here.
    pub(super) fn string_bytes(&mut self) -> Vec<u8> {
        let literal = self.spelling();
        self.advance();
        unescape(&literal[1..literal.len() - 1])
    }

    fn number(&mut self) -> Result<Attr> {
        let start = self.token;
        let negative = self.eat(Kind::Minus);
        let (kind, spelling) = (self.token.kind, self.spelling());
        if !matches!(kind, Kind::Integer | Kind::Float) {
            return Err(self.fail("a number after `-`"));
        }
        self.advance();
        let ty = self.literal_type()?;
        let text = if negative { format!("-{spelling}") } else { spelling.to_owned() };
        if kind == Kind::Float {
            return Ok(Attr::Float(text, ty));
        }
        if ty.as_ref().is_some_and(|ty| matches!(self.resolve(ty), Type::Float(_))) {
            return self.float_bits(text, ty, start);
        }
        let magnitude = match spelling.strip_prefix("0x") {
            Some(digits) => u128::from_str_radix(digits, 16),
            None => spelling.parse(),
        };
        let value = magnitude
            .ok()
            .and_then(|m| if negative { 0i128.checked_sub_unsigned(m) } else { m.try_into().ok() });
        match (value, ty) {
            (Some(value), ty) => Ok(Attr::Integer(value, ty)),
            // Wider than the tree's integers: kept as written.
            (None, Some(ty)) => Ok(Attr::Verbatim(format!("{text} : {ty}"))),
            (None, None) => Err(self.fail_at(start, "a type after an integer that does not fit i64")),
        }
    }

    /// An integer literal of float type: its bits in hex.
    fn float_bits(&self, text: String, ty: Option<Type>, start: Token) -> Result<Attr> {
        if !text.starts_with("0x") {
            let expected =
                "a float literal, with a dot or as hex bits without a sign, as the type is a float";
            return Err(self.fail_at(start, expected));
        }
        Ok(Attr::Float(text, ty))
    }

    /// `@root::@nested`.
    fn symbol(&mut self) -> Result<Attr> {
        let mut path = Vec::new();
        loop {
            let token = self.token;
            let name = &self.expect(Kind::Symbol, "after `::`")?[1..];
            path.push(if name.starts_with('"') { self.text_of(name, token)? } else { name.to_owned() });
            // A single colon belongs to what follows the symbol.
            if !(self.at(Kind::Colon) && self.lexer.text()[self.token.end..].starts_with(':')) {
                return Ok(Attr::Symbol(path));
            }
            self.advance();
            self.advance();
        }
    }
}
