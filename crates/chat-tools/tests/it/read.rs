//! Tests `read_file` and its limits.

use chat_core::message::ToolView;
use serde_json::json;

use crate::world::World;

#[tokio::test]
async fn a_range_of_lines_is_read() {
    let world = World::new();
    world.put("a.txt", "one\ntwo\nthree\n");
    let output =
        world.call("read_file", json!({ "path": "a.txt", "from": 2, "to": 2 })).await.unwrap();
    assert_eq!(output.text, "2\ttwo\n[Lines 2 to 2 of 3. Continue with from: 3.]\n");
    assert_eq!(
        output.view,
        Some(ToolView::Read { path: "a.txt".to_owned(), from: Some(2), to: Some(2) })
    );
    assert_eq!(
        world.fails("read_file", json!({ "path": "a.txt", "from": 9 })).await,
        "a.txt has only 3 lines."
    );
    assert!(world.host.was_asked().is_empty());
}

#[tokio::test]
async fn encodings_are_read_and_told() {
    let world = World::new();
    world.put("marked.txt", b"\xef\xbb\xbfa\n");
    world.put("wide.txt", b"\xff\xfea\0\n\0\xe4\0");
    world.put("latin.txt", b"gr\xf6\xdfe\n");
    let read = async |path: &str| world.says("read_file", json!({ "path": path })).await;
    assert_eq!(read("marked.txt").await, "1\ta\n");
    assert_eq!(
        read("wide.txt").await,
        "1\ta\n2\tä\n[The last line has no newline. The file is UTF-16, little-endian.]\n"
    );
    assert_eq!(read("latin.txt").await, "1\tgröße\n[The file is not UTF-8, read as Latin-1.]\n");
}

#[tokio::test]
async fn what_is_no_text_is_named() {
    let world = World::new();
    world.put("a.bin", b"text\0and more");
    world.put("later.bin", [b"x".repeat(100_000), b"\0".to_vec()].concat());
    world.put("a.out", b"\x7fELF\x02\x01\x01\0");
    let read = async |path: &str| world.says("read_file", json!({ "path": path })).await;
    assert_eq!(read("a.bin").await, "a.bin is a binary file, 13 bytes. It has no lines to read.");
    assert_eq!(
        read("a.out").await,
        "a.out is an ELF program or library, 8 bytes. It has no lines to read."
    );
    // What lies behind what is shown of a line is not looked at.
    assert!(read("later.bin").await.starts_with("1\txxx"));
}

#[tokio::test]
async fn pictures_go_to_models_that_see() {
    let mut world = World::new();
    let bytes = b"\x89PNG\r\n\x1a\n\0\0";
    world.put("a.png", bytes);
    let output = world.call("read_file", json!({ "path": "a.png" })).await.unwrap();
    assert_eq!(output.pictures.len(), 1);
    assert_eq!((&*output.pictures[0].0, &*output.pictures[0].1), ("image/png", &bytes[..]));
    world.context.sees = false;
    let output = world.call("read_file", json!({ "path": "a.png" })).await.unwrap();
    assert!(output.pictures.is_empty());
    assert_eq!(output.text, "a.png is an image (image/png, 10 bytes), but you cannot see images.");
}

#[tokio::test]
async fn what_is_not_there_is_said_with_what_is() {
    let world = World::new();
    world.put("src/main.rs", "");
    assert_eq!(
        world.fails("read_file", json!({ "path": "src/mian.rs" })).await,
        "src/mian.rs does not exist. Its folder contains: main.rs."
    );
    assert_eq!(
        world.fails("read_file", json!({ "path": "src" })).await,
        "src is a folder: use list_files to see its contents."
    );
    assert_eq!(
        world.says("read_file", json!({ "path": "src/main.rs" })).await,
        "The file is empty."
    );
}

#[tokio::test]
async fn a_pipe_holds_up_nobody() {
    let world = World::new();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        world.project.join("pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    assert!(
        world.fails("read_file", json!({ "path": "pipe" })).await.starts_with("pipe is not a file")
    );
}
