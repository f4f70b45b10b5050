use proptest::prelude::*;
use serde_json::json;

use super::*;

fn field(kind: FieldKind) -> FormField {
    FormField { name: "it".to_owned(), title: None, description: None, required: false, kind }
}

fn text(format: Option<TextFormat>) -> FormField {
    field(FieldKind::Text { min_length: None, max_length: None, format, default: None })
}

fn limits<T>(min: Option<T>, max: Option<T>) -> NumberLimits<T> {
    NumberLimits { min, max, default: None }
}

fn options(values: &[&str]) -> Vec<FormOption> {
    let option =
        |value: &&str| FormOption { value: (*value).to_owned(), title: value.to_uppercase() };
    values.iter().map(option).collect()
}

/// What is sent where this is filled in.
fn sent(field: &FormField, given: &Value) -> Result<Option<Value>, FieldProblemKind> {
    field.check(Some(given))
}

#[test]
fn what_is_left_empty_is_missing_only_where_it_is_required() {
    let kinds = [
        text(None).kind,
        text(Some(TextFormat::Email)).kind,
        FieldKind::Integer(limits(Some(1), None)),
        FieldKind::Number(limits(None, None)),
        FieldKind::Choice { options: options(&["a"]), default: None },
    ];
    for kind in kinds {
        let optional = field(kind);
        let required = FormField { required: true, ..optional.clone() };
        for empty in [json!(""), Value::Null] {
            assert_eq!(sent(&optional, &empty), Ok(None), "{optional:?}");
            assert_eq!(sent(&required, &empty), Err(FieldProblemKind::Missing), "{required:?}");
        }
        assert_eq!(required.check(None), Err(FieldProblemKind::Missing));
    }
}

#[test]
fn lengths_are_of_characters() {
    let field = field(FieldKind::Text {
        min_length: Some(2),
        max_length: Some(4),
        format: None,
        default: None,
    });
    assert_eq!(sent(&field, &json!("ä")), Err(FieldProblemKind::TooShort { least: 2 }));
    assert_eq!(sent(&field, &json!("äöüß")), Ok(Some(json!("äöüß"))));
    assert_eq!(sent(&field, &json!("äöüßa")), Err(FieldProblemKind::TooLong { most: 4 }));
    assert_eq!(sent(&field, &json!(3)), Err(FieldProblemKind::WrongType));
}

#[test]
fn texts_look_as_they_have_to() {
    let fits = |format, given: &str| sent(&text(Some(format)), &json!(given)).is_ok();
    for (format, good, bad) in [
        (
            TextFormat::Email,
            &["ada@example.org", " ada.l+x@mail.example.org ", "ada@localhost"][..],
            &["ada", "@example.org", "ada@", "a b@example.org", "a@b@c", "ada@example..org"][..],
        ),
        (
            TextFormat::Uri,
            &["https://example.org/a?b#c", "mailto:ada@example.org", "urn:isbn:1"][..],
            &["example.org", "/a/b", "https://exa mple.org", "https://"][..],
        ),
        (
            TextFormat::Date,
            &["2024-02-29"][..],
            &["2023-02-29", "2024-2-9", "29.02.2024", "2024-02-29T10:00", "20240229"][..],
        ),
        (
            TextFormat::DateTime,
            &["2024-02-29T10:00:00Z", "2024-02-29T10:00:00+02:00", "2024-02-29 10:00"][..],
            &["2024-02-29", "10:00", "tomorrow", "2024-02-30T10:00:00Z"][..],
        ),
    ] {
        for given in good {
            assert!(fits(format, given), "{given:?} is {format:?}");
        }
        for given in bad {
            assert!(!fits(format, given), "{given:?} is no {format:?}");
        }
    }
}

#[test]
fn a_time_is_sent_with_its_zone() {
    let sent = |given: &str| match sent(&text(Some(TextFormat::DateTime)), &json!(given)) {
        Ok(Some(Value::String(text))) => text,
        other => panic!("{given}: {other:?}"),
    };
    assert_eq!(sent("2024-02-29T10:00:00+02:00"), "2024-02-29T10:00:00+02:00");
    assert_eq!(sent("2024-02-29 10:00:00+02:00"), "2024-02-29T08:00:00Z");
    assert_eq!(sent("2024-02-29T10:00+02:00"), "2024-02-29T08:00:00Z");
    let here = sent("2024-02-29 10:00");
    assert!(here.starts_with("2024-02-29T10:00:00") && here.len() == 25, "{here}");
    assert_eq!(sent(&here), here);
}

