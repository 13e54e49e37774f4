//! The untyped syntax tree of MLIR's generic form, as the language reference spells it.
//! Nothing here is checked beyond syntax: names are not resolved, types are not compared.
//! Source: <https://mlir.llvm.org/docs/LangRef/>.

/// A whole file: alias definitions, operations, then the sidecar of `{-# ... #-}` resources.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Module {
    /// `#name = attr`, in file order.
    pub attr_aliases: Vec<(String, Attr)>,
    /// `!name = type`, in file order.
    pub type_aliases: Vec<(String, Type)>,
    pub ops: Vec<Operation>,
    /// `dialect_resources: { builtin: { key: "0x..." } }` as (dialect, key, bytes), alignment prefix included.
    pub resources: Vec<(String, String, Vec<u8>)>,
    /// `external_resources`, likewise; values kept as attributes.
    pub external_resources: Vec<(String, String, Attr)>,
}

/// `%r:2 = "dialect.op"(%a, %b#1)[^bb1] <{props}> ({regions}) {attrs} : (types) -> (types) loc(...)`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Operation {
    pub results: Vec<ResultPack>,
    /// Full name with its dialect, e.g. `tgn.reshape`.
    pub name: String,
    pub operands: Vec<ValueRef>,
    pub successors: Vec<Successor>,
    /// Properties in `<{...}>`, in file order.
    pub properties: Vec<(String, Attr)>,
    pub regions: Vec<Region>,
    /// Discardable attributes in `{...}`, in file order; a `unit` attribute prints without `= unit`.
    pub attributes: Vec<(String, Attr)>,
    pub operand_types: Vec<Type>,
    pub result_types: Vec<Type>,
    pub location: Option<Location>,
    /// Where the operation's name stood in the text; zero when built in memory.
    pub at: Position,
}

/// Line and column, both from 1; zero when the tree was not parsed from text.
#[derive(Clone, Copy, Debug, Default, Eq)]
pub struct Position {
    pub line: u32,
    pub column: u32,
}

/// Positions never make trees differ.
impl PartialEq for Position {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// `%name` or `%name:count` on the left of `=`.
#[derive(Clone, Debug, PartialEq)]
pub struct ResultPack {
    pub name: String,
    pub count: u32,
}

/// `%name` or `%name#index`; `name` carries no `%`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ValueRef {
    pub name: String,
    pub index: u32,
}

/// `^block(%a, %b : types)`.  Upstream's parser knows only `^block`: for its eyes the values are operands of the op.
#[derive(Clone, Debug, PartialEq)]
pub struct Successor {
    pub block: String,
    pub operands: Vec<(ValueRef, Type)>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Region {
    pub blocks: Vec<Block>,
}

/// `^label(%arg: type loc(...)):` and the operations below; the entry block may have no label.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    pub label: Option<String>,
    pub args: Vec<(String, Type, Option<Location>)>,
    pub ops: Vec<Operation>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    /// `i32`, `si8`, `ui16`.
    Integer {
        width: u32,
        sign: Sign,
    },
    Index,
    None,
    /// `f32`, `bf16`, `f8E4M3FN`, `tf32` ...: the spelling.
    Float(String),
    Complex(Box<Type>),
    Tuple(Vec<Type>),
    /// `(a, b) -> (c)`.
    Function(Vec<Type>, Vec<Type>),
    /// `tensor<2x?xf32, encoding>`; `None` is `?`.
    RankedTensor {
        shape: Vec<Option<u64>>,
        element: Box<Type>,
        encoding: Option<Box<Attr>>,
    },
    /// `tensor<*xf32>`.
    UnrankedTensor(Box<Type>),
    /// `vector<4x[8]xf32>`; the flag marks a scalable dimension.
    Vector {
        shape: Vec<(u64, bool)>,
        element: Box<Type>,
    },
    /// `memref<2x?xf32, layout, space>`.
    MemRef {
        shape: Vec<Option<u64>>,
        element: Box<Type>,
        trailing: Vec<Attr>,
    },
    UnrankedMemRef {
        element: Box<Type>,
        trailing: Vec<Attr>,
    },
    /// `!dialect.body` or `!dialect<body>`, verbatim with balanced brackets, without the `!`.
    Dialect(String),
    /// `!name` of an alias, without the `!`.
    Alias(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    Signless,
    Signed,
    Unsigned,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Attr {
    Unit,
    Bool(bool),
    /// `7`, `-1 : i32`, `0xFF : i8`. The value and its type; no type means `i64`.
    Integer(i128, Option<Type>),
    /// A float literal: its text (decimal or hex bits, both kept as written) and type; no type means `f64`.
    Float(String, Option<Type>),
    /// Unescaped bytes (MLIR strings need not be UTF-8) and a type where one follows.
    String(Vec<u8>, Option<Type>),
    Array(Vec<Attr>),
    Dictionary(Vec<(String, Attr)>),
    Type(Type),
    /// `@root::@nested`.
    Symbol(Vec<String>),
    /// `dense<...> : type`.
    Dense(Dense, Type),
    /// `sparse<indices, values> : type`.
    Sparse(Dense, Dense, Type),
    /// `dense_resource<key> : type`.
    DenseResource(String, Type),
    /// `array<i64: 1, 2>`: element type and literals as written.
    DenseArray(Type, Vec<String>),
    /// `affine_map<...>` or `affine_set<...>`: keyword and body, verbatim.
    Affine(String, String),
    /// `strided<[...], offset: ...>`, `distinct[0]<...>` and other built-in forms kept verbatim.
    Verbatim(String),
    /// `#dialect.body` or `#dialect<body>`, verbatim with balanced brackets, without the `#`.
    Dialect(String),
    /// `#name` of an alias, without the `#`.
    Alias(String),
    Location(Box<Location>),
}

/// The body of `dense<...>`.
#[derive(Clone, Debug, PartialEq)]
pub enum Dense {
    /// `dense<>`, no element.
    Empty,
    /// `dense<1.0>`: every element, as written.
    Splat(String),
    /// Nested lists, literals as written.
    List(Vec<Dense>),
    /// `dense<"0x...">`: raw little-endian bytes.
    Hex(Vec<u8>),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Location {
    Unknown,
    /// `"file":line:col`, optionally `to :line:col` kept as text.
    File {
        file: String,
        line: u32,
        column: u32,
        to: Option<String>,
    },
    /// `"name"` or `"name"(child)`.
    Name(String, Option<Box<Location>>),
    /// `callsite(callee at caller)`.
    CallSite(Box<Location>, Box<Location>),
    /// `fused<metadata>[...]`.
    Fused(Option<Box<Attr>>, Vec<Location>),
    /// `#loc3`.
    Alias(String),
}
