//! Decides what to do with a reply that looks like a loop.

use super::repetition::Repetition;
use crate::client::Delta;
use crate::error::{Kind, Result};

/// How long a text may be, in characters, before it is stopped while somebody watches: they see that
/// it looks like a loop, and can stop it themselves.
const WATCHED: usize = 30_000;

/// How many characters may come after they saw it first.
const AFTER_NOTICE: usize = 4_000;

/// Reads along with a reply. A tool call's arguments are never judged: they are data, and may repeat
/// as they like.
#[derive(Default)]
pub(super) struct LoopDetection {
    text: Strand,
    reasoning: Strand,
    told: bool,
}

/// The answer, or the reasoning.
#[derive(Default)]
struct Strand {
    repetition: Repetition,
    characters: usize,
    /// How many characters there were when it was noticed.
    noticed: Option<usize>,
}

impl LoopDetection {
    /// Reads what came. Says where that changed whether the reply looks like a loop.
    ///
    /// # Errors
    /// `Repetition` where the reply is to end.
    pub(super) fn read(&mut self, delta: &Delta, watched: bool) -> Result<Option<bool>> {
        let looks = match delta {
            Delta::Text(more) => {
                let Some(from) = self.text.read(more) else { return Ok(self.tell(false)) };
                if self.text.ends(watched) {
                    return Err(Kind::Repetition { fresh: Some(from) }.into());
                }
                true
            }
            Delta::Thinking(more) => {
                let looks = self.reasoning.read(more).is_some();
                if looks && self.reasoning.ends(watched) {
                    return Err(Kind::Repetition { fresh: None }.into());
                }
                looks
            }
            _ => return Ok(None),
        };
        Ok(self.tell(looks))
    }

    fn tell(&mut self, looks: bool) -> Option<bool> {
        (std::mem::replace(&mut self.told, looks) != looks).then_some(looks)
    }
}

impl Strand {
    /// From which byte on nothing new was said, where it looks like a loop.
    fn read(&mut self, more: &str) -> Option<usize> {
        self.characters += more.chars().count();
        let circle = self.repetition.read(more);
        self.noticed = circle.map(|_| self.noticed.unwrap_or(self.characters));
        circle.map(|circle| circle.from)
    }

    /// Whether it has gone on for long enough to be stopped.
    fn ends(&self, watched: bool) -> bool {
        let since = self.noticed.map_or(0, |noticed| self.characters - noticed);
        !watched || (self.characters >= WATCHED && since >= AFTER_NOTICE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After how many characters of the same line a reply is stopped, and after how many it was first
    /// said to look like a loop.
    fn stopped(watched: bool, delta: impl Fn(&str) -> Delta) -> (Option<usize>, Option<usize>) {
        let (mut detection, mut noticed) = (LoopDetection::default(), None);
        let line = "The cat sat on the mat and looked at the moon.\n";
        for turn in 1..2_000 {
            match detection.read(&delta(line), watched) {
                Ok(Some(true)) => noticed = Some(turn * line.len()),
                Ok(_) => {}
                Err(_) => return (Some(turn * line.len()), noticed),
            }
        }
        (None, noticed)
    }

    #[test]
    fn whoever_watches_is_told_first_and_it_ends_after_30_000_characters() {
        let deltas: [fn(&str) -> Delta; 2] =
            [|text| Delta::Text(text.into()), |text| Delta::Thinking(text.into())];
        for delta in deltas {
            let (end, noticed) = stopped(true, delta);
            let (end, noticed) = (end.unwrap(), noticed.unwrap());
            assert!(noticed < 20_000 && (30_000..31_000).contains(&end), "{noticed} {end}");
            let (end, noticed) = stopped(false, delta);
            assert!(end.unwrap() < 20_000 && noticed.is_none());
        }
    }

    #[test]
    fn arguments_of_tools_are_never_judged() {
        let call = |arguments: &str| Delta::ToolCall {
            index: 0,
            id: None,
            name: None,
            arguments: arguments.into(),
        };
        assert_eq!(stopped(false, call), (None, None));
        assert_eq!(stopped(true, call), (None, None));
    }

    #[test]
    fn the_notice_goes_when_something_new_comes() {
        let mut detection = LoopDetection::default();
        let mut told = Vec::new();
        let new = (0..3_000_u32).map(|n| format!("w{} ", n.wrapping_mul(2_654_435_761)));
        for piece in std::iter::repeat_n("and so on and on it goes ".to_owned(), 800).chain(new) {
            told.extend(detection.read(&Delta::Text(piece), true).unwrap());
        }
        assert_eq!(told, [true, false]);
    }
}