#[test]
fn numbers_are_read_as_people_type_them() {
    let whole = field(FieldKind::Integer(limits(Some(-5), Some(10))));
    assert_eq!(sent(&whole, &json!(" 7 ")), Ok(Some(json!(7))));
    assert_eq!(sent(&whole, &json!(7)), Ok(Some(json!(7))));
    assert_eq!(sent(&whole, &json!("-6")), Err(FieldProblemKind::TooSmall { least: (-5).into() }));
    assert_eq!(sent(&whole, &json!(11)), Err(FieldProblemKind::TooLarge { most: 10.into() }));
    for not in ["1.5", "seven", "99999999999999999999", "1,000"] {
        assert_eq!(sent(&whole, &json!(not)), Err(FieldProblemKind::NotInteger), "{not}");
    }
    let any = field(FieldKind::Number(limits(Some(0.0), Some(2500.5))));
    for (typed, value) in [("1.5", json!(1.5)), ("1,5", json!(1.5)), ("3", json!(3))] {
        assert_eq!(sent(&any, &json!(typed)), Ok(Some(value)));
    }
    assert_eq!(sent(&any, &json!("2e3")), Ok(Some(json!(2000))));
    assert_eq!(sent(&any, &json!("-1")), Err(FieldProblemKind::TooSmall { least: 0.into() }));
    let most = Number::from_f64(2500.5).unwrap();
    assert_eq!(sent(&any, &json!("2501")), Err(FieldProblemKind::TooLarge { most }));
    // Nobody knows whether a thousand is meant, or one.
    for not in ["1,000", "1.000,5", "inf", "NaN", "one", "1e999", "1,2,3"] {
        assert_eq!(sent(&any, &json!(not)), Err(FieldProblemKind::NotNumber), "{not}");
    }
}

#[test]
fn only_what_is_offered_can_be_chosen() {
    let one = field(FieldKind::Choice { options: options(&["a", "b"]), default: None });
    assert_eq!(sent(&one, &json!("b")), Ok(Some(json!("b"))));
    assert_eq!(sent(&one, &json!("B")), Err(FieldProblemKind::NoSuchOption));
    let several = field(FieldKind::Choices {
        options: options(&["a", "b", "c"]),
        min_items: Some(2),
        max_items: Some(2),
        default: Vec::new(),
    });
    assert_eq!(sent(&several, &json!(["c", "a", "c"])), Ok(Some(json!(["a", "c"]))));
    assert_eq!(sent(&several, &json!(["a"])), Err(FieldProblemKind::TooFew { least: 2 }));
    assert_eq!(sent(&several, &json!([])), Ok(None), "it is left empty");
    assert_eq!(sent(&several, &json!(["a", "b", "c"])), Err(FieldProblemKind::TooMany { most: 2 }));
    assert_eq!(sent(&several, &json!(["d"])), Err(FieldProblemKind::NoSuchOption));
    assert_eq!(sent(&several, &json!("a")), Err(FieldProblemKind::WrongType));
}

#[test]
fn a_default_that_could_not_be_sent_is_none() {
    let with = |default: &str| {
        let default = Some(default.to_owned());
        field(FieldKind::Choice { options: options(&["a"]), default }).default()
    };
    assert_eq!(with("a"), Some(json!("a")));
    assert_eq!(with("z"), None);
    let number = NumberLimits { min: Some(1.0), max: None, default: Some(f64::NAN) };
    assert_eq!(field(FieldKind::Number(number)).default(), None);
}

#[test]
fn neither_logs_nor_what_is_stored_have_the_values() {
    let name = FormField { title: Some("Your name".to_owned()), ..text(None) };
    let form = Form { server: "Hub".to_owned(), message: String::new(), fields: vec![name] };
    let given = form.check(json!({ "it": "a secret" }).as_object().unwrap()).unwrap();
    let filled = FormAnswer::Filled(given);
    assert!(!format!("{filled:?}").contains("secret"));
    let record = form.record(&filled);
    assert_eq!((record.sent, &record.fields[..]), (true, &["Your name".to_owned()][..]));
    assert!(!serde_json::to_string(&record).unwrap().contains("secret"));
    assert_eq!(form.record(&FormAnswer::Declined).fields, Vec::<String>::new());
}

