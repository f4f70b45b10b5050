//! Exports of hundreds of megabytes, and files that pretend to be some.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::ops::ControlFlow;

use chat_import::{ExportFault, Item};

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
    assert!(found.unwrap().broken.is_none());
    assert_eq!(read, CHATS);
    let more = most_memory() - before;
    assert!(more < 40 * MB, "it took {} MB", more / MB);
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
