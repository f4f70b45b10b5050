//! Good files become text.

use chat_decoder::protocol::{Decoded, Format, Reason};
use chat_testkit::files::{docx, pdf, pptx, xlsx};

use crate::run::{answer, text};

#[test]
fn a_document_is_markdown() {
    let text = text(Format::Office, &docx("Bees make honey."));
    assert!(text.contains("Bees make honey."), "{text}");
    assert!(text.contains("hive | queen"), "{text}");
}

#[test]
fn sheets_are_tables() {
    let text = text(Format::Office, &xlsx("oak", 42));
    assert!(text.contains("Hives") && text.contains("| oak | 42 |"), "{text}");
}

#[test]
fn slides_are_markdown() {
    let text = text(Format::Office, &pptx("Bees dance"));
    assert!(text.contains("Bees dance"), "{text}");
}

#[test]
fn pages_have_their_numbers() {
    let text = text(Format::Pdf, &pdf(&["Bees make honey", "", "Flies do not"]));
    let place = |part: &str| text.find(part).unwrap_or_else(|| panic!("no {part} in {text}"));
    assert!(place("## Page 1") < place("Bees make honey"));
    assert!(place("Bees make honey") < place("## Page 3"));
    assert!(place("## Page 3") < place("Flies do not"));
}

#[test]
fn a_scanned_one_has_no_text() {
    let answer = answer(Format::Pdf, &pdf(&["", ""])).expect("whole");
    assert_eq!(answer.unwrap_err().reason, Reason::NoText);
}

#[test]
fn a_cut_document_is_a_failure_or_less_text() {
    let whole =
        [(Format::Office, docx("Bees make honey.")), (Format::Pdf, pdf(&["Bees make honey"]))];
    for (format, data) in whole {
        for cut in (0..data.len()).step_by(data.len() / 7) {
            let answer = answer(format, &data[..cut]).expect("whole");
            let less = matches!(&answer, Ok(Decoded::Text(text)) if format == Format::Pdf
                && text.contains("Bees"));
            assert!(less || answer.is_err(), "{format:?} {cut}: {answer:?}");
        }
    }
}
