//! One node as a converter sees it: operands already resolved, attributes by name and kind.

use super::domain::{ONNX, full_domain};
use super::proto::attribute_proto::AttributeType as Kind;
use super::proto::{AttributeProto, GraphProto, NodeProto, TensorProto};
use super::weights::dtype_of;
use crate::build::scope::Slot;
use crate::report::{Fault, Outcome};
use smallvec::SmallVec;
use std::cell::{Cell, RefCell};
use tegula_base::DType;
use tegula_ir::Value;

pub(crate) type Operands = SmallVec<[Option<Slot>; 4]>;

/// A node with what its operands stand for. `None` operands were left out (an empty name).
pub(crate) struct Node<'a> {
    pub proto: &'a NodeProto,
    pub operands: Operands,
    /// The version of the node's domain that the model imports.
    pub version: i64,
    /// Attributes and operands that were asked for and hold another kind of value than asked for.
    mistyped: RefCell<Vec<String>>,
    /// An operand that was asked for as numbers is strings.
    strings: Cell<bool>,
    /// Places of the attributes that were asked for.
    read: RefCell<SmallVec<[usize; 8]>>,
}

impl<'a> Node<'a> {
    pub fn new(proto: &'a NodeProto, operands: Operands, version: i64) -> Node<'a> {
        Node {
            proto,
            operands,
            version,
            mistyped: RefCell::default(),
            strings: Cell::default(),
            read: RefCell::default(),
        }
    }

    /// Converts the node with other operands. What is asked for there counts as asked for here.
    /// Errors: the converter's; an attribute or operand is of another kind than it expects.
    pub fn with_operands<T>(
        &self,
        operands: Operands,
        convert: impl FnOnce(&Node) -> Outcome<T>,
    ) -> Outcome<T> {
        let other = Node::new(self.proto, operands, self.version);
        let converted = convert(&other);
        self.read.borrow_mut().extend(other.read.take());
        other.check_kinds()?;
        converted
    }

    /// Errors: a converter read an attribute or operand of another kind than it expects; it saw the default or
    /// nothing instead.
    pub fn check_kinds(&self) -> Outcome<()> {
        if self.strings.take() {
            let why = format!("`{}` of strings is not supported", self.op_type());
            return Err(Fault::unsupported(why));
        }
        let mistyped = self.mistyped.take();
        if mistyped.is_empty() { Ok(()) } else { Err(Fault::invalid(mistyped.join("; "))) }
    }

    /// Errors: two attributes have one name, or one refers to an attribute of a function while the node stands in none.
    pub fn check_attributes(proto: &NodeProto) -> Outcome<()> {
        for (place, attribute) in proto.attribute.iter().enumerate() {
            let name = attribute.name();
            if proto.attribute[..place].iter().any(|other| other.name() == name) {
                return Err(Fault::invalid(format!("attribute `{name}` is given twice")));
            }
            // Where a function is called, references are replaced by what they refer to.
            if !attribute.ref_attr_name().is_empty() {
                return Err(Fault::invalid(format!(
                    "attribute `{name}` refers to attribute `{}` of a function, but the node stands in none",
                    attribute.ref_attr_name()
                )));
            }
        }
        Ok(())
    }

    /// Errors: the converter did not ask for an attribute that the node has, so it may mean something else.
    /// Of ONNX's own ops a checker knows all attributes; other domains grow without versions.
    pub fn check_all_read(&self) -> Outcome<()> {
        let read = self.read.borrow();
        let unread = self.proto.attribute.iter().enumerate().find(|(place, _)| !read.contains(place));
        match unread {
            Some((_, attribute)) => {
                Err(Fault::unsupported(format!("attribute `{}` is not supported", attribute.name())))
            }
            None => Ok(()),
        }
    }

    /// Attributes that change no result, or none of this node's.
    pub fn needs_not(&self, names: &[&str]) {
        for name in names {
            self.attribute(name);
        }
    }

    pub fn op_type(&self) -> &'a str {
        self.proto.op_type()
    }

    /// Operand `i`. Errors: it is not given.
    pub fn operand(&self, i: usize) -> Outcome {
        self.optional(i).ok_or_else(|| Fault::invalid(format!("operand {i} is missing")))
    }

    /// Operand `i` where it is given; a sequence in place of a tensor is a fault of the node.
    pub fn optional(&self, i: usize) -> Option<Value> {
        match self.operands.get(i)?.as_ref()? {
            Slot::Value(value) => Some(*value),
            Slot::Absent | Slot::Failed => None,
            Slot::Text(_) => {
                self.strings.set(true);
                None
            }
            other @ Slot::Sequence(_) => {
                self.mistype(format!(
                    "operand {i} is {} where a tensor of numbers is expected",
                    other.describe()
                ));
                None
            }
        }
    }

    /// Operand `i`, whatever it stands for. Errors: it is not given.
    pub fn slot(&self, i: usize) -> Outcome<Slot> {
        let slot = self.operands.get(i).and_then(Option::as_ref);
        slot.cloned().ok_or_else(|| Fault::invalid(format!("operand {i} is missing")))
    }

    /// Operand `i`, a tensor of strings. Errors: it is none.
    pub fn texts_operand(&self, i: usize) -> Outcome {
        match self.slot(i)? {
            Slot::Text(text) => Ok(text),
            other => Err(Fault::invalid(format!(
                "operand {i} must be a tensor of strings, got {}",
                other.describe()
            ))),
        }
    }

