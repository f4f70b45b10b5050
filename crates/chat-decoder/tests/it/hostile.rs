//! Hostile files are one failure each, and the program is confined while it reads them.

use std::collections::BTreeMap;
use std::io::Write;

use chat_decoder::protocol::{Format, Reason, read_answer};
use chat_testkit::files::{docx_bomb, locked_pdf, png_of_size, xlsx_bomb};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, apply_filter};

use crate::run::{answer, start, text};

fn reason(format: Format, data: &[u8]) -> Option<Reason> {
    answer(format, data).map(|answer| answer.expect_err("a failure").reason)
}

#[test]
fn a_picture_of_a_billion_pixels_is_too_large() {
    assert_eq!(reason(Format::Image, &png_of_size(30_000, 30_000)), Some(Reason::TooLarge));
}

#[test]
fn an_archive_that_unpacks_to_gigabytes_is_refused() {
    for (kind, data) in [("docx", docx_bomb()), ("xlsx", xlsx_bomb())] {
        let reason = reason(Format::Office, &data);
        assert!(
            matches!(reason, None | Some(Reason::Broken | Reason::TooLarge)),
            "{kind} {reason:?}"
        );
    }
}

#[test]
fn an_encrypted_pdf_needs_a_password() {
    assert_eq!(reason(Format::Pdf, &locked_pdf(&["Bees"])), Some(Reason::Encrypted));
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
fn what_cannot_be_confined_reads_nothing() {
    let refused = SeccompAction::Errno(libc::ENOSYS as u32);
    let rules = BTreeMap::from([(libc::SYS_seccomp, Vec::new())]);
    let arch = std::env::consts::ARCH.try_into().unwrap();
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refused, arch).unwrap();
    let filter = BpfProgram::try_from(filter).unwrap();
    // What a thread may not do, the programs that it starts may not, either.
    let thread = std::thread::spawn(move || {
        apply_filter(&filter).unwrap();
        reason(Format::Html, b"<p>bees</p>")
    });
    assert_eq!(thread.join().unwrap(), Some(Reason::NotConfined));
}

#[test]
fn it_is_confined_before_it_reads_and_ended_by_a_signal() {
    let mut child = start(Format::Pdf);
    // More than the pipe holds: when it is written, the program has read of it.
    child.stdin.as_mut().unwrap().write_all(&vec![b' '; 2 << 20]).unwrap();
    let process = format!("/proc/{}", child.id());
    let status = std::fs::read_to_string(format!("{process}/status")).unwrap();
    assert!(status.lines().any(|line| line == "Seccomp:\t2"), "{status}");
    let limits = std::fs::read_to_string(format!("{process}/limits")).unwrap();
    for (limit, most) in [("Max cpu time", 20), ("Max address space", 1_536 << 20)] {
        let line = limits.lines().find_map(|line| line.strip_prefix(limit)).expect("a limit");
        let values: Vec<u64> =
            line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        assert!(values.len() == 2 && values.iter().all(|value| *value <= most), "{limit}{line}");
    }
    child.kill().unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(!output.status.success());
    assert_eq!(read_answer(&output.stdout), None);
}
