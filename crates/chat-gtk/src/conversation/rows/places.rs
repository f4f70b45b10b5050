//! Which row belongs to which entry.

use super::super::entry::Entry;

/// Which entry a row belongs to, for rows that are asked for near each other.
pub struct Places {
    /// Where each entry's rows begin, and the end.
    pub starts: Vec<usize>,
}

impl Places {
    /// The places of these entries' rows.
    pub fn new(entries: &[Entry]) -> Self {
        let mut at = 0;
        let mut starts = Vec::with_capacity(entries.len());
        for entry in entries {
            starts.push(at);
            at += entry.rows;
        }
        Self { starts }
    }

    /// The entry of a row.
    pub fn of(&self, index: usize) -> usize {
        self.starts.partition_point(|start| *start <= index).saturating_sub(1)
    }
}
