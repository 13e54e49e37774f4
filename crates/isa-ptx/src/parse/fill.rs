//! How each part of a form is read: words of the opcode from what is left of it, operands from the tokens behind.

use super::inst::Form;
use crate::form::{Access, Place as Space, Visitor};
use crate::key::Key;
use crate::module::BlockId;
use crate::operand::{Address, Operand, OperandList, Predicate, RegList};
use crate::reg::Reg;
use crate::types::Scalar;

/// Stores what was read, if it was.
fn set<T>(slot: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *slot = value;
    }
}

impl Visitor for Form<'_, '_> {
    fn word(&mut self, word: &'static str) -> &mut Self {
        let taken = word.is_empty() || self.take_word(word);
        self.read(|form| if taken { Ok(()) } else { Err(form.opcode_fault(vec![format!("`.{word}`")])) });
        self
    }

    fn key<K: Key>(&mut self, key: &mut K) -> &mut Self {
        let found =
            self.take_key::<K>().or_else(|| K::all().iter().copied().find(|key| key.text().is_empty()));
        let found = self.read(|form| {
            found.ok_or_else(|| {
                form.opcode_fault(K::all().iter().map(|key| format!("`.{}`", key.text())).collect())
            })
        });
        set(key, found);
        self
    }

    fn opt_key<K: Key>(&mut self, key: &mut Option<K>) -> &mut Self {
        *key = self.take_key();
        self
    }

    fn flag(&mut self, flag: &mut bool, word: &'static str) -> &mut Self {
        *flag = self.take_word(word);
        self
    }

    fn presence<T: Default>(&mut self, operand: &mut Option<T>, word: &'static str) -> &mut Self {
        *operand = self.take_word(word).then(T::default);
        self
    }

    fn count(&mut self, list: &mut RegList, words: &'static [(usize, &'static str)]) -> &mut Self {
        let written = words.iter().find(|(_, word)| !word.is_empty() && self.take_word(word));
        let count =
            written.or_else(|| words.iter().find(|(_, word)| word.is_empty())).map(|(count, _)| *count);
        let count = self.read(|form| {
            count.ok_or_else(|| {
                form.opcode_fault(words.iter().map(|(_, word)| format!("`.{word}`")).collect())
            })
        });
        list.resize(count.unwrap_or(0), Reg::default());
        self
    }

    fn reg(&mut self, reg: &mut Reg, ty: Scalar, _: Access) -> &mut Self {
        set(reg, self.next(|form| form.register(ty)));
        self
    }

    fn operand(&mut self, operand: &mut Operand, ty: Scalar) -> &mut Self {
        set(operand, self.next(|form| form.one(ty)));
        self
    }

    fn opt_operand(&mut self, operand: &mut Option<Operand>, ty: Scalar) -> &mut Self {
        *operand = self.try_next(|form| form.one(ty));
        self
    }

    fn predicate(&mut self, predicate: &mut Predicate) -> &mut Self {
        set(predicate, self.next(Self::signed_predicate));
        self
    }

    fn opt_predicate(&mut self, predicate: &mut Option<Predicate>) -> &mut Self {
        *predicate = self.try_next(Self::signed_predicate);
        self
    }

    fn reg_and_predicate(&mut self, reg: &mut Reg, ty: Scalar, predicate: &mut Option<Reg>) -> &mut Self {
        let found = self.next(|form| {
            let reg = form.register(ty)?;
            let predicate = if form.cursor.take("|") { Some(form.register(Scalar::Pred)?) } else { None };
            Ok((reg, predicate))
        });
        if let Some(found) = found {
            (*reg, *predicate) = found;
        }
        self
    }

    fn sink_and_predicate(&mut self, reg: &mut Option<Reg>, ty: Scalar, predicate: &mut Reg) -> &mut Self {
        let found = self.next(|form| {
            let reg = form.or_sink(ty)?;
            form.cursor.expect("|")?;
            Ok((reg, form.register(Scalar::Pred)?))
        });
        if let Some(found) = found {
            (*reg, *predicate) = found;
        }
        self
    }

    fn sink(&mut self, reg: &mut Option<Reg>, ty: Scalar) -> &mut Self {
        set(reg, self.next(|form| form.or_sink(ty)));
        self
    }

    fn regs(&mut self, regs: &mut RegList, count: usize, ty: Scalar, _: Access) -> &mut Self {
        set(regs, self.next(|form| form.list(count, |form| form.register(ty))).map(RegList::from_vec));
        self
    }

    fn vector(&mut self, regs: &mut RegList, count: usize, ty: Scalar, access: Access) -> &mut Self {
        if count != 1 {
            return self.regs(regs, count, ty, access);
        }
        set(regs, self.next(|form| form.register(ty)).map(|reg| RegList::from_slice(&[reg])));
        self
    }

    fn operands(&mut self, operands: &mut OperandList, count: usize, ty: Scalar) -> &mut Self {
        set(operands, self.next(|form| form.list(count, |form| form.one(ty))).map(OperandList::from_vec));
        self
    }

    fn immediate(&mut self, value: &mut u32) -> &mut Self {
        set(value, self.next(|form| form.cursor.number()));
        self
    }

    fn sign(&mut self, negated: &mut bool) -> &mut Self {
        set(negated, self.next(|form| form.word_operand(["1", "-1"])));
        self
    }

    fn bit(&mut self, bit: &mut bool) -> &mut Self {
        set(bit, self.next(|form| form.word_operand(["0", "1"])));
        self
    }

    fn address(&mut self, address: &mut Address, space: Space) -> &mut Self {
        let found = self.next(|form| {
            form.cursor.expect("[")?;
            let address = form.sum(space)?;
            form.cursor.expect("]")?;
            Ok(address)
        });
        set(address, found);
        self
    }

    fn tensor(&mut self, map: &mut Address, corner: &mut OperandList, rank: usize) -> &mut Self {
        let found = self.next(|form| {
            form.cursor.expect("[")?;
            let map = form.sum(Space::Window)?;
            form.cursor.expect(",")?;
            let corner = form.list(rank, |form| form.one(Scalar::S32))?;
            form.cursor.expect("]")?;
            Ok((map, OperandList::from_vec(corner)))
        });
        if let Some(found) = found {
            (*map, *corner) = found;
        }
        self
    }

    fn label(&mut self, block: &mut BlockId) -> &mut Self {
        let found = self.next(|form| {
            let word = form.cursor.peek().unwrap_or_default();
            let id = form.names.labels.get(word).ok_or_else(|| form.cursor.fault("a label of this entry"))?;
            form.cursor.advance();
            Ok(BlockId(*id))
        });
        set(block, found);
        self
    }

    fn symbol(&mut self, address: &mut Address) -> &mut Self {
        let base = self.next(|form| form.base(true, true));
        set(address, base.map(|base| Address { base, offset: 0 }));
        self
    }

    fn name<K: Key>(&mut self, name: &mut K) -> &mut Self {
        set(name, self.next(|form| form.cursor.key("")));
        self
    }

    fn fixed(&mut self, text: &'static str) -> &mut Self {
        self.next(|form| form.cursor.expect(text));
        self
    }
}
