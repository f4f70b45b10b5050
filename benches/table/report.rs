//! Samples, and the table that is made of them.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::Result;
use serde::Serialize;

/// One line of the table with all that was measured for it.
#[derive(Debug, Serialize)]
pub struct Row {
    pub what: String,
    pub unit: &'static str,
    pub goal: Goal,
    pub floor_is: &'static str,
    /// Natter's samples, in the order in which they were taken.
    pub natter: Vec<f64>,
    /// The floor's samples, each taken next to Natter's of the same place.
    pub floor: Vec<f64>,
}

/// What a row should reach.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Goal {
    /// At most this many times the floor.
    Times(f64),
    /// At most this, in the row's unit.
    AtMost(f64),
    /// At least this, in the row's unit.
    AtLeast(f64),
    /// At most this much above the floor.
    Above(f64),
}

impl Row {
    pub fn new(what: impl Into<String>, unit: &'static str, goal: Goal) -> Self {
        Self {
            what: what.into(), unit, goal, floor_is: "—", natter: Vec::new(), floor: Vec::new()
        }
    }

    pub fn against(mut self, floor_is: &'static str) -> Self {
        self.floor_is = floor_is;
        self
    }

    fn is_met(&self) -> bool {
        let (natter, floor) = (median(&self.natter), median(&self.floor));
        match self.goal {
            Goal::Times(most) => natter <= floor * most,
            Goal::AtMost(most) => natter <= most,
            Goal::AtLeast(least) => natter >= least,
            Goal::Above(most) => natter <= floor + most,
        }
    }

    fn line(&self) -> String {
        let (natter, floor) = (median(&self.natter), median(&self.floor));
        let unit = self.unit;
        let none = || "—".to_owned();
        let has_floor = !self.floor.is_empty();
        let ratio =
            if has_floor && floor > 0.0 { format!("{:.2} ×", natter / floor) } else { none() };
        let goal = match self.goal {
            Goal::Times(most) => format!("≤ {} ×", short(most)),
            Goal::AtMost(most) => format!("≤ {most} {unit}"),
            Goal::AtLeast(least) => format!("≥ {least} {unit}"),
            Goal::Above(most) => format!("≤ floor + {most} {unit}"),
        };
        let floor =
            if has_floor { format!("{} {unit} ({})", short(floor), self.floor_is) } else { none() };
        let met = if self.is_met() { "yes" } else { "**no**" };
        format!("| {} | {} {unit} | {floor} | {ratio} | {goal} | {met} |", self.what, short(natter))
    }
}

/// The middle value.
pub fn median(samples: &[f64]) -> f64 {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[n / 2],
        n => f64::midpoint(sorted[n / 2 - 1], sorted[n / 2]),
    }
}

/// Three digits are more than such measurements carry.
fn short(value: f64) -> String {
    match value.abs() {
        v if v >= 100.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// The table in Markdown.
pub fn table(rows: &[Row]) -> String {
    let mut out =
        String::from("| what | Natter | floor | ratio | goal | met |\n|---|---|---|---|---|---|\n");
    for row in rows {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{}", row.line());
    }
    out
}

/// Keeps the raw samples and the table.
pub fn keep(rows: &[Row], folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)?;
    fs::write(folder.join("samples.json"), serde_json::to_vec_pretty(rows)?)?;
    fs::write(folder.join("table.md"), table(rows))?;
    Ok(())
}
