//! Exports of hundreds of megabytes, and files that pretend to be some.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::ops::ControlFlow;

use chat_import::{ChatFault, ExportFault, Item};

use super::read;

const MB: usize = 1 << 20;
const CHATS: usize = 200;

/// The most memory that this process has had, in bytes.
fn most_memory() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let kib: usize = line.trim().trim_end_matches(" kB").parse().unwrap();
    kib * 1024
}

#[test]
fn an_export_of_200_mb_takes_the_memory_of_a_chat() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("conversations.json");
    let mut file = BufWriter::new(File::create(&path).unwrap());
    let text = "x".repeat(MB);
    for n in 0..CHATS {
        let begin = if n == 0 { "[" } else { "," };
        let message = r#"{"uuid":"a","sender":"human","text":""#;
        let head = format!(r#"{begin}{{"uuid":"{n}","name":"{n}","chat_messages":[{message}"#);
        for piece in [&head, &text, r#""}]}"#] {
            file.write_all(piece.as_bytes()).unwrap();
        }
    }
    file.write_all(b"]").unwrap();
    drop(file);
    let before = most_memory();
    let mut read = 0;
    let found = chat_import::read(&path, &mut |item, _| {
        assert!(matches!(item, Item::Chat { .. }), "{item:?}");
        read += 1;
        ControlFlow::Continue(())
    });
    assert!(found.unwrap().broken.is_empty());
    assert_eq!(read, CHATS);
    let more = most_memory() - before;
    assert!(more < 40 * MB, "it took {} MB", more / MB);
}

#[test]
fn a_chat_that_is_too_large_costs_itself_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("conversations.json");
    let mut file = BufWriter::new(File::create(&path).unwrap());
    let text = "x".repeat(MB);
    file.write_all(br#"[{"uuid":"a","chat_messages":["#).unwrap();
    file.write_all(br#"{"uuid":"m","sender":"human","text":""#).unwrap();
    for _ in 0..300 {
        file.write_all(text.as_bytes()).unwrap();
    }
    let chat = r#"{"uuid":"b","chat_messages":[{"uuid":"n","sender":"human","text":"1"}]}"#;
    write!(file, r#""}}]}},{chat}]"#).unwrap();
    drop(file);
    let (items, found) = read(&path);
    assert_eq!(found.unwrap().broken.len(), 0);
    let [Item::Unreadable { fault, place: 1, .. }, Item::Chat { place: 2, .. }] = &items[..] else {
        panic!("{items:?}")
    };
    assert_eq!(*fault, ChatFault::TooLarge);
    // Its own bytes, and as many again while the buffer grows.
    assert!(most_memory() < 300 * MB, "it took {} MB", most_memory() / MB);
}

#[test]
fn a_large_file_that_is_no_export_is_refused_by_its_beginning() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("disk.img");
    // Nothing but zeros, of which nothing is stored.
    File::create(&path).unwrap().set_len((200 * MB) as u64).unwrap();
    let before = most_memory();
    let found = chat_import::read(&path, &mut |item, _| panic!("{item:?}"));
    assert!(matches!(found, Err(ExportFault::Unknown)), "{found:?}");
    assert!(most_memory() - before < 40 * MB);
}
