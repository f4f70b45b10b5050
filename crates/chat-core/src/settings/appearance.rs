//! Defines the window's colors, how large its texts are, and how wide a conversation is.

use serde::{Deserialize, Serialize};

/// Which colors the window has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ColorScheme {
    /// Those that the desktop is set to.
    #[default]
    System,
    /// Dark text on light.
    Light,
    /// Light text on dark.
    Dark,
}

impl ColorScheme {
    /// All of them, in the order in which they are offered.
    pub const ALL: [Self; 3] = [Self::System, Self::Light, Self::Dark];

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// The size of texts, in percent of the usual one. From [`Zoom::LEAST`] to [`Zoom::MOST`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "u16", into = "u16")]
pub struct Zoom(u16);

impl Zoom {
    /// The smallest texts.
    pub const LEAST: u16 = 50;
    /// The largest texts.
    pub const MOST: u16 = 300;
    /// The sizes that one step leads to.
    const STEPS: [u16; 13] = [50, 67, 80, 90, 100, 110, 125, 150, 175, 200, 225, 250, 300];

    /// A size; the nearest allowed one.
    pub fn new(percent: u16) -> Self {
        Self(percent.clamp(Self::LEAST, Self::MOST))
    }

    /// In percent.
    pub fn percent(self) -> u16 {
        self.0
    }

    /// The next larger size.
    #[must_use]
    pub fn larger(self) -> Self {
        Self(Self::STEPS.into_iter().find(|step| *step > self.0).unwrap_or(Self::MOST))
    }

    /// The next smaller size.
    #[must_use]
    pub fn smaller(self) -> Self {
        Self(Self::STEPS.into_iter().rev().find(|step| *step < self.0).unwrap_or(Self::LEAST))
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Default for Zoom {
    fn default() -> Self {
        Self(100)
    }
}

impl From<u16> for Zoom {
    fn from(percent: u16) -> Self {
        Self::new(percent)
    }
}

impl From<Zoom> for u16 {
    fn from(zoom: Zoom) -> Self {
        zoom.0
    }
}

/// How wide a conversation may become.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ColumnWidth {
    /// For small windows and short lines.
    Narrow,
    /// As wide as is easy to read.
    #[default]
    Normal,
    /// For code and tables.
    Wide,
}

impl ColumnWidth {
    /// All of them, the narrowest first.
    pub const ALL: [Self; 3] = [Self::Narrow, Self::Normal, Self::Wide];

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_lead_to_both_ends_and_back() {
        let mut zoom = Zoom::new(0);
        assert_eq!((zoom.percent(), zoom.smaller()), (Zoom::LEAST, zoom));
        for _ in 0..Zoom::STEPS.len() {
            zoom = zoom.larger();
        }
        assert_eq!((zoom.percent(), zoom.larger()), (Zoom::MOST, zoom));
        assert_eq!(Zoom::new(103).larger().percent(), 110);
        assert_eq!(Zoom::new(103).smaller(), Zoom::default());
    }

    #[test]
    fn a_size_that_nobody_could_read_is_not_taken() {
        let read = |text: &str| serde_json::from_str::<Zoom>(text).unwrap().percent();
        assert_eq!((read("1"), read("120"), read("9000")), (50, 120, 300));
    }
}
