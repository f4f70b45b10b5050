//! Defines how a widget is looked up in a window.

use std::fmt;

use atspi::{Role, State};

use super::Widget;

/// Describes a widget. Only visible ones can be found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct By {
    name: Option<String>,
    part: Option<String>,
    role: Option<Role>,
    state: Option<State>,
    under: Option<String>,
}

/// A widget with exactly this accessible name; a label's is its text.
pub fn named(name: &str) -> By {
    By { name: Some(name.to_owned()), ..By::default() }
}

/// A widget whose accessible name contains this text.
pub fn containing(part: &str) -> By {
    By { part: Some(part.to_owned()), ..By::default() }
}

/// A widget of this role.
pub fn role(role: Role) -> By {
    By { role: Some(role), ..By::default() }
}

/// A widget in this state.
pub fn state(state: State) -> By {
    By { state: Some(state), ..By::default() }
}

impl By {
    /// And of this role.
    #[must_use]
    pub fn role(mut self, role: Role) -> Self {
        self.role = Some(role);
        self
    }

    /// And in this state.
    #[must_use]
    pub fn state(mut self, state: State) -> Self {
        self.state = Some(state);
        self
    }

    /// And somewhere inside a widget of this name.
    #[must_use]
    pub fn under(mut self, name: &str) -> Self {
        self.under = Some(name.to_owned());
        self
    }

    pub(super) fn fits(&self, widget: &Widget) -> bool {
        self.name.as_ref().is_none_or(|name| widget.name() == name)
            && self.part.as_ref().is_none_or(|part| widget.name().contains(part.as_str()))
            && self.role.is_none_or(|role| widget.role() == role)
            && self.state.is_none_or(|state| widget.is(state))
            && self.under.as_ref().is_none_or(|name| widget.is_under(name))
    }
}

impl fmt::Display for By {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a widget")?;
        if let Some(role) = self.role {
            write!(f, " of role {role:?}")?;
        }
        if let Some(name) = &self.name {
            write!(f, " named {name:?}")?;
        }
        if let Some(part) = &self.part {
            write!(f, " whose name holds {part:?}")?;
        }
        if let Some(state) = self.state {
            write!(f, " that is {state:?}")?;
        }
        if let Some(name) = &self.under {
            write!(f, " inside {name:?}")?;
        }
        Ok(())
    }
}