fn any_kind() -> impl Strategy<Value = FieldKind> {
    let format = prop_oneof![
        Just(None),
        Just(Some(TextFormat::Email)),
        Just(Some(TextFormat::Uri)),
        Just(Some(TextFormat::Date)),
        Just(Some(TextFormat::DateTime)),
    ];
    let some = || prop::option::of(0_u32..6);
    let values = || prop::collection::vec("[a-d]{0,2}", 0..4);
    let options = |values: Vec<String>| {
        let option = |value: String| FormOption { title: value.clone(), value };
        values.into_iter().map(option).collect::<Vec<_>>()
    };
    prop_oneof![
        (some(), some(), format, prop::option::of(".{0,8}")).prop_map(
            |(min_length, max_length, format, default)| FieldKind::Text {
                min_length,
                max_length,
                format,
                default
            }
        ),
        any::<[Option<i64>; 3]>().prop_map(|[min, max, default]| {
            FieldKind::Integer(NumberLimits { min, max, default })
        }),
        any::<[Option<f64>; 3]>().prop_map(|[min, max, default]| {
            FieldKind::Number(NumberLimits { min, max, default })
        }),
        any::<Option<bool>>().prop_map(|default| FieldKind::Switch { default }),
        (values(), prop::option::of("[a-d]{0,2}")).prop_map(move |(values, default)| {
            FieldKind::Choice { options: options(values), default }
        }),
        (values(), some(), some(), values()).prop_map(move |(values, min, max, default)| {
            let (min_items, max_items) = (min.map(u64::from), max.map(u64::from));
            FieldKind::Choices { options: options(values), min_items, max_items, default }
        }),
    ]
}

fn any_form() -> impl Strategy<Value = Form> {
    prop::collection::vec((any_kind(), any::<bool>()), 0..6).prop_map(|kinds| {
        let field = |(at, (kind, required)): (usize, (FieldKind, bool))| FormField {
            name: format!("f{at}"),
            required,
            ..field(kind)
        };
        let fields = kinds.into_iter().enumerate().map(field).collect();
        Form { server: "Hub".to_owned(), message: String::new(), fields }
    })
}

fn any_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
        "[a-d]{0,2}".prop_map(Value::from),
        "-?[0-9]{1,4}([.,][0-9]{1,3})?".prop_map(Value::from),
        Just(json!("ada@example.org")),
        Just(json!("2024-02-29T10:00:00Z")),
        prop::collection::vec("[a-d]{0,2}", 0..4).prop_map(Value::from),
    ]
}

proptest! {
    /// What passes is what is sent: it passes again as it is, has all that is required, and nothing else than
    /// the fields. What does not pass is told of each field once.
    #[test]
    fn what_passes_passes_again(
        form in any_form(),
        given in prop::collection::btree_map("f[0-6]", any_value(), 0..7),
    ) {
        let given: Map<String, Value> = given.into_iter().collect();
        match form.check(&given) {
            Ok(values) => {
                prop_assert_eq!(form.check(&values), Ok(values.clone()));
                for field in &form.fields {
                    prop_assert!(!field.required || values.contains_key(&field.name));
                }
                let is_field = |name: &String| form.fields.iter().any(|it| it.name == *name);
                prop_assert!(values.keys().all(is_field));
            }
            Err(problems) => {
                let of: Vec<_> = problems.iter().map(|problem| problem.field.clone()).collect();
                let wrong = form.fields.iter().filter(|field| {
                    field.check(given.get(&field.name)).is_err()
                });
                prop_assert_eq!(of, wrong.map(|field| field.name.clone()).collect::<Vec<_>>());
            }
        }
    }

    /// What is there at first is nothing that would be refused.
    #[test]
    fn defaults_can_be_sent(form in any_form()) {
        let defaults = form.defaults();
        match form.check(&defaults) {
            Ok(values) => prop_assert_eq!(values, defaults),
            Err(problems) => {
                prop_assert!(problems.iter().all(|it| !defaults.contains_key(&it.field)));
            }
        }
    }
}
