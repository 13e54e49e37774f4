//! The rules of a host program, each with a name: tests have a program for each that breaks this one alone.

/// Defines [`Rule`] and the list of all rules, which so cannot lack one.
macro_rules! rules {
    ($($(#[doc = $what:literal])* $rule:ident,)*) => {
        /// What a program must keep to.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Rule {
            $($(#[doc = $what])* $rule,)*
        }

        impl Rule {
            pub const ALL: &[Rule] = &[$(Rule::$rule,)*];
        }
    };
}

rules! {
    /// A size symbol has a legal name of its own.
    SymbolName,
    /// A size symbol has a range and a divisor.
    SymbolRange,
    /// The bound of a size symbol uses earlier symbols.
    SymbolBound,
    /// The input that a size symbol comes from shows it.
    SymbolOrigin,
    /// A size uses declared symbols.
    SizeSymbol,
    /// No two inputs have one name.
    InputName,
    /// An input has a buffer of its own.
    InputBuffer,
    /// An input is in no other's memory.
    InputAlias,
    /// A default is a tensor of its input, among the constants.
    InputDefault,
    /// The buffer at an output's place is this output's.
    OutputBuffer,
    /// An output that is in an input's memory is like it, and alone there.
    OutputAlias,
    /// A buffer that is named is there.
    BufferId,
    /// A buffer lives from one step to the same or a later one.
    BufferLifetime,
    /// A place of inputs, outputs and states has one buffer.
    BufferPlace,
    /// A constant's bytes are there, and enough for its buffer.
    Constant,
    /// An alias is of a buffer that is none.
    AliasChain,
    /// A kernel that is launched is there.
    KernelId,
    /// The arguments of a launch are what its kernel's tensor maps want.
    MapArguments,
    /// No step writes to an input or a constant.
    ReadOnly,
    /// A symbol that a step binds comes from data.
    BindOrigin,
    /// A loop has a number of iterations or a condition.
    LoopEnd,
    /// Steps nest so deep at most.
    Nesting,
    /// An image is inside of its section, and in no other.
    ImageRange,
    /// The image of a kernel is there.
    KernelImage,
    /// A kernel is inside of its image.
    KernelRange,
    /// A GPU can launch what a kernel says.
    LaunchFacts,
    /// A kernel is entered as its instruction set wants it.
    EntryKind,
    /// No two kernels' code overlaps, but for the same code.
    CodeOverlap,
    /// A package has so many devices at most.
    DeviceCount,
    /// A buffer's device is there.
    BufferDevice,
    /// The caller's tensors are on the home.
    PortDevice,
    /// An alias is on the device of its memory.
    AliasDevice,
    /// An image's device is there.
    ImageDevice,
    /// A device runs the instruction set of its image.
    ImageIsa,
    /// What an output shows is on the home.
    OutputDevice,
    /// A region gets its buffers before its sizes.
    RegionArguments,
    /// A kernel's buffers are on its device.
    LaunchDevice,
    /// A copy is within one device.
    CopyDevice,
    /// A transfer goes from one device to another.
    TransferDevice,
    /// No fork is inside of another.
    ForkNesting,
    /// Branches that may run at once do not depend on each other.
    ForkBranches,
    /// What a branch uses lives as long as both.
    ForkLifetime,
}
