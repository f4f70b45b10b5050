use super::*;

fn fields(yaml: &str) -> Fields {
    Fields::new(yaml::parse(yaml, 0).unwrap())
}

#[test]
fn an_unknown_key_and_an_empty_value_are_warnings() {
    let mut fields = fields("b: 1\na:\n");
    assert_eq!(fields.text("a", 9), None);
    assert_eq!(fields.text("missing", 9), None);
    assert_eq!(
        fields.finish(),
        [
            Found::at(1, ProblemKind::UnknownKey { key: "b".to_owned() }),
            Found::at(2, ProblemKind::EmptyValue { key: "a" }),
        ]
    );
}

#[test]
fn hidden_characters_become_visible_or_are_refused() {
    let mut fields = fields("a: \"x\\u202ey\"\nb: \"x\\u200by\"\nc: [\"x\\ty\"]\n");
    assert_eq!(fields.text("a", 9).unwrap(), "x\\u{202e}y");
    assert_eq!(fields.word("b"), None);
    assert_eq!(fields.list("c", |_| Vec::new()), None);
    assert_eq!(
        fields.finish(),
        [
            Found::at(1, ProblemKind::HiddenCharacters { key: Some("a") }),
            Found::at(2, ProblemKind::ForbiddenCharacters { key: "b" }),
            Found::at(3, ProblemKind::ForbiddenCharacters { key: "c" }),
        ]
    );
}

#[test]
fn numbers_have_a_range_and_an_end() {
    let mut fields = fields("a: 0.5\nb: 3\nc: .inf\nd: much\ne: nan\n");
    assert_eq!(fields.number("a", 0..=2), Some(0.5));
    for key in ["b", "c", "d", "e"] {
        assert_eq!(fields.number(key, 0..=2), None);
    }
    let found = fields.finish();
    let range = ProblemKind::OutOfRange { key: "b", lowest: 0, highest: 2 };
    assert_eq!(found[0], Found::at(2, range));
    assert_eq!(found.len(), 4);
}

#[test]
fn two_spellings_of_a_key_are_one_too_many() {
    let mut fields = fields("color: red\ncolour: blue\n");
    assert_eq!(fields.word_of_either("color", "colour").unwrap().1.1, "red");
    let kind = ProblemKind::DuplicateKey { key: "colour".to_owned() };
    assert_eq!(fields.finish(), [Found::at(2, kind)]);
}

#[test]
fn a_large_front_matter_is_not_parsed() {
    let text = |length| format!("---\n# {}\n---\nx", "x".repeat(length));
    assert!(document(&text(LARGEST - 3)).is_ok());
    let found = document(&text(LARGEST - 2)).err().unwrap();
    assert_eq!(found, Found::at(1, ProblemKind::TooLarge { limit: 65_536 }));
}

#[test]
fn names_are_plain() {
    for name in ["a", "code-review_2", "7"] {
        assert!(is_name(name), "{name}");
    }
    for name in ["", "-a", "A", "a b", "a/b", "é", "..", "a\u{200b}", &"a".repeat(65)] {
        assert!(!is_name(name), "{name}");
    }
}
