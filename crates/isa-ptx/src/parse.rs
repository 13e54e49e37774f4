//! Reads a module from text: the subset that `print` writes, with free labels, comments and any layout of lines.
//! Errors name line, column, what was found and what was expected; after a wrong instruction the next one is read.
//! After: the module verifies, and `print` gives the same text for the same module.

mod cursor;
mod fill;
mod inst;

use std::collections::BTreeMap;

use tegula_base::{Diagnostic, Diagnostics};

use crate::lex::{self, Place};
use crate::module::{Block, Directives, Entry, Module, Param, ParamType, Shared};
use crate::reg::{Reg, RegClass};
use crate::target::{Target, Version};
use crate::types::Scalar;
use crate::verify::verify_inst;
use cursor::{Cursor, Fault};
use inst::{Names, OpTable};

/// Faults after which reading stops: a wrong file has no end of them.
const MOST_FAULTS: usize = 20;

/// A module from its text; `origin` names the text in messages. A variable `.extern .shared` is of the next entry.
/// Errors: `ptx-syntax` with the place, `ptx-invalid` for what the whole breaks.
pub fn parse(text: &str, origin: &str) -> Result<Module, Diagnostics> {
    let (tokens, end) = lex::tokens(text, origin)?;
    let mut reader = Reader {
        cursor: Cursor::new(&tokens, end),
        table: OpTable::new(),
        target: Target::default(),
        origin,
        faults: Diagnostics::default(),
    };
    let (module, version) = match reader.module() {
        Ok(read) => read,
        Err(fault) => {
            reader.fault(fault);
            return Err(reader.faults);
        }
    };
    reader.faults.into_result(())?;
    module.verify()?;
    let needed = module.version();
    if version < needed {
        let message = format!("the text says `.version {version}`, its instructions need {needed}");
        return Err(Diagnostic::error("ptx-invalid", message).at(origin).into());
    }
    Ok(module)
}

struct Reader<'a> {
    cursor: Cursor<'a>,
    table: OpTable,
    target: Target,
    origin: &'a str,
    faults: Diagnostics,
}

impl<'a> Reader<'a> {
    fn fault(&mut self, fault: Fault) {
        self.faults.push(fault.place.error("ptx-syntax", self.origin, fault.message()));
    }

    fn module(&mut self) -> Result<(Module, Version), Fault> {
        self.cursor.expect(".version")?;
        let version = self.version()?;
        self.cursor.expect(".target")?;
        self.target = self.cursor.key("")?;
        if self.cursor.take(".address_size") {
            self.cursor.expect("64")?;
        }
        let mut module = Module { target: self.target, entries: Vec::new() };
        let mut dynamic = Vec::new();
        while !self.cursor.at_end() && self.faults.0.len() < MOST_FAULTS {
            if self.cursor.take(".extern") {
                self.cursor.expect(".shared")?;
                dynamic.push(self.shared(false)?);
            } else {
                self.cursor.take(".visible");
                self.cursor.expect_one(".entry", &[".extern", ".visible", ".entry"])?;
                module.entries.push(self.entry(std::mem::take(&mut dynamic))?);
            }
        }
        Ok((module, version))
    }

    fn version(&mut self) -> Result<Version, Fault> {
        let place = self.cursor.place();
        let word = self.cursor.word("a version")?;
        let parts =
            word.split_once('.').and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
        let (major, minor) = parts.ok_or_else(|| Fault::expected(place, "a version such as `8.0`", word))?;
        Ok(Version(major, minor))
    }

    fn entry(&mut self, mut shared: Vec<Shared>) -> Result<Entry, Fault> {
        let name = self.cursor.word("a name")?.to_string();
        let params = self.params()?;
        let directives = self.directives()?;
        self.cursor.expect("{")?;
        let mut entry = Entry { name, params, directives, ..Entry::default() };
        loop {
            if self.cursor.take(".reg") {
                let (class, count) = self.registers()?;
                entry.registers.set(class, count.max(entry.registers.get(class)));
            } else if self.cursor.take(".shared") {
                shared.push(self.shared(true)?);
            } else {
                break;
            }
        }
        entry.shared = shared;
        self.body(&mut entry)?;
        Ok(entry)
    }

    fn params(&mut self) -> Result<Vec<Param>, Fault> {
        let mut params = Vec::new();
        self.cursor.expect("(")?;
        while !self.cursor.take(")") {
            if !params.is_empty() {
                self.cursor.expect(",")?;
            }
            self.cursor.expect(".param")?;
            params.push(self.param()?);
        }
        Ok(params)
    }

    fn param(&mut self) -> Result<Param, Fault> {
        if self.cursor.take(".align") {
            let align = self.cursor.number()?;
            self.cursor.expect(".b8")?;
            let name = self.cursor.word("a name")?.to_string();
            self.cursor.expect("[")?;
            let size = self.cursor.number()?;
            self.cursor.expect("]")?;
            return Ok(Param { name, ty: ParamType::Bytes { align, size } });
        }
        let ty: Scalar = self.cursor.key(".")?;
        Ok(Param { name: self.cursor.word("a name")?.to_string(), ty: ParamType::Scalar(ty) })
    }

    /// After `.shared`.
    fn shared(&mut self, sized: bool) -> Result<Shared, Fault> {
        self.cursor.expect(".align")?;
        let align = self.cursor.number()?;
        self.cursor.expect(".b8")?;
        let name = self.cursor.word("a name")?.to_string();
        self.cursor.expect("[")?;
        let size = if sized { Some(self.cursor.number()?) } else { None };
        self.cursor.expect("]")?;
        self.cursor.expect(";")?;
        Ok(Shared { name, align, size })
    }

