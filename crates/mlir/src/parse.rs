//! Tokens -> syntax tree, by recursive descent with one token of lookahead.
//! Before: any text.  After: the tree of `ast.rs`, or the first `SyntaxError`.
//! Time is linear in the text, and nesting deeper than `MAX_NESTING` is an error, so hostile text costs neither time
//! nor stack.  Each noun has its file: `attr`, `dense`, `location`, `module`, `op`, `resource`, `types`, `verbatim`.
//! Source: <https://mlir.llvm.org/docs/LangRef/> and the built-in dialect's types and attributes.

mod attr;
mod dense;
mod location;
mod module;
mod op;
mod resource;
mod types;
mod verbatim;

use std::collections::HashMap;

use crate::ast::{Attr, Module, Position, Type};
use crate::error::SyntaxError;
use crate::lexer::{Kind, Lexer, Token};
use crate::spell::unescape;

/// Regions, attributes, types, locations and `dense` lists nest at most so deep, counted together.
pub const MAX_NESTING: u32 = 256;

/// Signatures spelled through an alias add at most so many types to the tree, so that a short text cannot make a
/// tree of quadratic size.
const MAX_ALIASED_TYPES: usize = 1 << 20;

type Result<T> = std::result::Result<T, SyntaxError>;

/// Reads a whole file in generic form.
pub fn parse_module(text: &str) -> Result<Module> {
    Parser::new(text).module()
}

/// Reads one attribute and nothing after it.
pub fn parse_attr(text: &str) -> Result<Attr> {
    let mut parser = Parser::new(text);
    let attr = parser.attr()?;
    parser.expect(Kind::End, "after the attribute")?;
    Ok(attr)
}

/// Reads one type and nothing after it.
pub fn parse_type(text: &str) -> Result<Type> {
    let mut parser = Parser::new(text);
    let ty = parser.ty()?;
    parser.expect(Kind::End, "after the type")?;
    Ok(ty)
}

struct Parser<'t> {
    lexer: Lexer<'t>,
    /// The token to be read next; the lexer stands at its end.
    token: Token,
    depth: u32,
    type_aliases: Vec<(String, Type)>,
    /// Alias name to the entry of `type_aliases` that is not itself an alias.
    alias_roots: HashMap<&'t str, usize>,
    aliased_types: usize,
}

impl<'t> Parser<'t> {
    fn new(text: &'t str) -> Self {
        let mut lexer = Lexer::new(text);
        let token = lexer.next();
        let (type_aliases, alias_roots) = (Vec::new(), HashMap::new());
        Parser { lexer, token, depth: 0, type_aliases, alias_roots, aliased_types: 0 }
    }

    fn at(&self, kind: Kind) -> bool {
        self.token.kind == kind
    }

    fn at_word(&self, word: &str) -> bool {
        self.at(Kind::Word) && self.spelling() == word
    }

    fn spelling(&self) -> &'t str {
        &self.lexer.text()[self.token.start..self.token.end]
    }

    fn advance(&mut self) {
        self.token = self.lexer.next();
    }

    /// Makes the token at `offset` the next one; see `Lexer::seek`.
    fn seek(&mut self, offset: usize) {
        self.lexer.seek(offset);
        self.advance();
    }

    fn eat(&mut self, kind: Kind) -> bool {
        let found = self.at(kind);
        if found {
            self.advance();
        }
        found
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        if found {
            self.advance();
        }
        found
    }

    /// Reads a token of this kind and returns its spelling; `context` completes the error's sentence.
    fn expect(&mut self, kind: Kind, context: &str) -> Result<&'t str> {
        if !self.at(kind) {
            return Err(self.fail(&format!("{} {context}", kind.describe())));
        }
        let spelling = self.spelling();
        self.advance();
        Ok(spelling)
    }

    /// Like `expect`, without the sigil in front of the name.
    fn expect_name(&mut self, kind: Kind, context: &str) -> Result<String> {
        Ok(self.expect(kind, context)?[1..].to_owned())
    }

    /// Reads a string literal that must be text.
    fn expect_string(&mut self, context: &str) -> Result<String> {
        let token = self.token;
        let literal = self.expect(Kind::String, context)?;
        self.text_of(literal, token)
    }

    /// A word, or a string where the name is not a word.
    fn expect_word_or_string(&mut self, what: &str) -> Result<String> {
        match self.token.kind {
            Kind::Word => self.expect(Kind::Word, what).map(str::to_owned),
            Kind::String => self.expect_string(what),
            _ => Err(self.fail(what)),
        }
    }

    fn expect_u32(&mut self, what: &str) -> Result<u32> {
        let value = match self.token.kind {
            Kind::Integer => self.spelling().parse().ok(),
            _ => None,
        };
        let Some(value) = value else { return Err(self.fail(&format!("{what} below 2^32"))) };
        self.advance();
        Ok(value)
    }

    /// The text of a string literal; `token` is where an error points.
    fn text_of(&self, literal: &str, token: Token) -> Result<String> {
        let bytes = unescape(&literal[1..literal.len() - 1]);
        String::from_utf8(bytes).map_err(|_| self.fail_at(token, "text in UTF-8"))
    }

    /// Reads items between commas up to and including `close`; the opening token is already read.
    fn list<T>(
        &mut self,
        close: Kind,
        context: &str,
        mut item: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut items = Vec::new();
        if self.eat(close) {
            return Ok(items);
        }
        loop {
            items.push(item(self)?);
            if self.eat(close) {
                return Ok(items);
            }
            if !self.eat(Kind::Comma) {
                return Err(self.fail(&format!("`,` or {} {context}", close.describe())));
            }
        }
    }

    /// Reads one level deeper.
    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth == MAX_NESTING {
            return Err(self.fail(&format!("at most {MAX_NESTING} levels of nesting")));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// `ty`, or what it stands for if it is a known alias.
    fn resolve<'a>(&'a self, ty: &'a Type) -> &'a Type {
        match ty {
            Type::Alias(name) => {
                self.alias_roots.get(name.as_str()).map_or(ty, |&root| &self.type_aliases[root].1)
            }
            _ => ty,
        }
    }

    /// The error that `expected` did not stand at the next token.
    fn fail(&self, expected: &str) -> SyntaxError {
        self.fail_at(self.token, expected)
    }

    fn fail_at(&self, token: Token, expected: &str) -> SyntaxError {
        let expected = match token.kind {
            Kind::Invalid(reason) => reason,
            _ => expected,
        };
        let found = match token.kind {
            Kind::End => Kind::End.describe().to_owned(),
            _ => quote(&self.lexer.text()[token.start..token.end]),
        };
        let Position { line, column } = token.at;
        SyntaxError { line, column, expected: expected.to_owned(), found }
    }
}

/// At most 40 characters of `text`'s first line, in backticks.
fn quote(text: &str) -> String {
    const LONGEST: usize = 40;
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(LONGEST) {
        Some((cut, _)) => format!("`{}...`", &line[..cut]),
        None => format!("`{line}`"),
    }
}