    /// The tensors of operand `i`, a sequence. Errors: it is none.
    pub fn sequence(&self, i: usize) -> Outcome<Vec<Value>> {
        match self.slot(i)? {
            Slot::Sequence(values) => Ok(values.to_vec()),
            other => Err(Fault::invalid(format!("operand {i} must be a sequence, got {}", other.describe()))),
        }
    }

    /// All operands, none of which may be left out.
    pub fn all_operands(&self) -> Outcome<Vec<Value>> {
        (0..self.operands.len()).map(|i| self.operand(i)).collect()
    }

    /// Whether result `i` has a name, so that someone may use it.
    pub fn wants(&self, i: usize) -> bool {
        self.proto.output.get(i).is_some_and(|name| !name.is_empty())
    }

    pub fn attribute(&self, name: &str) -> Option<&'a AttributeProto> {
        let place = self.proto.attribute.iter().position(|attribute| attribute.name() == name)?;
        self.read.borrow_mut().push(place);
        Some(&self.proto.attribute[place])
    }

    pub fn has(&self, name: &str) -> bool {
        self.attribute(name).is_some()
    }

    /// An attribute of the kind asked for. Models of the first format version name no kinds.
    fn of_kind(&self, name: &str, kind: Kind) -> Option<&'a AttributeProto> {
        let attribute = self.attribute(name)?;
        if matches!(attribute.r#type(), Kind::Undefined) || attribute.r#type() == kind {
            return Some(attribute);
        }
        let (wanted, found) = (kind.as_str_name(), attribute.r#type().as_str_name());
        self.mistype(format!("attribute `{name}` must be of kind {wanted}, not {found}"));
        None
    }

    fn mistype(&self, message: String) {
        let mut mistyped = self.mistyped.borrow_mut();
        if !mistyped.contains(&message) {
            mistyped.push(message);
        }
    }

    pub fn int(&self, name: &str, default: i64) -> i64 {
        self.of_kind(name, Kind::Int).map_or(default, |attribute| attribute.i())
    }

    pub fn flag(&self, name: &str, default: bool) -> bool {
        self.int(name, i64::from(default)) != 0
    }

    pub fn optional_int(&self, name: &str) -> Option<i64> {
        self.of_kind(name, Kind::Int).map(|attribute| attribute.i())
    }

    /// An element type by ONNX's number; `None` where the attribute is not given, or is 0.
    /// Errors: no number of ONNX's, or a type that Tegula has not.
    pub fn element_type(&self, name: &str) -> Outcome<Option<DType>> {
        let Some(number) = self.optional_int(name).filter(|number| *number != 0) else { return Ok(None) };
        let number = i32::try_from(number)
            .map_err(|_| Fault::invalid(format!("`{name}` is {number}, which is no element type of ONNX")))?;
        dtype_of(number).map(Some).map_err(Fault::unsupported)
    }

    pub fn float(&self, name: &str, default: f32) -> f64 {
        f64::from(self.of_kind(name, Kind::Float).map_or(default, |attribute| attribute.f()))
    }

    pub fn optional_float(&self, name: &str) -> Option<f64> {
        self.of_kind(name, Kind::Float).map(|attribute| f64::from(attribute.f()))
    }

    pub fn ints(&self, name: &str) -> Option<Vec<i64>> {
        self.of_kind(name, Kind::Ints).map(|attribute| attribute.ints.clone())
    }

    pub fn floats(&self, name: &str) -> Option<Vec<f32>> {
        self.of_kind(name, Kind::Floats).map(|attribute| attribute.floats.clone())
    }

    pub fn text(&self, name: &str, default: &str) -> String {
        self.of_kind(name, Kind::String).map_or_else(
            || default.to_string(),
            |attribute| String::from_utf8_lossy(attribute.s()).into_owned(),
        )
    }

    pub fn texts(&self, name: &str) -> Option<Vec<String>> {
        let attribute = self.of_kind(name, Kind::Strings)?;
        Some(attribute.strings.iter().map(|text| String::from_utf8_lossy(text).into_owned()).collect())
    }

    /// A whole number for each of `n` axes, `default` where the attribute is not given. Errors: too few or too many.
    pub fn per_axis(&self, name: &str, n: usize, default: i64) -> Outcome<Vec<i64>> {
        let list = self.ints(name).unwrap_or_else(|| vec![default; n]);
        if list.len() == n {
            return Ok(list);
        }
        Err(Fault::invalid(format!("attribute `{name}` has {} entries for {n} spatial axes", list.len())))
    }

    pub fn tensor(&self, name: &str) -> Option<&'a TensorProto> {
        self.of_kind(name, Kind::Tensor)?.t.as_deref()
    }

    pub fn graph(&self, name: &str) -> Outcome<&'a GraphProto> {
        self.of_kind(name, Kind::Graph)
            .and_then(|attribute| attribute.g.as_deref())
            .ok_or_else(|| Fault::invalid(format!("attribute `{name}` must hold a graph")))
    }
}

/// A node's name, or that of its first named result.
pub(crate) fn display_name(node: &NodeProto) -> &str {
    match node.name() {
        "" => node.output.iter().find(|name| !name.is_empty()).map_or("", String::as_str),
        name => name,
    }
}

/// `Gemm`, or `com.microsoft::Gelu`.
pub(crate) fn display_op(node: &NodeProto) -> String {
    match full_domain(node.domain()) {
        ONNX => node.op_type().to_string(),
        domain => format!("{domain}::{}", node.op_type()),
    }
}
