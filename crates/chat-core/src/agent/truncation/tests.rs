//! Tests how histories with markers are shortened.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::agent::outgoing;
use crate::message::{Ending, ModelRef, Todo, TodoState, ToolCall, ToolCallId, ToolView};

pub(crate) fn user(text: &str) -> Arc<Message> {
    Arc::new(Message::text(Role::User, None, text))
}

pub(crate) fn says(text: &str) -> Arc<Message> {
    let reply = Message::reply(None, ModelRef::new("c", "m"));
    let parts = vec![Part::Text(text.to_owned())];
    Arc::new(Message { parts, ended: Some(Ending::Complete), ..reply })
}

/// A call and its result.
pub(crate) fn round(id: &str, text: &str) -> [Arc<Message>; 2] {
    let call = ToolCall::new(ToolCallId::new(id), "read_file", json!({ "path": id }));
    let result = ToolResult::to(&call, text, false);
    let reply = Message { parts: vec![Part::ToolCall(call)], ..Message::clone(&says("")) };
    let result =
        Message { parts: vec![Part::ToolResult(result)], ..Message::text(Role::Tool, None, "") };
    [Arc::new(reply), Arc::new(result)]
}

fn summary(upto: &Arc<Message>, text: &str) -> Compaction {
    Compaction { upto: upto.id, summary: Some(text.to_owned()), keep: 0, undone: false }
}

fn shrink(upto: &Arc<Message>, keep: u32) -> Compaction {
    Compaction { upto: upto.id, summary: None, keep, undone: false }
}

fn marked(compaction: Compaction) -> Arc<Message> {
    Arc::new(marker(vec![compaction]))
}

/// Everything that a model reads.
fn texts(history: &[Arc<Message>]) -> Vec<String> {
    let out = outgoing(history);
    let texts = out.iter().map(|message| {
        let parts = message.parts.iter().map(|part| match part {
            Part::Text(text) | Part::Context { text } => text.clone(),
            Part::ToolCall(call) => format!("call {}", call.id.as_str()),
            Part::ToolResult(result) => result.text.clone(),
            other => panic!("{other:?}"),
        });
        parts.collect::<Vec<_>>().join("|")
    });
    texts.collect()
}

#[test]
fn a_summary_stands_for_what_was_before_it() {
    let mut history = vec![user("a"), says("b"), user("c"), says("d")];
    history.push(marked(summary(&history[1], "They said a and b.")));
    history.push(user("e"));
    let told = format!("{EARLIER}\n\nThey said a and b.");
    assert_eq!(texts(&history), [format!("{told}|c"), "d".to_owned(), "e".to_owned()]);
}

#[test]
fn one_that_was_taken_back_changes_nothing() {
    let mut history = vec![user("a"), says("b"), user("c")];
    history.push(marked(Compaction { undone: true, ..summary(&history[1], "Short.") }));
    assert_eq!(texts(&history), ["a", "b", "c"]);
}

#[test]
fn of_two_the_later_one_holds_and_the_earlier_one_when_that_is_taken_back() {
    let mut history = vec![user("a"), says("b"), user("c"), says("d"), user("e")];
    history.push(marked(summary(&history[1], "One.")));
    history.push(marked(summary(&history[3], "Two.")));
    assert_eq!(texts(&history), [format!("{EARLIER}\n\nTwo.|e")]);
    let undone = Compaction { undone: true, ..summary(&history[3], "Two.") };
    history[6] = marked(undone);
    assert_eq!(texts(&history)[0], format!("{EARLIER}\n\nOne.|c"));
}

#[test]
fn within_a_request_the_question_stays_and_no_result_loses_its_call() {
    let mut history = vec![user("old"), says("older"), user("the question")];
    history.extend(round("r1", "one"));
    history.extend(round("r2", "two"));
    // Even where the marker parts a call from its result.
    for upto in [3, 4] {
        let mut history = history.clone();
        history.push(marked(summary(&history[upto], "Read one.")));
        let told = format!("{EARLIER}\n\nRead one.|the question");
        assert_eq!(texts(&history), [told, "call r2".to_owned(), "two".to_owned()]);
    }
}

#[test]
fn long_results_keep_head_and_tail() {
    let long = format!("{}{}{}", "h".repeat(600), "m".repeat(5_000), "t".repeat(400));
    let mut history = vec![user("q")];
    history.extend(round("r1", &long));
    history.extend(round("r2", &long));
    history.push(marked(shrink(&history[2], 1_000)));
    let out = texts(&history);
    assert!(out[2].starts_with(&"h".repeat(600)) && out[2].ends_with(&"t".repeat(400)));
    assert!(out[2].len() < 1_200 && out[2].contains("5000 bytes"), "{}", out[2]);
    assert_eq!(out[4], long, "those behind stay whole");
    let Part::ToolResult(stored) = &history[2].parts[0] else { panic!() };
    assert_eq!(stored.text, long, "the transcript stays");
}

#[test]
fn a_marker_of_another_branch_means_nothing() {
    let elsewhere = user("elsewhere");
    let history = [user("a"), marked(summary(&elsewhere, "Gone.")), user("b")];
    assert_eq!(texts(&history), ["a|\n\n|b"]);
}

