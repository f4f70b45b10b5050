//! Hostile files are one failure each, and the program is confined while it reads them.

use std::io::Write;

use chat_decoder::protocol::{Format, Reason, read_answer};

use crate::documents::{CONTENT, pdf, relations};
use crate::run::{answer, start, text};
use crate::zip::bomb;

fn reason(format: Format, data: &[u8]) -> Option<Reason> {
    answer(format, data).map(|answer| answer.expect_err("a failure").reason)
}

#[test]
fn a_picture_of_a_billion_pixels_is_too_large() {
    let chunk = |kind: &[u8], data: &[u8]| {
        let body = [kind, data].concat();
        let crc = crc32fast::hash(&body).to_be_bytes();
        [&(data.len() as u32).to_be_bytes()[..], &body, &crc].concat()
    };
    let side = 30_000_u32.to_be_bytes();
    let header = [&side[..], &side, &[8, 2, 0, 0, 0]].concat();
    let png = [
        b"\x89PNG\r\n\x1a\n".to_vec(),
        chunk(b"IHDR", &header),
        chunk(b"IDAT", b"\x78\x9c\x03\0\0\0\0\x01"),
        chunk(b"IEND", b""),
    ];
    assert_eq!(reason(Format::Image, &png.concat()), Some(Reason::TooLarge));
}

#[test]
fn an_archive_that_unpacks_to_gigabytes_is_refused() {
    for (kind, part) in [("word", "word/document.xml"), ("xl", "xl/workbook.xml")] {
        let root = relations("officeDocument", part);
        let files = [("[Content_Types].xml", CONTENT), ("_rels/.rels", &*root)];
        let reason = reason(Format::Office, &bomb(&files, part));
        assert!(
            matches!(reason, None | Some(Reason::Broken | Reason::TooLarge)),
            "{kind} {reason:?}"
        );
    }
}

#[test]
fn an_encrypted_pdf_needs_a_password() {
    let word = "00112233445566778899AABBCCDDEEFF00112233445566778899AABBCCDDEEFF";
    let encrypt = format!(
        "/ID [<0123> <0123>] /Encrypt << /Filter /Standard /V 2 /R 3 /Length 128 /P -3904 /O <{word}> \
         /U <{word}> >>"
    );
    assert_eq!(reason(Format::Pdf, &pdf(&["Bees"], &encrypt)), Some(Reason::Encrypted));
}

#[test]
fn broken_files_are_broken() {
    assert_eq!(reason(Format::Pdf, b"%PDF-1.7\nnothing of it"), Some(Reason::Broken));
    assert_eq!(reason(Format::Image, b"\x89PNG\r\n\x1a\nnothing"), Some(Reason::Broken));
    assert_eq!(reason(Format::Image, b"a text"), Some(Reason::Unsupported));
}

#[test]
fn a_page_that_nests_deep_is_read() {
    let page = format!("{}bees", "<div>".repeat(5_000));
    assert_eq!(text(Format::Html, page.as_bytes()), "bees");
}

#[test]
fn it_is_confined_before_it_reads_and_ended_by_a_signal() {
    let mut child = start(Format::Pdf);
    // More than the pipe holds: when it is written, the program has read of it.
    child.stdin.as_mut().unwrap().write_all(&[b' '; 2 << 20]).unwrap();
    let process = format!("/proc/{}", child.id());
    let status = std::fs::read_to_string(format!("{process}/status")).unwrap();
    assert!(status.lines().any(|line| line == "Seccomp:\t2"), "{status}");
    child.kill().unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(!output.status.success());
    assert_eq!(read_answer(&output.stdout), None);
}
