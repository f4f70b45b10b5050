//! Detects a model that repeats the same tool calls and gets the same results.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::message::{ToolCall, ToolResult};

/// After how many repetitions the model is warned.
const WARN_AFTER: usize = 3;

/// After how many the request ends.
const END_AFTER: usize = 5;

/// How many rounds may form what repeats: A, B, A, B is a circle of two.
const LONGEST: usize = 4;

/// Warns a model whose calls repeat.
const NOTE: &str = "Note: you made this same call several times in a row, and its result was the same each time; it \
will be the same again. Do something else: use what you know, try another way, or say what keeps \
you from continuing.";

/// The last rounds of a request, the newest first; each its calls with their results, as numbers.
#[derive(Debug, Default)]
pub(super) struct Rounds {
    last: VecDeque<Vec<u64>>,
    now: Vec<u64>,
}

impl Rounds {
    /// Notes a call of the round at work, and says whether the model is to hear that it came before,
    /// several times running, with this result. One whose result is another, such as the growing
    /// output of a command, is new; so is a test after each change of a file.
    pub(super) fn add(&mut self, call: &ToolCall, result: &ToolResult) -> bool {
        let number = number(call, result);
        self.now.push(number);
        (1..=LONGEST).any(|length| {
            let back = |turns: usize| self.last.get(turns * length - 1);
            let there = |turns| back(turns).is_some_and(|round| round.contains(&number));
            let between = (0..length - 1).all(|at| self.last.get(at) == self.last.get(at + length));
            between && (1..WARN_AFTER).all(there)
        })
    }

    /// The round is over. Says how often it came, one turn after the other, where that is enough.
    pub(super) fn end_round(&mut self) -> Option<u32> {
        let mut round = std::mem::take(&mut self.now);
        // Twice in one round counts once, in whichever order they ended.
        round.sort_unstable();
        round.dedup();
        if round.is_empty() {
            return None;
        }
        self.last.push_front(round);
        self.last.truncate(LONGEST * END_AFTER);
        (1..=LONGEST).any(|length| self.turns(length) >= END_AFTER).then_some(END_AFTER as u32)
    }

    /// How often the last so many rounds came, one turn after the other.
    fn turns(&self, length: usize) -> usize {
        let same = self.last.iter().zip(self.last.iter().skip(length));
        1 + same.take_while(|(one, before)| one == before).count() / length
    }
}

/// What is added to a result, once its call repeats.
pub(super) fn with_note(text: &str) -> String {
    format!("{text}\n\n{NOTE}")
}

/// A call and its result, whatever ids they bear.
fn number(call: &ToolCall, result: &ToolResult) -> u64 {
    let mut hasher = DefaultHasher::new();
    call.name.hash(&mut hasher);
    // An object's members are in order.
    call.arguments.to_string().hash(&mut hasher);
    result.text.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::message::ToolCallId;

    /// What is said to each of these rounds, whose calls are `name=result`: `.` is nothing, `!` that
    /// a call repeats, `#` the end.
    fn said(rounds: &[&[&str]]) -> String {
        let mut known = Rounds::default();
        let said = rounds.iter().map(|round| {
            let mut told = false;
            for call in *round {
                let (name, text) = call.split_once('=').unwrap();
                let call =
                    ToolCall::new(ToolCallId::generate(), name, json!({ "path": "a", "from": 1 }));
                told |= known.add(&call, &ToolResult::to(&call, text, false));
            }
            match known.end_round() {
                Some(_) => '#',
                None if told => '!',
                None => '.',
            }
        });
        said.collect()
    }

    #[test]
    fn the_third_is_told_and_the_fifth_ends() {
        assert_eq!(said(&[&["a=1"][..]; 5]), "..!!#");
    }

    #[test]
    fn a_result_that_changes_is_no_circle() {
        let outputs: Vec<String> = (0..20).map(|n| format!("read_output={n}")).collect();
        let rounds: Vec<[&str; 1]> = outputs.iter().map(|text| [text.as_str()]).collect();
        let rounds: Vec<&[&str]> = rounds.iter().map(|round| &round[..]).collect();
        assert_eq!(said(&rounds), ".".repeat(20));
    }

    #[test]
    fn a_circle_of_two_is_one() {
        let rounds: [&[&str]; 2] = [&["a=1"], &["b=1"]];
        assert_eq!(said(&rounds.repeat(5)), "....!!!!!#");
    }

    #[test]
    fn the_same_test_after_different_changes_is_none() {
        let rounds: [&[&str]; 10] = [
            &["edit=1"],
            &["test=red"],
            &["edit=2"],
            &["test=red"],
            &["edit=3"],
            &["test=red"],
            &["edit=4"],
            &["test=red"],
            &["edit=5"],
            &["test=red"],
        ];
        assert_eq!(said(&rounds), "..........");
    }

    #[test]
    fn something_else_in_between_begins_anew() {
        let rounds: [&[&str]; 6] = [&["a=1"], &["a=1"], &["b=1"], &["a=1"], &["a=1"], &["c=1"]];
        assert_eq!(said(&rounds), "......");
    }

    #[test]
    fn the_same_call_twice_in_a_round_counts_once() {
        assert_eq!(said(&[&["a=1", "a=1", "a=1", "a=1", "a=1"]]), ".");
    }

    #[test]
    fn a_round_with_something_new_goes_on_though_a_call_in_it_repeats() {
        let rounds: [&[&str]; 6] = [
            &["a=1", "b=1"],
            &["b=2", "a=1"],
            &["a=1", "b=3"],
            &["a=1", "b=4"],
            &["a=1", "b=5"],
            &["a=1", "b=6"],
        ];
        assert_eq!(said(&rounds), "..!!!!");
    }

    #[test]
    fn the_order_within_a_round_means_nothing() {
        let rounds: [&[&str]; 2] = [&["a=1", "b=1"], &["b=1", "a=1"]];
        assert_eq!(said(&rounds.repeat(3)), "..!!##");
    }
}
