//! A thing that a file defines.

/// A thing that a file defines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// What it is.
    pub kind: Kind,
    /// Its name.
    pub name: String,
    /// Its first line or lines as one, without its body: `fn parse(text: &str) -> Tree`.
    pub signature: String,
    /// How many others it stands in.
    pub depth: usize,
    /// Its first line and its last, from 1.
    pub lines: (u32, u32),
}

/// What something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A function or a method.
    Function,
    /// A class, a structure, an enumeration or another type.
    Type,
    /// An interface or a trait.
    Interface,
    /// What is implemented for a type.
    Implementation,
    /// A module or a name space.
    Module,
    /// A constant.
    Constant,
    /// A macro.
    Macro,
    /// A heading, with all that stands below it.
    Heading,
}

impl Kind {
    /// The kind that a query's capture names.
    pub(crate) fn of_capture(name: &str) -> Option<Self> {
        Some(match name {
            "function" => Self::Function,
            "type" => Self::Type,
            "interface" => Self::Interface,
            "impl" => Self::Implementation,
            "module" => Self::Module,
            "constant" => Self::Constant,
            "macro" => Self::Macro,
            "heading" => Self::Heading,
            _ => return None,
        })
    }
}