    fn directives(&mut self) -> Result<Directives, Fault> {
        let mut directives = Directives::default();
        loop {
            if self.cursor.take(".reqntid") {
                directives.reqntid = Some(self.sizes()?);
            } else if self.cursor.take(".maxntid") {
                directives.maxntid = Some(self.sizes()?);
            } else if self.cursor.take(".maxnreg") {
                directives.maxnreg = Some(self.cursor.number()?);
            } else if self.cursor.take(".minnctapersm") {
                directives.minnctapersm = Some(self.cursor.number()?);
            } else if self.cursor.take(".explicitcluster") {
                self.cursor.expect(".reqnctapercluster")?;
                directives.cluster = Some(self.sizes()?);
            } else {
                return Ok(directives);
            }
        }
    }

    /// One to three numbers; missing ones are 1.
    fn sizes(&mut self) -> Result<[u32; 3], Fault> {
        let mut sizes = [self.cursor.number()?, 1, 1];
        for size in &mut sizes[1..] {
            if !self.cursor.take(",") {
                break;
            }
            *size = self.cursor.number()?;
        }
        Ok(sizes)
    }

    /// After `.reg`.
    fn registers(&mut self) -> Result<(RegClass, u32), Fault> {
        let place = self.cursor.place();
        let ty = self.cursor.word("a type")?;
        let prefix = self.cursor.word("a register's name")?;
        let class = RegClass::ALL.into_iter().find(|class| class.prefix() == prefix);
        let class =
            class.filter(|class| ty.strip_prefix('.') == Some(class.declared_type())).ok_or_else(|| {
                Fault::expected(
                    place,
                    "`.pred %p`, `.b16 %h`, `.b32 %r` or `.b64 %rd`",
                    &format!("{ty} {prefix}"),
                )
            })?;
        self.cursor.expect("<")?;
        let place = self.cursor.place();
        let count: u32 = self.cursor.number()?;
        if count > Reg::MAX_INDEX {
            return Err(Fault::expected(place, "fewer registers", &count.to_string()));
        }
        self.cursor.expect(">")?;
        self.cursor.expect(";")?;
        Ok((class, count))
    }

    fn body(&mut self, entry: &mut Entry) -> Result<(), Fault> {
        let (names, labels) = self.names(entry);
        entry.blocks = labels;
        let mut places: Vec<Place> = Vec::new();
        let mut walk = Walk::default();
        while !self.cursor.take("}") {
            if self.cursor.at_end() || self.faults.0.len() >= MOST_FAULTS {
                return Err(self.cursor.fault("`}`"));
            }
            walk.enter(&self.cursor);
            if self.cursor.take_label().is_some() {
                continue;
            }
            let place = self.cursor.place();
            match inst::parse(&mut self.cursor, &self.table, &names) {
                Ok(inst) => {
                    entry.blocks[walk.blocks - 1].insts.push(inst);
                    places.push(place);
                }
                Err(fault) => {
                    self.fault(fault);
                    self.cursor.skip_statement();
                }
            }
        }
        for (inst, place) in entry.insts().zip(places) {
            if let Err(message) = verify_inst(entry, self.target, inst) {
                self.faults.push(place.error("ptx-invalid", self.origin, message));
            }
        }
        Ok(())
    }

    /// Names that instructions may use; the blocks, still empty. The cursor stays.
    fn names(&self, entry: &Entry) -> (Names<'a>, Vec<Block>) {
        let mut labels = BTreeMap::new();
        let mut blocks = Vec::new();
        let mut ahead = self.cursor.clone();
        let mut walk = Walk::default();
        while !ahead.at_end() && !ahead.take("}") {
            walk.enter(&ahead);
            blocks.resize(walk.blocks, Block::default());
            match (ahead.take_label(), blocks.last_mut()) {
                (Some(label), Some(block)) => {
                    labels.insert(label, walk.blocks as u32 - 1);
                    block.name = block_name(label).to_string();
                }
                _ => ahead.skip_statement(),
            }
        }
        let variables = |names: &mut dyn Iterator<Item = &String>| -> BTreeMap<String, u32> {
            names.enumerate().map(|(i, name)| (name.clone(), i as u32)).collect()
        };
        let shared = variables(&mut entry.shared.iter().map(|shared| &shared.name));
        let params = variables(&mut entry.params.iter().map(|param| &param.name));
        (Names { labels, shared, params }, blocks)
    }
}

/// Counts blocks: a label opens one, and so does what stands behind a branch without a label.
#[derive(Default)]
struct Walk {
    blocks: usize,
    /// The last statement is a branch, and this its guard.
    branch: Option<Guarded>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Guarded(bool);

impl Walk {
    /// At the start of a label or of an instruction.
    fn enter(&mut self, cursor: &Cursor) {
        let mut ahead = cursor.clone();
        if ahead.take_label().is_some() {
            self.blocks += 1;
            self.branch = None;
            return;
        }
        let guarded = Guarded(ahead.take("@"));
        if guarded == Guarded(true) {
            ahead.take("!");
            ahead.advance();
        }
        let is_branch = ahead.peek().is_some_and(|word| word == "bra" || word.starts_with("bra."));
        // Branches may follow one with a guard.
        let goes_on = match self.branch {
            None => self.blocks > 0,
            Some(before) => is_branch && before == Guarded(true),
        };
        self.blocks += usize::from(!goes_on);
        self.branch = is_branch.then_some(guarded);
    }
}

/// What readers call the block: the label without what `print` puts before it.
fn block_name(label: &str) -> &str {
    let bare = label.trim_start_matches('$');
    let Some(numbered) = bare.strip_prefix('L').filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    else {
        return bare;
    };
    let name = numbered.trim_start_matches(|c: char| c.is_ascii_digit());
    name.strip_prefix('_').unwrap_or(name)
}
