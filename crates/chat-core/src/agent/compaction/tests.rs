//! Tests the decisions about conversations that are too long.

use proptest::prelude::*;

use super::*;
use crate::agent::JustAsk;
use crate::agent::truncation::tests::{round, says, user};

static NONE: SentReasoning = SentReasoning { text: false, data_of: None };

/// Bytes are tokens by the usual scale.
fn measure<'a>(around: &'a Surroundings, tools: &'a [ToolSpec]) -> Measure<'a> {
    Measure { agent: &JustAsk, around, tools, scale: Scale::default(), reasoning: &NONE }
}

/// A goal where 80 of 100 of a window begin it.
fn goal(limit: u64) -> Goal {
    Goal::new(limit, limit * 100 / 80)
}

fn with(history: &[Arc<Message>], compactions: Vec<Compaction>) -> Vec<Arc<Message>> {
    let mut history = history.to_vec();
    history.push(Arc::new(truncation::marker(compactions)));
    history
}

/// A question and so many rounds with results of so many bytes.
fn tool_loop(rounds: usize, bytes: usize) -> Vec<Arc<Message>> {
    let mut history = vec![user("Do it.")];
    for at in 0..rounds {
        history.extend(round(&format!("r{at}"), &"x".repeat(bytes)));
    }
    history
}

#[test]
fn old_results_shrink_first_and_the_newest_rounds_stay_whole() {
    let around = Surroundings::default();
    let measure = measure(&around, &[]);
    let history = tool_loop(6, 5_000);
    let before = measure.tokens(&history);
    let limit = before - 500;
    let compaction = measure.shrink_gently(&history, goal(limit)).unwrap();
    assert_eq!((compaction.upto, compaction.keep), (history[8].id, 800));
    let after = measure.tokens(&with(&history, vec![compaction]));
    assert!(after <= goal(limit).target, "{after} of {limit}");
}

#[test]
fn where_that_is_not_enough_nothing_shrinks_gently() {
    let around = Surroundings::default();
    let measure = measure(&around, &[]);
    let talk: Vec<_> =
        (0..20).flat_map(|_| [user(&"q".repeat(500)), says(&"a".repeat(500))]).collect();
    assert_eq!(measure.shrink_gently(&talk, goal(1_000)), None);
}

#[test]
fn a_summary_ends_before_a_message_of_the_person_where_it_can() {
    let around = Surroundings::default();
    let measure = measure(&around, &[]);
    let mut history = Vec::new();
    for _ in 0..10 {
        history.push(user(&"q".repeat(200)));
        history.extend(round("r", &"x".repeat(200)));
        history.push(says(&"a".repeat(200)));
    }
    let at = measure.boundary(&history, goal(1_000)).unwrap();
    assert_eq!(history[at].role, Role::User);
    assert!(at > 20 && at < 40, "{at}");
    // Not twice for the same.
    let marked = with(&history, vec![summed(history[at - 1].id, "s".repeat(100), 0)]);
    assert_eq!(measure.boundary(&marked, goal(1_000)), None);
}

#[test]
fn within_a_long_loop_it_ends_before_a_round() {
    let around = Surroundings::default();
    let measure = measure(&around, &[]);
    let history = tool_loop(30, 300);
    let at = measure.boundary(&history, goal(1_200)).unwrap();
    assert_eq!(history[at].role, Role::Assistant);
    assert!(history[at - 1].role == Role::Tool && at < history.len() - 2);
}

#[test]
fn what_the_person_wants_short_leaves_the_newest_turn() {
    let mut history = vec![user("a"), says("b"), user("c")];
    history.extend(round("r", "x"));
    history.push(says("d"));
    assert_eq!(newest_turn(&history), Some(2));
    assert_eq!(newest_turn(&history[2..]), Some(3), "the newest round of one turn");
    assert_eq!(newest_turn(&history[..1]), None);
}

#[test]
fn a_window_of_2048_holds_a_long_loop_with_huge_results() {
    let around = Surroundings::default();
    let measure = measure(&around, &[]);
    let limit = 2_048 * 80 / 100;
    let mut history = vec![user("Find the error.")];
    for at in 0..40 {
        history.extend(round(&format!("r{at}"), &"x".repeat(30_000)));
        if measure.tokens(&history) <= limit {
            continue;
        }
        let mut decided = Vec::new();
        if let Some(shrunk) = measure.shrink_gently(&history, goal(limit)) {
            decided.push(shrunk);
        } else {
            if let Some(at) = measure.boundary(&history, goal(limit)) {
                decided.push(summed(history[at - 1].id, "s".repeat(500), 0));
            }
            decided.extend(measure.shrink_hard(&history, &decided, goal(limit)));
        }
        history = with(&history, decided);
        let tokens = measure.tokens(&history);
        assert!(tokens <= limit, "{tokens} tokens after round {at}");
    }
}

/// Instructions and tools of the code assistant, a window of 8,192 tokens, and rounds as they are there.
#[test]
fn a_window_of_8192_is_not_made_shorter_every_few_rounds() {
    let around = Surroundings::default();
    let spec = ToolSpec {
        name: "read".into(),
        description: "x".repeat(8_000),
        parameters: serde_json::json!({}),
    };
    let tools = [spec];
    let measure = measure(&around, &tools);
    let (window, limit) = (8_192, 8_192 * 80 / 100);
    let (mut history, mut made) = (vec![user("Find the error.")], Vec::new());
    for at in 0..60 {
        history.extend(round(&format!("r{at}"), &"x".repeat(1_200)));
        if measure.tokens(&history) <= limit {
            continue;
        }
        let mut decided = Vec::new();
        if let Some(shrunk) = measure.shrink_gently(&history, Goal::new(limit, window)) {
            decided.push(shrunk);
        } else {
            let at = measure.boundary(&history, Goal::new(limit, window)).expect("a boundary");
            decided.push(summed(history[at - 1].id, "s".repeat(1_200), 0));
        }
        history = with(&history, decided);
        let left = measure.tokens(&history) * 100 / window;
        assert!((35..=55).contains(&left), "{left} of 100 left after round {at}");
        made.push(at);
    }
    let apart: Vec<_> = made.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(made.len() > 2 && apart.iter().all(|rounds| *rounds >= 6), "{made:?}");
}

proptest! {
    #[test]
    fn a_boundary_never_parts_a_call_from_its_result(
        turns in prop::collection::vec((0_usize..4, 0_usize..3_000), 1..12),
        limit in 100_u64..20_000,
    ) {
        let around = Surroundings::default();
        let measure = measure(&around, &[]);
        let mut history = Vec::new();
        for (rounds, bytes) in turns {
            history.push(user("q"));
            for at in 0..rounds {
                history.extend(round(&format!("r{at}"), &"x".repeat(bytes)));
            }
            history.push(says("a"));
        }
        for at in [measure.boundary(&history, goal(limit)), newest_turn(&history)].into_iter().flatten() {
            prop_assert!(at > 0 && at < history.len());
            prop_assert!(history[at].role != Role::Tool);
        }
    }
}
