//! Reads agents, commands and skills that users write as Markdown files, and tells of changes.
//!
//! [`load`] reads them once, a [`DefinitionWatcher`] keeps [`Definitions`] up to date. A definition of a project is
//! data that anybody may have put there: it is in these lists only once its user has trusted it ([`TrustStore`]).
//! Until then [`ProjectDefinitions`] says what it would do.
//!
//! Nothing here is for the eyes of users: [`Problem`]s are kinds, which front ends put into words. Reading blocks.

#![warn(missing_docs)]
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod agent;
mod color;
mod command;
mod digest;
mod expand;
mod fields;
mod front;
mod merge;
mod nearest;
mod place;
mod problem;
mod scan;
mod skill;
mod skill_list;
mod tools;
mod tree;
mod trust;
mod unusable;
mod visible;
mod watch_list;
mod watcher;
mod yaml;

pub use agent::AgentDefinition;
pub use color::{Color, ColorName};
pub use command::CommandDefinition;
pub use digest::{Digest, InvalidDigest};
pub use expand::expand;
pub use merge::{Definitions, Sources, load};
pub use nearest::nearest;
pub use place::{Origin, Place};
pub use problem::{Problem, ProblemKind, Severity, ValueType};
pub use skill::{ReadError, Skill};
pub use skill_list::skill_list;
pub use tools::ToolPatterns;
pub use trust::{
    ForgottenTrust, ItemKind, ProjectDefinitions, ProjectItem, SkillFileChange,
    SkillFileChangeKind, TrustStore,
};
pub use unusable::Unusable;
pub use visible::{is_hidden, visible};
pub use watcher::DefinitionWatcher;
