//! Operations, regions and blocks.
//! `%r:2 = "d.op"(%a)[^bb1] <{p = 1}> ({ ... }) {a = 2} : (i32) -> (i32, i32) loc(...)`.
//! Counts are checked here, as they belong to the form: one type per operand, one per named result.

use super::{MAX_ALIASED_TYPES, Parser, Result};
use crate::ast::{Block, Operation, Region, ResultPack, Successor, Type, ValueRef};
use crate::lexer::{Kind, Token};

impl Parser<'_> {
    pub(super) fn operation(&mut self) -> Result<Operation> {
        self.nested(Self::operation_body)
    }

    fn operation_body(&mut self) -> Result<Operation> {
        let results = if self.at(Kind::Value) { self.result_packs()? } else { Vec::new() };
        let at = self.token.at;
        let name = self.operation_name()?;
        self.expect(Kind::LParen, "before the operands")?;
        let operands = self.list(Kind::RParen, "after an operand", Self::value)?;
        let successors = self.successors()?;
        let properties = self.properties()?;
        let regions = match self.eat(Kind::LParen) {
            true => self.list(Kind::RParen, "after a region", Self::region)?,
            false => Vec::new(),
        };
        let attributes = if self.at(Kind::LBrace) { self.named_attrs()? } else { Vec::new() };
        self.expect(Kind::Colon, "before the type of the operation")?;
        let (operand_types, result_types) = self.signature(operands.len(), &results)?;
        let location = self.trailing_location()?;
        Ok(Operation {
            results,
            name,
            operands,
            successors,
            properties,
            regions,
            attributes,
            operand_types,
            result_types,
            location,
            at,
        })
    }

    fn result_packs(&mut self) -> Result<Vec<ResultPack>> {
        let mut packs = Vec::new();
        loop {
            let name = self.expect_name(Kind::Value, "of a result")?;
            let mut count = 1;
            if self.eat(Kind::Colon) {
                let token = self.token;
                count = self.expect_u32("a number of results")?;
                if count == 0 {
                    return Err(self.fail_at(token, "at least one result"));
                }
            }
            packs.push(ResultPack { name, count });
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        self.expect(Kind::Equal, "after the results")?;
        Ok(packs)
    }

    fn operation_name(&mut self) -> Result<String> {
        let token = self.token;
        match token.kind {
            Kind::String => {}
            Kind::Word => {
                return Err(
                    self.fail("an operation in generic form (`mlir-opt --mlir-print-op-generic` writes it)")
                );
            }
            _ => return Err(self.fail("an operation name in quotes")),
        }
        let name = self.expect_string("as operation name")?;
        if name.is_empty() {
            return Err(self.fail_at(token, "an operation name that is not empty"));
        }
        if name.contains('\0') {
            return Err(self.fail_at(token, "an operation name without null characters"));
        }
        Ok(name)
    }

    /// `%name` or `%name#index`.
    fn value(&mut self) -> Result<ValueRef> {
        let name = self.expect_name(Kind::Value, "as an operand")?;
        let mut index = 0;
        if self.at(Kind::Hash) {
            index = match self.spelling()[1..].parse() {
                Ok(index) => index,
                Err(_) => return Err(self.fail("a result number below 2^32 after `#`")),
            };
            self.advance();
        }
        Ok(ValueRef { name, index })
    }

    fn successors(&mut self) -> Result<Vec<Successor>> {
        if !self.at(Kind::LBracket) {
            return Ok(Vec::new());
        }
        self.advance();
        self.list(Kind::RBracket, "after a successor", Self::successor)
    }

    /// `^bb1` or `^bb1(%a, %b : i32, f32)`.
    fn successor(&mut self) -> Result<Successor> {
        let block = self.expect_name(Kind::Block, "of a successor")?;
        if !self.eat(Kind::LParen) || self.eat(Kind::RParen) {
            return Ok(Successor { block, operands: Vec::new() });
        }
        let values = self.list(Kind::Colon, "after a successor's operand", Self::value)?;
        let token = self.token;
        let types = self.list(Kind::RParen, "after a successor's type", Self::ty)?;
        if types.len() != values.len() {
            return Err(self.fail_at(token, &count(values.len(), "type", "for the successor's operands")));
        }
        Ok(Successor { block, operands: values.into_iter().zip(types).collect() })
    }

    fn properties(&mut self) -> Result<Vec<(String, crate::ast::Attr)>> {
        if !self.eat(Kind::Less) {
            return Ok(Vec::new());
        }
        let properties = self.named_attrs()?;
        self.expect(Kind::Greater, "after the properties")?;
        Ok(properties)
    }

    /// `(operand types) -> result types`, whole or through a type alias.
    fn signature(&mut self, operands: usize, results: &[ResultPack]) -> Result<(Vec<Type>, Vec<Type>)> {
        let token = self.token;
        let (operand_types, result_types) = match token.kind {
            Kind::LParen => self.function_type("between operand and result types")?,
            Kind::Bang => self.aliased_signature(operands)?,
            _ => return Err(self.fail("`(` before the operand types")),
        };
        if operand_types.len() != operands {
            return Err(self.fail_count(token, operands, operand_types.len(), "operand type"));
        }
        let named: u64 = results.iter().map(|pack| u64::from(pack.count)).sum();
        if named != 0 && named != result_types.len() as u64 {
            return Err(self.fail_count(token, named as usize, result_types.len(), "result type"));
        }
        Ok((operand_types, result_types))
    }

    fn aliased_signature(&mut self, operands: usize) -> Result<(Vec<Type>, Vec<Type>)> {
        let token = self.token;
        let alias = self.ty()?;
        let Type::Function(inputs, results) = self.resolve(&alias) else {
            return Err(self.fail_at(token, "a function type `(...) -> ...` or its alias"));
        };
        if inputs.len() != operands {
            return Err(self.fail_count(token, operands, inputs.len(), "operand type"));
        }
        let signature = (inputs.clone(), results.clone());
        self.aliased_types += signature.0.len() + signature.1.len();
        if self.aliased_types > MAX_ALIASED_TYPES {
            let expected =
                format!("at most {MAX_ALIASED_TYPES} types in signatures spelled through an alias");
            return Err(self.fail_at(token, &expected));
        }
        Ok(signature)
    }

    fn fail_count(&self, token: Token, wanted: usize, found: usize, noun: &str) -> crate::SyntaxError {
        let mut error = self.fail_at(token, &count(wanted, noun, ""));
        error.found = found.to_string();
        error
    }

    /// `{` blocks `}`; the first block may stand without a label.
    fn region(&mut self) -> Result<Region> {
        self.expect(Kind::LBrace, "of a region")?;
        let mut blocks = Vec::new();
        if !self.at(Kind::Block) && !self.at(Kind::RBrace) {
            blocks.push(Block { label: None, args: Vec::new(), ops: self.block_ops()? });
        }
        while self.at(Kind::Block) {
            blocks.push(self.labelled_block()?);
        }
        self.expect(Kind::RBrace, "at the end of a region")?;
        Ok(Region { blocks })
    }

    fn block_ops(&mut self) -> Result<Vec<Operation>> {
        let mut ops = Vec::new();
        while !matches!(self.token.kind, Kind::Block | Kind::RBrace | Kind::End) {
            ops.push(self.operation()?);
        }
        Ok(ops)
    }

    fn labelled_block(&mut self) -> Result<Block> {
        let label = self.expect_name(Kind::Block, "of a block")?;
        let mut args = Vec::new();
        if self.eat(Kind::LParen) {
            args = self.list(Kind::RParen, "after a block argument", |p| {
                let name = p.expect_name(Kind::Value, "of a block argument")?;
                p.expect(Kind::Colon, "before the type of a block argument")?;
                let ty = p.ty()?;
                Ok((name, ty, p.trailing_location()?))
            })?;
        }
        self.expect(Kind::Colon, "after a block label")?;
        Ok(Block { label: Some(label), args, ops: self.block_ops()? })
    }
}

/// `3 operand types`, `1 result type`.
fn count(number: usize, noun: &str, tail: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural} {tail}").trim_end().to_owned()
}
