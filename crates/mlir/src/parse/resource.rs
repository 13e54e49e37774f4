//! The sidecar `{-# dialect_resources: {builtin: {key: "0x..."}}, external_resources: {...} #-}`.

use super::{Parser, Result};
use crate::ast::{Attr, Module};
use crate::lexer::Kind;
use crate::spell::decode_hex;

impl Parser<'_> {
    pub(super) fn metadata(&mut self, module: &mut Module) -> Result<()> {
        self.expect(Kind::OpenMetadata, "before the resources")?;
        self.list(Kind::CloseMetadata, "after a resource section", |p| {
            let dialect = match p.spelling() {
                "dialect_resources" => true,
                "external_resources" => false,
                _ => return Err(p.fail("`dialect_resources` or `external_resources`")),
            };
            p.advance();
            p.expect(Kind::Colon, "after the name of a resource section")?;
            p.resource_section(|p, owner, key| {
                match dialect {
                    true => module.resources.push((owner.to_owned(), key, p.blob()?)),
                    false => module.external_resources.push((owner.to_owned(), key, p.external_value()?)),
                }
                Ok(())
            })
        })?;
        Ok(())
    }

    /// `{owner: {key: value, ...}, ...}`.
    fn resource_section(
        &mut self,
        mut value: impl FnMut(&mut Self, &str, String) -> Result<()>,
    ) -> Result<()> {
        self.expect(Kind::LBrace, "of a resource section")?;
        self.list(Kind::RBrace, "after the resources of a dialect", |p| {
            let owner = p.expect_word_or_string("the owner of resources")?;
            p.expect(Kind::Colon, "after the owner of resources")?;
            p.expect(Kind::LBrace, "before the resources")?;
            p.list(Kind::RBrace, "after a resource", |p| {
                let key = p.expect_word_or_string("the key of a resource")?;
                p.expect(Kind::Colon, "after the key of a resource")?;
                value(p, &owner, key)
            })
        })?;
        Ok(())
    }

    fn blob(&mut self) -> Result<Vec<u8>> {
        const WANTED: &str = "a resource as hex string `\"0x...\"` that starts with its 4-byte alignment";
        let token = self.token;
        if !self.at(Kind::String) {
            return Err(self.fail(WANTED));
        }
        let literal = self.spelling();
        let bytes = decode_hex(&literal[1..literal.len() - 1]).filter(|bytes| bytes.len() >= 4);
        self.advance();
        bytes.ok_or_else(|| self.fail_at(token, WANTED))
    }

    fn external_value(&mut self) -> Result<Attr> {
        match self.token.kind {
            Kind::String => Ok(Attr::String(self.string_bytes(), None)),
            Kind::Word if self.spelling() == "true" || self.spelling() == "false" => {
                let value = self.spelling() == "true";
                self.advance();
                Ok(Attr::Bool(value))
            }
            _ => Err(self.fail("a string, `true` or `false` as external resource")),
        }
    }
}
