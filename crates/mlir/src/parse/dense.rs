//! Element containers: `dense<...>`, `sparse<...>`, `dense_resource<...>`, `array<...>`.
//! Elements stay as written: whether they fit their type is not a question of syntax.

use super::{Parser, Result};
use crate::ast::{Attr, Dense, Type};
use crate::lexer::{Kind, Token};
use crate::spell::decode_hex;

impl Parser<'_> {
    /// `dense<elements> : type`.
    pub(super) fn dense(&mut self) -> Result<Attr> {
        self.open_elements()?;
        if self.eat(Kind::Greater) {
            return Ok(Attr::Dense(Dense::Empty, self.container_type()?));
        }
        let token = self.token;
        let elements = self.elements()?;
        self.expect(Kind::Greater, "after the elements")?;
        let ty = self.container_type()?;
        let elements = match token.kind {
            Kind::String if !self.holds_strings(&ty) => self.hex_elements(token)?,
            _ => elements,
        };
        Ok(Attr::Dense(elements, ty))
    }

    /// `sparse<indices, values> : type`.
    pub(super) fn sparse(&mut self) -> Result<Attr> {
        self.open_elements()?;
        if self.eat(Kind::Greater) {
            return Ok(Attr::Sparse(Dense::Empty, Dense::Empty, self.container_type()?));
        }
        let indices = self.elements()?;
        self.expect(Kind::Comma, "between indices and values")?;
        let values = self.elements()?;
        self.expect(Kind::Greater, "after the values")?;
        Ok(Attr::Sparse(indices, values, self.container_type()?))
    }

    /// `dense_resource<key> : type`.
    pub(super) fn dense_resource(&mut self) -> Result<Attr> {
        self.open_elements()?;
        let key = self.expect_word_or_string("the key of a resource")?;
        self.expect(Kind::Greater, "after the key of a resource")?;
        Ok(Attr::DenseResource(key, self.container_type()?))
    }

    /// `array<i64: 1, 2>`.
    pub(super) fn dense_array(&mut self) -> Result<Attr> {
        self.open_elements()?;
        let element = self.ty()?;
        let literals = match self.eat(Kind::Colon) {
            true => self.list(Kind::Greater, "in an array", Self::literal)?,
            false => {
                self.expect(Kind::Greater, "or `:` after the element type")?;
                Vec::new()
            }
        };
        Ok(Attr::DenseArray(element, literals))
    }

    /// The keyword and `<`.
    fn open_elements(&mut self) -> Result<()> {
        let keyword = self.spelling();
        self.advance();
        self.expect(Kind::Less, &format!("after `{keyword}`")).map(|_| ())
    }

    fn container_type(&mut self) -> Result<Type> {
        self.expect(Kind::Colon, "before the type of the elements")?;
        self.ty()
    }

    fn elements(&mut self) -> Result<Dense> {
        self.nested(|p| match p.eat(Kind::LBracket) {
            true => p.list(Kind::RBracket, "in a list of elements", Self::elements).map(Dense::List),
            false => p.literal().map(Dense::Splat),
        })
    }

    /// A number, `true`, `false`, a string or a complex pair, as written.
    fn literal(&mut self) -> Result<String> {
        if self.eat(Kind::LParen) {
            let real = self.number_literal()?;
            self.expect(Kind::Comma, "between real and imaginary part")?;
            let imaginary = self.number_literal()?;
            self.expect(Kind::RParen, "after the imaginary part")?;
            return Ok(format!("({real}, {imaginary})"));
        }
        if self.at(Kind::String) || self.at_word("true") || self.at_word("false") {
            let literal = self.spelling().to_owned();
            self.advance();
            return Ok(literal);
        }
        self.number_literal()
    }

    fn number_literal(&mut self) -> Result<String> {
        let sign = if self.eat(Kind::Minus) { "-" } else { "" };
        if !matches!(self.token.kind, Kind::Integer | Kind::Float) {
            return Err(self.fail("an element"));
        }
        let literal = format!("{sign}{}", self.spelling());
        self.advance();
        Ok(literal)
    }

    /// Whether a string literal in `dense<...>` is an element rather than hex bytes: the element type is a dialect's.
    fn holds_strings(&self, ty: &Type) -> bool {
        let element = match self.resolve(ty) {
            Type::RankedTensor { element, .. }
            | Type::UnrankedTensor(element)
            | Type::Vector { element, .. } => element,
            other => other,
        };
        matches!(self.resolve(element), Type::Dialect(_) | Type::Alias(_))
    }

    fn hex_elements(&self, token: Token) -> Result<Dense> {
        let literal = &self.lexer.text()[token.start + 1..token.end - 1];
        match decode_hex(literal) {
            Some(bytes) => Ok(Dense::Hex(bytes)),
            None => Err(self.fail_at(token, "a hex string `\"0x...\"` of whole bytes")),
        }
    }
}
