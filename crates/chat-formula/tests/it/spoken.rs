//! What a formula says to a screen reader.

use chat_formula::{Phrase, Spoken, layout};

/// What is said, with phrases by their names.
fn said(tex: &str) -> String {
    let formula = layout(tex, true).expect(tex);
    let word = |it: &Spoken| match it {
        Spoken::Text(text) => text.clone(),
        Spoken::Phrase(Phrase::Table { rows, columns }) => format!("Table({rows}×{columns})"),
        Spoken::Phrase(phrase) => format!("{phrase:?}"),
    };
    formula.spoken.iter().map(word).collect::<Vec<_>>().join(" ")
}

#[test]
fn what_is_seen_by_its_place_is_said() {
    assert_eq!(said(r"\frac{a}{b}"), "Fraction a Over b");
    assert_eq!(said(r"\frac{a+1}{b}"), "Fraction a + 1 Over b EndFraction");
    assert_eq!(said(r"x^2 + y^{3} = z^{n+1}"), "x Squared + y Cubed = z Power n + 1 EndPower");
    assert_eq!(said(r"a_1 \le \alpha_{12}"), "a Sub 1 ≤ α Sub 12");
    assert_eq!(said(r"\sqrt{x} + \sqrt[3]{x+1}"), "SquareRoot x + Root 3 Of x + 1 EndRoot");
    assert_eq!(said(r"\sum_{i=1}^{n} i"), "∑ From i = 1 To n i");
    assert_eq!(said(r"\binom{n}{k}"), "n Choose k");
    assert_eq!(said(r"\sin x \text{ if } y"), "sin x if y");
    assert_eq!(
        said(r"\begin{pmatrix} a & b \\ c & d \end{pmatrix}"),
        "( Table(2×2) Row(1) a b Row(2) c d )"
    );
    assert_eq!(said(r"\hat{x}"), "x hat");
    assert_eq!(said(r"\left( x \right."), "( x");
    assert_eq!(said(r"\mathbb{R}"), "R");
    assert_eq!(said("f'(x)"), "f ′ ( x )");
}
