//! Defines how much a session may do without asking.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// How much a session may do without asking; it can be switched at any time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Reading in the project passes, everything else asks.
    #[default]
    Ask,
    /// Like [`Mode::Ask`], but writing in the project passes.
    Edits,
    /// Like [`Mode::Edits`], but commands pass in the sandbox, without the network.
    Auto,
    /// Nothing is written, and only commands that read are run, whatever the rules allow.
    Plan,
    /// Nobody is asked: what would ask is refused. Commands pass in the sandbox.
    Unattended,
}

impl Mode {
    /// Every mode, the most careful one for daily use first.
    pub const ALL: [Self; 5] = [Self::Ask, Self::Edits, Self::Auto, Self::Plan, Self::Unattended];

    /// The name in the settings and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Edits => "edits",
            Self::Auto => "auto",
            Self::Plan => "plan",
            Self::Unattended => "unattended",
        }
    }

    /// The mode of a session that works for another one in mode `ceiling`: what neither of them lets
    /// pass unasked does not pass. Where the other asks nobody and this one would ask, nothing is done.
    #[must_use]
    pub fn within(self, ceiling: Self) -> Self {
        match (self, ceiling) {
            (Self::Plan, _) | (_, Self::Plan) | (Self::Ask | Self::Edits, Self::Unattended) => {
                Self::Plan
            }
            (Self::Auto | Self::Unattended, other) => other,
            (Self::Ask, _) | (_, Self::Ask) => Self::Ask,
            (Self::Edits, Self::Edits | Self::Auto) => Self::Edits,
        }
    }

    /// Whether files of the project are written without asking.
    pub(crate) fn writes_freely(self) -> bool {
        matches!(self, Self::Edits | Self::Auto | Self::Unattended)
    }

    /// Whether commands in the sandbox are run without asking.
    pub(crate) fn runs_freely(self) -> bool {
        matches!(self, Self::Auto | Self::Unattended)
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// There is no mode of this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown mode `{0}`")]
pub struct UnknownMode(pub String);

impl FromStr for Mode {
    type Err = UnknownMode;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|mode| mode.name() == text)
            .ok_or_else(|| UnknownMode(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_works_for_another_may_do_no_more_unasked_than_both() {
        for own in Mode::ALL {
            for ceiling in Mode::ALL {
                let mode = own.within(ceiling);
                for may in [Mode::writes_freely, Mode::runs_freely] {
                    assert!(!may(mode) || (may(own) && may(ceiling)), "{own} in {ceiling}: {mode}");
                }
                let asks = |mode| !matches!(mode, Mode::Unattended | Mode::Plan);
                assert!(
                    !asks(mode) || asks(ceiling),
                    "nobody is asked: {own} in {ceiling}: {mode}"
                );
            }
            assert_eq!(own.within(own), own);
        }
    }

    #[test]
    fn a_mode_is_read_as_it_is_written_everywhere() {
        for mode in Mode::ALL {
            assert_eq!(mode.to_string().parse(), Ok(mode));
            assert_eq!(serde_json::to_string(&mode).unwrap(), format!("\"{mode}\""));
        }
        assert_eq!(Mode::default(), Mode::Ask);
        assert_eq!("Ask".parse::<Mode>(), Err(UnknownMode("Ask".to_owned())));
    }
}
