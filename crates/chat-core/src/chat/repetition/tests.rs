//! Tests that the verdict depends on the text alone.

use proptest::prelude::*;
use rstest::rstest;

use super::*;

fn read(text: &str) -> Option<DetectedLoop> {
    Repetition::default().read(text)
}

#[rstest]
#[case("I will not talk in class.\n".repeat(100))]
#[case("0, ".repeat(2_000))]
#[case("-".repeat(1_000))]
#[case((0..5_000).fold(String::new(), |text, n| text + &n.to_string() + "\n"))]
#[case(String::new())]
fn what_may_be_wanted_goes_on(#[case] text: String) {
    assert_eq!(read(&text), None);
}

#[test]
fn a_circle_is_kept_once() {
    let beginning = "Once there was a king who had three sons.\n";
    let round = "The first went out to see the world, and he came back with a horse that could talk, \
                 and the king said to him: This is a horse as good as any, but where is my crown? ";
    let text = beginning.to_owned() + &round.repeat(40);
    let circle = read(&text).unwrap();
    assert!((beginning.len()..=beginning.len() + 2 * round.len()).contains(&circle.from));
}

#[test]
fn a_circle_is_told_from_its_beginning_as_long_as_it_goes_on() {
    let mut reader = Repetition::default();
    let first = reader.read(&"and so on and on it goes ".repeat(800));
    assert!(first.is_some());
    assert_eq!(reader.read(&"and so on and on it goes ".repeat(2_000)), first);
}

#[test]
fn a_text_that_goes_on_with_something_new_is_no_circle_any_more() {
    let mut reader = Repetition::default();
    assert!(reader.read(&"and so on and on it goes ".repeat(800)).is_some());
    let new = (0..4_000_u32).fold(String::new(), |text, n| {
        text + "w" + &n.wrapping_mul(2_654_435_761).to_string() + " "
    });
    assert_eq!(reader.read(&new), None);
}

#[test]
fn a_circle_counts_from_its_own_beginning() {
    let before = (0..3_000_u32).fold(String::new(), |text, n| {
        text + "w" + &n.wrapping_mul(2_654_435_761).to_string() + " "
    });
    let text = before.clone() + &"the sky is blue since it is blue and ".repeat(600);
    assert!(read(&text).unwrap().from >= before.len());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn the_pieces_do_not_matter(
        unit in "[a-zäß天 .\n0-9]{1,60}",
        times in 1_usize..400,
        cuts in prop::collection::vec(1_usize..700, 1..60),
    ) {
        let text = unit.repeat(times);
        let mut reader = Repetition::default();
        let (mut at, mut pieces) = (0, cuts.iter().cycle());
        let mut last = None;
        while at < text.len() {
            let to = text.ceil_char_boundary(at + pieces.next().unwrap()).min(text.len());
            last = reader.read(&text[at..to]);
            at = to;
        }
        prop_assert_eq!(last.is_some(), read(&text).is_some());
    }

    #[test]
    fn texts_of_ever_new_words_pass(seed in any::<u64>()) {
        let mut state = seed | 1;
        let mut text = String::new();
        for _ in 0..6_000 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let word: String =
                (0..2 + state % 7).map(|n| char::from(b'a' + (state >> (5 * n)) as u8 % 26)).collect();
            text.push_str(&word);
            text.push_str(if state.is_multiple_of(11) { ".\n" } else { " " });
        }
        prop_assert_eq!(read(&text), None);
    }
}
