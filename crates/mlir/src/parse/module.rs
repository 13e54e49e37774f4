//! A file: alias definitions, operations and `{-# ... #-}` in any order.

use std::collections::HashSet;

use super::{Parser, Result};
use crate::ast::{Attr, Module, Type};
use crate::lexer::Kind;

impl<'t> Parser<'t> {
    pub(super) fn module(mut self) -> Result<Module> {
        let mut module = Module::default();
        let mut attr_names = HashSet::new();
        loop {
            match self.token.kind {
                Kind::End => break,
                Kind::Hash => {
                    let token = self.token;
                    let name = self.alias_name()?;
                    if !attr_names.insert(name) {
                        return Err(self.fail_at(token, "a new name, as this alias is already defined"));
                    }
                    self.expect(Kind::Equal, "after the name of an attribute alias")?;
                    let attr = self.attr()?;
                    module.attr_aliases.push((name.to_owned(), attr));
                }
                Kind::Bang => self.type_alias()?,
                Kind::OpenMetadata => self.metadata(&mut module)?,
                _ => module.ops.push(self.operation()?),
            }
        }
        module.type_aliases = self.type_aliases;
        Ok(module)
    }

    fn type_alias(&mut self) -> Result<()> {
        let token = self.token;
        let name = self.alias_name()?;
        if self.alias_roots.contains_key(name) {
            return Err(self.fail_at(token, "a new name, as this alias is already defined"));
        }
        self.expect(Kind::Equal, "after the name of a type alias")?;
        let ty = self.ty()?;
        let own = self.type_aliases.len();
        let root = match &ty {
            Type::Alias(target) => self.alias_roots.get(target.as_str()).copied().unwrap_or(own),
            _ => own,
        };
        self.alias_roots.insert(name, root);
        self.type_aliases.push((name.to_owned(), ty));
        Ok(())
    }

    /// The name of an alias that is being defined, without its sigil.
    fn alias_name(&mut self) -> Result<&'t str> {
        let name = &self.spelling()[1..];
        if name.contains('.') {
            return Err(self.fail("an alias name without `.`, which marks a dialect's own name"));
        }
        self.advance();
        Ok(name)
    }

    /// `{` `name [= attr]`, ... `}`, as attributes, properties and dictionaries share it.
    pub(super) fn named_attrs(&mut self) -> Result<Vec<(String, Attr)>> {
        self.expect(Kind::LBrace, "of an attribute dictionary")?;
        let entries = self.list(Kind::RBrace, "in an attribute dictionary", |p| {
            let token = p.token;
            let name = p.expect_word_or_string("an attribute name")?;
            if name.is_empty() {
                return Err(p.fail_at(token, "an attribute name that is not empty"));
            }
            let attr = if p.eat(Kind::Equal) { p.attr()? } else { Attr::Unit };
            Ok((token, name, attr))
        })?;
        let mut names = HashSet::with_capacity(entries.len());
        if let Some((token, ..)) = entries.iter().find(|(_, name, _)| !names.insert(name.as_str())) {
            return Err(self.fail_at(*token, "each attribute name once"));
        }
        Ok(entries.into_iter().map(|(_, name, attr)| (name, attr)).collect())
    }
}
