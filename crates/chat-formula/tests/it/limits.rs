//! Whatever a model writes, a formula is laid out or refused at once.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use chat_formula::{Drawing, FormulaError, LONGEST, delimited, layout};
use proptest::prelude::*;

#[test]
fn what_is_too_much_is_refused_at_once() {
    let begun = Instant::now();
    let error = |tex: &str| layout(tex, true).expect_err("refused");
    assert_eq!(error(&"{".repeat(1_000_000)), FormulaError::TooLong);
    for deep in ["{", r"\frac{", r"\sqrt", "x^{", r"\left(", r"\text{", r"\ce{"] {
        let error = error(&deep.repeat(LONGEST / 8));
        assert!(matches!(error, FormulaError::TooDeep | FormulaError::Invalid), "{deep}: {error}");
    }
    let nested = format!("{}x{}", r"\sqrt{".repeat(100), "}".repeat(100));
    assert_eq!(error(&nested), FormulaError::TooDeep);
    // Each doubles what the one before gives.
    let mut bomb = String::from(r"\def\a{xxxxxxxxxx}");
    for pair in "abcdefghijklmnop".as_bytes().windows(2) {
        let (from, to) = (char::from(pair[0]), char::from(pair[1]));
        let _ = write!(bomb, r"\def\{to}{{\{from}\{from}\{from}\{from}}}");
    }
    let error_of_bomb = error(&(bomb + r"\p"));
    assert!(
        matches!(error_of_bomb, FormulaError::TooLarge | FormulaError::Invalid),
        "{error_of_bomb}"
    );
    assert!(layout(r"\def\x{\x}\x", true).is_err());
    assert!(layout(r"\rule{1000000em}{1em}", true).is_err());
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}

#[test]
fn mistakes_have_kinds() {
    let error = |tex: &str| layout(tex, true).expect_err(tex);
    assert_eq!(error(r"\nosuchthing{x}"), FormulaError::UnknownCommand(r"\nosuchthing".to_owned()));
    assert_eq!(error(r"\frac{a}"), FormulaError::Invalid);
    assert_eq!(error("x^2^3"), FormulaError::Invalid);
    assert_eq!(error("{x"), FormulaError::Invalid);
    assert_eq!(error(""), FormulaError::Empty);
    assert_eq!(error(r"\quad"), FormulaError::Empty);
}

#[test]
fn a_formula_in_a_line_breaks_behind_its_operators_and_one_on_its_own_never() {
    let long = r"a_1 + a_2 + a_3 + a_4 + a_5 + a_6 = b_1 + b_2 + b_3 + b_4 + b_5 - b_6";
    let parts = layout(long, false).unwrap();
    assert!(parts.drawings.len() > 2, "{}", parts.drawings.len());
    assert_eq!(layout(long, true).unwrap().drawings.len(), 1);
    let width: f64 = parts.drawings.iter().map(|it| it.width).sum();
    let whole = layout(&format!("{{{long}}}"), false).unwrap();
    assert_eq!(whole.drawings.len(), 1);
    assert!((width - whole.drawings[0].width).abs() < 0.01, "{width}");
    assert_eq!(layout("a = b", false).unwrap().drawings.len(), 1);
}

#[test]
fn a_fraction_stands_on_the_axis_and_is_larger_on_its_own() {
    let tall = |it: &Drawing| it.ascent + it.depth;
    let inline = &layout(r"\frac{a}{b}", false).unwrap().drawings[0];
    let display = &layout(r"\frac{a}{b}", true).unwrap().drawings[0];
    assert!(tall(display) > tall(inline));
    assert!(inline.depth > 0.1 && inline.ascent > 0.6, "{inline:?}");
}

/// TeX that models write, and what is left of it.
fn fragment() -> impl Strategy<Value = String> {
    let fixed = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        "^",
        "_",
        "&",
        "\\\\",
        "\\",
        "$",
        "%",
        "#",
        "~",
        " ",
        "x",
        "2",
        "=",
        "'",
        "\\frac",
        "\\frac{a}{b}",
        "\\sqrt",
        "\\sqrt[3]",
        "\\left",
        "\\left(",
        "\\right",
        "\\right)",
        "\\begin{",
        "\\begin{matrix}",
        "\\end{matrix}",
        "\\begin{aligned}",
        "\\end{aligned}",
        "\\begin{array}{c|c}",
        "\\end{array}",
        "\\text{",
        "\\text{ä 漢 🙂}",
        "\\sum",
        "\\limits",
        "\\int",
        "\\hat",
        "\\vec{x}",
        "\\overline",
        "\\def\\a{\\a\\a}",
        "\\a",
        "\\newcommand{\\b}[1]{#1#1}",
        "\\b{x}",
        "\\color{red}",
        "\\color{",
        "\\textcolor{#fff}{x}",
        "\\hline",
        "\\tag{1}",
        "\\ce{H2O}",
        "\\ce{",
        "\\over",
        "\\middle|",
        "\\big",
        "\\Bigg(",
        "\\operatorname{x}",
        "\\mathbb",
        "\\mathbb{R}",
        "\\rule{1em}{1em}",
        "\\kern",
        "\\hspace{",
        "1em",
        "\\phantom{",
        "\\substack{a\\\\b}",
        "\\xrightarrow",
        "\\href{a}{b}",
        "\\verb|x|",
        "\\char",
        "\\cancel{",
        "\\displaystyle",
        "\\Huge",
        "é",
        "∑",
        "\u{0}",
        "\u{301}",
        "\n",
    ]);
    prop_oneof![10 => fixed.prop_map(str::to_owned), 1 => "\\PC{0,6}", 1 => "\\\\[a-zA-Z]{1,9}"]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 800, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_makes_the_layout_fail(
        fragments in prop::collection::vec(fragment(), 1..25),
        display in any::<bool>(),
    ) {
        let tex = fragments.concat();
        match layout(&tex, display) {
            Ok(formula) => for drawing in &formula.drawings {
                prop_assert!(drawing.width.is_finite() && drawing.ascent.is_finite() && drawing.depth.is_finite());
            },
            Err(error) => prop_assert_ne!(error, FormulaError::Failed, "{}", tex),
        }
    }

    #[test]
    fn delimiters_of_anything_are_read(source in "[$\\\\\\[\\]()a{}]{0,12}") {
        if let Some(it) = delimited(&source) {
            prop_assert!(source.contains(it.tex));
        }
    }
}
