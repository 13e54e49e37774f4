//! Locations: `unknown`, `"file":1:2 to :9`, `"name"(child)`, `callsite(a at b)`, `fused<meta>[a, b]`, `#alias`.

use super::{Parser, Result};
use crate::ast::Location;
use crate::lexer::Kind;

impl Parser<'_> {
    /// `loc(...)` if it stands here.
    pub(super) fn trailing_location(&mut self) -> Result<Option<Location>> {
        if self.at_word("loc") { self.location().map(Some) } else { Ok(None) }
    }

    /// `loc(...)`.
    pub(super) fn location(&mut self) -> Result<Location> {
        self.advance();
        self.expect(Kind::LParen, "after `loc`")?;
        let location = self.location_body()?;
        self.expect(Kind::RParen, "at the end of the location")?;
        Ok(location)
    }

    fn location_body(&mut self) -> Result<Location> {
        self.nested(|p| match p.token.kind {
            Kind::String => p.named_location(),
            Kind::Hash => Ok(Location::Alias(p.dialect_symbol()?.0)),
            Kind::Word => match p.spelling() {
                "unknown" => {
                    p.advance();
                    Ok(Location::Unknown)
                }
                "callsite" => p.call_site(),
                "fused" => p.fused(),
                _ => Err(p.fail("a location")),
            },
            _ => Err(p.fail("a location")),
        })
    }

    /// `"file":line:column` with an optional range, or `"name"` with an optional child.
    fn named_location(&mut self) -> Result<Location> {
        let text = self.expect_string("of a location")?;
        if self.eat(Kind::Colon) {
            let line = self.expect_u32("a line number")?;
            // Upstream takes a line alone for column 0.
            let column = if self.eat(Kind::Colon) { self.expect_u32("a column number")? } else { 0 };
            let to = if self.eat_word("to") { Some(self.range_end()?) } else { None };
            return Ok(Location::File { file: text, line, column, to });
        }
        if !self.eat(Kind::LParen) {
            return Ok(Location::Name(text, None));
        }
        let child = self.location_body()?;
        self.expect(Kind::RParen, "after the child of a named location")?;
        Ok(Location::Name(text, Some(Box::new(child))))
    }

    /// `:column` or `line:column`.
    fn range_end(&mut self) -> Result<String> {
        let line = match self.at(Kind::Integer) {
            true => self.expect_u32("a line number")?.to_string(),
            false => String::new(),
        };
        self.expect(Kind::Colon, "before the last column of a range")?;
        let column = self.expect_u32("a column number")?;
        Ok(format!("{line}:{column}"))
    }

    fn call_site(&mut self) -> Result<Location> {
        self.advance();
        self.expect(Kind::LParen, "after `callsite`")?;
        let callee = self.location_body()?;
        if !self.eat_word("at") {
            return Err(self.fail("`at` between callee and caller"));
        }
        let caller = self.location_body()?;
        self.expect(Kind::RParen, "after the caller")?;
        Ok(Location::CallSite(Box::new(callee), Box::new(caller)))
    }

    fn fused(&mut self) -> Result<Location> {
        self.advance();
        let mut metadata = None;
        if self.eat(Kind::Less) {
            metadata = Some(Box::new(self.attr()?));
            self.expect(Kind::Greater, "after the metadata of a fused location")?;
        }
        self.expect(Kind::LBracket, "before the fused locations")?;
        let parts = self.list(Kind::RBracket, "after a fused location", Self::location_body)?;
        Ok(Location::Fused(metadata, parts))
    }
}