proptest! {
    #[test]
    fn head_and_tail_never_cut_a_letter(text in "\\PC{0,400}", keep in 0_usize..300) {
        let result = ToolResult::to(
            &ToolCall::new(ToolCallId::new("a"), "a", json!({})),
            text.as_str(),
            false,
        );
        if is_long(&result, keep) {
            let short = head_and_tail(&text, keep);
            prop_assert!(short.len() <= keep + 130, "{}", short.len());
        }
    }

    #[test]
    fn what_comes_behind_changes_nothing_before(
        turns in 1_usize..8,
        upto in 0_usize..20,
        keep in 0_u32..200,
        sums in any::<bool>(),
        more in 1_usize..5,
    ) {
        let mut history = Vec::new();
        for turn in 0..turns {
            history.push(user(&format!("q{turn}")));
            history.extend(round(&format!("r{turn}"), &"x".repeat(40 * turn)));
            history.push(says(&format!("a{turn}")));
        }
        let upto = Arc::clone(&history[upto % history.len()]);
        history.push(marked(if sums { summary(&upto, "s") } else { shrink(&upto, keep) }));
        history.push(user("next"));
        let before = outgoing(&history);
        for turn in 0..more {
            history.push(says("yes"));
            history.extend(round(&format!("m{turn}"), &"y".repeat(900)));
        }
        let after = outgoing(&history);
        prop_assert_eq!(&after[..before.len()], &before[..]);
        // Every call is answered, and every answer has its call.
        let calls: Vec<_> = after.iter().flat_map(|m| m.tool_calls()).map(|c| c.id.clone()).collect();
        let results: Vec<_> = after.iter().flat_map(|m| &m.parts).filter_map(|part| match part {
            Part::ToolResult(result) => Some(result.call.clone()),
            _ => None,
        }).collect();
        prop_assert_eq!(calls, results);
    }
}

/// A call that sets the plan, and its result.
fn plans(states: &[(&str, TodoState)]) -> [Arc<Message>; 2] {
    let [call, result] = round("plan", "Plan updated");
    let mut result = Message::clone(&result);
    let todo = |(text, state): &(&str, TodoState)| Todo { text: (*text).to_owned(), state: *state };
    let todos = states.iter().map(todo).collect();
    if let Part::ToolResult(result) = &mut result.parts[0] {
        result.view = Some(ToolView::Todos { todos });
    }
    [call, Arc::new(result)]
}

#[test]
fn a_summary_keeps_the_last_request_and_the_open_plan_word_for_word() {
    let mut history = vec![user("Rename `Foo` to `Bar` in a.rs, and keep the tests.")];
    history.extend(plans(&[("Rename", TodoState::Done), ("Run the tests", TodoState::Doing)]));
    history.extend(round("r", "x"));
    let upto = Arc::clone(&history[4]);
    history.extend(round("s", "y"));
    history.push(marked(summary(&upto, "Things were done.")));
    let out = texts(&history);
    assert!(out[0].contains("- [x] Rename\n- [~] Run the tests"), "{}", out[0]);
    assert!(out[0].ends_with("|Rename `Foo` to `Bar` in a.rs, and keep the tests."), "{}", out[0]);
    // What comes behind changes nothing before it.
    history.extend(plans(&[("Rename", TodoState::Done), ("Run the tests", TodoState::Done)]));
    assert_eq!(texts(&history)[0], out[0]);
}

#[test]
fn a_finished_plan_is_not_kept_beside_a_summary() {
    let mut history = vec![user("Do it.")];
    history.extend(plans(&[("Rename", TodoState::Done)]));
    let upto = Arc::clone(&history[2]);
    history.push(user("And now?"));
    history.push(marked(summary(&upto, "Things were done.")));
    assert!(!texts(&history)[0].contains("Rename"));
}

/// A call and a result that lasts.
fn lasting_round(id: &str, text: &str) -> [Arc<Message>; 2] {
    let [call, result] = round(id, text);
    let mut result = Message::clone(&result);
    for part in &mut result.parts {
        if let Part::ToolResult(result) = part {
            result.lasting = true;
        }
    }
    [call, Arc::new(result)]
}

#[test]
fn results_that_last_stay_whole_until_nothing_else_is_enough() {
    let long = "x".repeat(9_000);
    for (keep, is_whole) in [(4_000, true), (800, true), (500, false)] {
        let mut history = vec![user("q")];
        history.extend(lasting_round("r1", &long));
        history.push(marked(shrink(&history[2], keep)));
        assert_eq!(texts(&history)[2] == long, is_whole, "{keep}");
    }
}

#[test]
fn a_summary_is_followed_by_the_newest_results_that_last() {
    let mut history = vec![user("q")];
    let long = "l".repeat(50);
    for (id, text) in [("r1", "one"), ("r2", long.as_str()), ("r3", "two"), ("r4", "one")] {
        history.extend(lasting_round(id, text));
    }
    history.push(says("done"));
    let of = |keep| {
        let mut history = history.clone();
        history.push(marked(Compaction { keep, ..summary(&history[9], "They read.") }));
        history.push(user("next"));
        texts(&history)[0].clone()
    };
    assert_eq!(of(0), format!("{EARLIER}\n\nThey read.|next"), "as those of earlier versions");
    assert_eq!(of(20), format!("{EARLIER}\n\nThey read.\n\n{LASTING}\n\ntwo\n\none|next"));
    assert!(of(60).contains(&format!("{long}\n\ntwo\n\none")));
}
