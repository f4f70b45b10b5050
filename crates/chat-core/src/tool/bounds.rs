//! Defines what confines commands on this machine, as data.

/// What keeps commands in bounds on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// What is used.
    pub enforcement: Enforcement,
    /// Each better way, and why it is not used.
    pub why_not: Vec<(Enforcement, UnavailableReason)>,
    /// What is not kept that should be.
    pub gaps: Vec<Gap>,
}

impl Bounds {
    /// Whether nothing could be better here: the best way is used, and it misses only what every
    /// way does.
    pub fn are_full(&self) -> bool {
        self.enforcement == Enforcement::Bubblewrap
            && self.gaps.iter().all(|gap| *gap == Gap::NewRepositories)
    }
}

/// A way to keep commands in bounds, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enforcement {
    /// bubblewrap: an own view of files, processes and network.
    Bubblewrap,
    /// Landlock, in the kernel.
    Landlock,
    /// Nothing: each command is asked for.
    None,
}

/// Why a way is not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnavailableReason {
    /// The program `bwrap` is not installed.
    NotInstalled,
    /// The system forbids the namespaces that it needs.
    NamespacesForbidden,
    /// The kernel does not have it, or it is switched off.
    NotInKernel,
    /// The program is too old for what it is asked for.
    TooOld,
    /// It was tried and gave no answer in time, as on a machine that is very busy.
    NoAnswer,
    /// It was tried and failed; what the system said.
    Failed(String),
    /// It was not asked for.
    NotWanted,
}

/// Something that is not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gap {
    /// Signals reach this person's other programs.
    Signals,
    /// Permissions and times of files outside can be changed, never their contents.
    Attributes,
    /// Whether a file outside is there, its size and its times can be asked.
    Metadata,
    /// A repository that a command makes can have a person's git run something, for about the
    /// second until it is put right. Every way misses it.
    NewRepositories,
    /// Names and command lines of other programs can be read.
    ProcessNames,
    /// Protected names that do not exist yet can be created, and are quarantined when the command has ended.
    NewProtected,
    /// A lawful thing that does not work: in a project with git nothing new comes to its top, and
    /// git's data does not change.
    NoNewEntries,
}
