//! Exports in archives.

use std::io::Write as _;

use chat_import::{BrokenFile, ExportFault, Item};
use flate2::Compression;
use flate2::write::DeflateEncoder;

use super::{outline, read};

const CHAT: &str = r#"[{"uuid":"k","name":"A","chat_messages":[{"uuid":"a","sender":"human","text":"1",
    "files":[{"file_name":"p.png","file_uuid":"f-1"}]}]}]"#;

/// An archive with these entries, each deflated.
fn archive(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let (mut out, mut list) = (Vec::new(), Vec::new());
    for (name, data) in entries {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(data).unwrap();
        let packed = encoder.finish().unwrap();
        let at = out.len() as u32;
        let mut common = vec![20, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        common.extend((packed.len() as u32).to_le_bytes());
        common.extend((data.len() as u32).to_le_bytes());
        common.extend((name.len() as u16).to_le_bytes());
        common.extend([0, 0]);
        out.extend(b"PK\x03\x04");
        out.extend(&common);
        out.extend(name.as_bytes());
        out.extend(packed);
        list.extend(b"PK\x01\x02\x14\x00");
        list.extend(&common);
        list.extend([0; 10]);
        list.extend(at.to_le_bytes());
        list.extend(name.as_bytes());
    }
    let (at, count) = (out.len() as u32, entries.len() as u16);
    out.extend(&list);
    out.extend(b"PK\x05\x06\0\0\0\0");
    out.extend(count.to_le_bytes());
    out.extend(count.to_le_bytes());
    out.extend((list.len() as u32).to_le_bytes());
    out.extend(at.to_le_bytes());
    out.extend([0, 0]);
    out
}

fn read_archive(bytes: &[u8]) -> (Vec<Item>, Result<chat_import::Found, ExportFault>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("export.zip");
    std::fs::write(&path, bytes).unwrap();
    read(&path)
}

#[test]
fn chats_and_their_pictures_are_read_from_an_archive() {
    let png: &[u8] = b"\x89PNG";
    let bytes = archive(&[
        ("user.json", b"{\"id\":1}"),
        ("data/f-1.png", png),
        ("data/conversations.json", CHAT.as_bytes()),
    ]);
    let (items, found) = read_archive(&bytes);
    assert!(found.unwrap().broken.is_empty());
    let [Item::Chat { chat, .. }] = items.as_slice() else { panic!("{items:?}") };
    assert_eq!(outline(chat), [">a User: <image/png 4> | 1"]);
}

#[test]
fn a_broken_entry_costs_the_others_nothing() {
    let cut = &CHAT.as_bytes()[..CHAT.len() - 4];
    let entries = [("conversations-0.json", cut), ("conversations-1.json", CHAT.as_bytes())];
    let (items, found) = read_archive(&archive(&entries));
    assert!(matches!(&items[..], [Item::Chat { .. }]), "{items:?}");
    let broken = found.unwrap().broken;
    let [BrokenFile { path, fault: ExportFault::Truncated }] = &broken[..] else {
        panic!("{broken:?}")
    };
    assert!(path.ends_with("export.zip"));
}

#[test]
fn an_archive_that_leads_out_of_itself_is_refused() {
    for name in ["../conversations.json", "/conversations.json", "a/../../conversations.json"] {
        let (items, found) = read_archive(&archive(&[(name, CHAT.as_bytes())]));
        assert!(items.is_empty() && matches!(found, Err(ExportFault::UnsafePath)), "{name}");
    }
}

#[test]
fn an_archive_that_unpacks_to_too_much_is_refused() {
    let mut bomb = b"[{\"mapping\":\"".to_vec();
    bomb.resize(40 << 20, b'a');
    let (items, found) = read_archive(&archive(&[("conversations.json", &bomb)]));
    assert!(items.is_empty() && matches!(found, Err(ExportFault::Bomb)), "{found:?}");
}

#[test]
fn a_cut_or_broken_archive_is_no_panic() {
    let bytes = archive(&[("conversations.json", CHAT.as_bytes())]);
    for cut in 4..bytes.len() {
        assert!(read_archive(&bytes[..cut]).1.is_err(), "{cut}");
    }
    for at in 4..bytes.len() {
        let mut broken = bytes.clone();
        broken[at] ^= 0xff;
        let _ = read_archive(&broken);
    }
}

#[test]
fn an_archive_of_nothing_and_an_empty_file_are_no_exports() {
    let (_, found) = read_archive(&archive(&[]));
    assert!(matches!(found, Err(ExportFault::Unknown)), "{found:?}");
    let (_, found) = read_archive(b"");
    assert!(matches!(found, Err(ExportFault::Empty)), "{found:?}");
}
