//! Files to attach, read by the real decoder.

use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chat_core::attachment::{AttachmentReader, ReadAttachment};
use chat_core::error::{AttachmentFault, Error, Kind};
use chat_core::message::Attachment;
use chat_testkit::files::{self, ImageFormat, built_program};
use chat_testkit::server::PATIENCE;
use futures_util::future::join_all;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{CWD, Mode, mkfifoat};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::net::unix::pipe;

/// The name of the decoder.
const PROGRAM: &str = "natter-decoder";

fn reader() -> AttachmentReader {
    AttachmentReader::with_program(Some(built_program(PROGRAM)))
}

async fn read(name: &str, data: Vec<u8>) -> Result<ReadAttachment, Error> {
    reader().read_bytes(name, data.into()).await
}

/// The text of a file, which keeps its name.
async fn text(name: &str, data: Vec<u8>) -> String {
    match read(name, data).await.expect("read").attachment {
        Attachment::File { name: sent, text } => {
            assert_eq!(sent, name);
            text
        }
        other => panic!("{name} became {other:?}"),
    }
}

/// A picture's bytes and what it says about itself: type, width and height.
async fn picture(name: &str, data: Vec<u8>) -> (Arc<[u8]>, (String, u32, u32)) {
    let read = read(name, data).await.expect("read");
    let thumbnail = read.thumbnail.expect("a thumbnail");
    match read.attachment {
        Attachment::Image { mime, data } => (data, (mime, thumbnail.width, thumbnail.height)),
        other => panic!("{name} became {other:?}"),
    }
}

fn fault(read: Result<ReadAttachment, Error>) -> (String, AttachmentFault) {
    match read.expect_err("a failure").kind {
        Kind::Attachment { name, fault } => (name, fault),
        other => panic!("another error: {other:?}"),
    }
}

/// A page on which a parser is busy for minutes: each end that belongs to nothing is looked for in all that is open.
fn endless_page() -> Arc<[u8]> {
    format!("{}{}", "<span>".repeat(30_000), "</x>".repeat(2_000_000)).into_bytes().into()
}

/// A script in the decoder's place, which does something before or after it.
struct Stage {
    folder: TempDir,
}

impl Stage {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder") }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A reader that decodes by these lines; `DECODER` and `FOLDER` stand for paths.
    fn reader(&self, lines: &str) -> AttachmentReader {
        let shown = |path: &Path| format!("'{}'", path.display());
        let lines = lines.replace("DECODER", &shown(&built_program(PROGRAM)));
        let lines = lines.replace("FOLDER", &shown(self.folder.path()));
        let script = self.path("decoder");
        // Written by another process: one that this process forks meanwhile would keep it open, and nothing runs a
        // file that is written to.
        std::fs::write(self.path("new"), format!("#!/bin/sh\n{lines}\n")).expect("written");
        let copied = std::process::Command::new("cp").args([&self.path("new"), &script]).status();
        assert!(copied.expect("run").success());
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755))
            .expect("executable");
        AttachmentReader::with_program(Some(script))
    }

    /// A reader that is read from for the processes which it starts.
    fn watched_reader(&self) -> (AttachmentReader, Started) {
        let pipe = self.path("started");
        mkfifoat(CWD, &pipe, Mode::RUSR | Mode::WUSR).expect("a pipe");
        let lines = "echo $$ > FOLDER/started\nexec DECODER";
        let reader = self.reader(lines);
        // With an end to write to it never ends itself.
        let opened = pipe::OpenOptions::new().read_write(true).open_receiver(&pipe);
        (reader, Started(BufReader::new(opened.expect("opened"))))
    }
}

/// The processes that were started.
struct Started(BufReader<pipe::Receiver>);

impl Started {
    async fn next(&mut self) -> Process {
        let mut line = String::new();
        let reading = tokio::time::timeout(PATIENCE, self.0.read_line(&mut line));
        reading.await.expect("in time").expect("a line");
        let pid = Pid::from_raw(line.trim().parse().expect("a number")).expect("a process");
        let handle = pidfd_open(pid, PidfdFlags::empty()).expect("it runs");
        Process { pid, handle }
    }
}

struct Process {
    pid: Pid,
    handle: OwnedFd,
}

impl Process {
    /// Waits for its end.
    async fn ended(self) {
        let waiting = tokio::task::spawn_blocking(move || {
            let patience = PATIENCE.try_into().expect("a time");
            poll(&mut [PollFd::new(&self.handle, PollFlags::IN)], Some(&patience))
        });
        assert_eq!(waiting.await.expect("waited"), Ok(1), "it still runs");
    }
}

#[tokio::test]
async fn each_kind_of_picture_becomes_one_that_models_take() {
    use ImageFormat::{Bmp, Gif, Jpeg, Png, Tiff, WebP};
    for format in [Bmp, Gif, Jpeg, Png, Tiff, WebP] {
        // The name says nothing.
        let (data, about) = picture("picture", files::picture(40, 20, format)).await;
        assert_eq!((about.1, about.2), (40, 20), "{format:?}");
        let start: &[u8] = if about.0 == "image/png" { b"\x89PNG" } else { b"\xff\xd8\xff" };
        assert!(data.starts_with(start), "{format:?} is {}", about.0);
    }
}

#[tokio::test]
async fn a_photo_is_turned_and_does_not_tell_of_its_camera() {
    let photo = files::turned_photo(60, 30);
    assert!(photo.windows(11).any(|part| part == b"Natterphone"));
    let size = photo.len() as u64;
    let read = read("photo.jpg", photo).await.expect("read");
    let thumbnail = read.thumbnail.expect("a thumbnail");
    assert_eq!((thumbnail.width, thumbnail.height), (30, 60));
    assert_eq!((read.size, read.tokens), (size, 3), "1,800 pixels");
    let Attachment::Image { data, .. } = read.attachment else { panic!("text") };
    for data in [data, thumbnail.data] {
        assert!(!data.windows(11).any(|part| part == b"Natterphone"));
        assert!(!data.windows(4).any(|part| part == b"Exif" || part == b"eXIf"));
    }
}

#[tokio::test]
async fn a_pdf_is_text_with_the_numbers_of_its_pages() {
    let text = text("bees.pdf", files::pdf(&["Bees make honey", "Flies do not"])).await;
    let places = ["## Page 1", "Bees make honey", "## Page 2", "Flies do not"]
        .map(|part| text.find(part).unwrap_or_else(|| panic!("no {part} in {text}")));
    assert!(places.is_sorted(), "{text}");
}

#[tokio::test]
async fn a_pdf_with_a_photo_is_its_words() {
    let photo = files::picture(600, 400, ImageFormat::Jpeg);
    let text = text("bees.pdf", files::pdf_with_photo("A bee in May", &photo, 600, 400)).await;
    assert!(text.contains("A bee in May"), "{text}");
}

#[tokio::test]
async fn documents_tables_and_pages_are_text() {
    let text_of = async |name, data| text(name, data).await;
    let document = text_of("a.docx", files::docx("Bees make honey.")).await;
    assert!(document.contains("Bees make honey."), "{document}");
    let sheet = text_of("a.xlsx", files::xlsx("oak", 42)).await;
    assert!(sheet.contains("| oak | 42 |"), "{sheet}");
    let slide = text_of("a.pptx", files::pptx("Bees dance")).await;
    assert!(slide.contains("Bees dance"), "{slide}");
    let table = text_of("a.csv", b"hive;bees\noak;42\n".to_vec()).await;
    assert_eq!(table, "| hive | bees |\n| --- | --- |\n| oak | 42 |\n");
    let page = text_of("a.html", b"<h1>Bees</h1><script>x()</script><p>They fly.".to_vec()).await;
    assert!(page.contains("# Bees") && page.contains("They fly."), "{page}");
    assert!(!page.contains("x()"), "{page}");
}

#[tokio::test]
async fn a_file_is_read_by_its_path_and_named_without_its_folders() {
    let stage = Stage::new();
    let path = stage.path("bees.pdf");
    std::fs::write(&path, files::pdf(&["Bees make honey"])).unwrap();
    let read = reader().read_file(&path).await.unwrap();
    assert_eq!(read.name, "bees.pdf");
    assert_eq!(read.size, std::fs::metadata(&path).unwrap().len());
    assert_eq!(fault(reader().read_file(&stage.path("none")).await).0, "none");
}

#[tokio::test]
async fn what_cannot_be_read_says_why() {
    use AttachmentFault::{Broken, Encrypted, NoText, Unsupported};
    for (name, data, why) in [
        ("locked.pdf", files::locked_pdf(&["Bees"]), Encrypted),
        ("locked.docx", files::locked_office(), Encrypted),
        ("broken.pdf", b"%PDF-1.7\nnothing of it".to_vec(), Broken),
        ("broken.png", b"\x89PNG\r\n\x1a\nnothing".to_vec(), Broken),
        ("cut.docx", files::docx("Bees")[..300].to_vec(), Broken),
        ("old.doc", files::old_document(), Unsupported),
        ("program", b"\x7fELF\x02\x01\x01\0".to_vec(), Unsupported),
        ("latin1.txt", b"Gr\xfc\xdfe".to_vec(), Unsupported),
        ("scanned.pdf", files::pdf(&["", ""]), NoText),
    ] {
        assert_eq!(fault(read(name, data).await), (name.to_owned(), why));
    }
}

#[tokio::test]
async fn what_would_take_all_memory_is_one_error() {
    for (name, data) in [
        ("huge.png", files::png_of_size(60_000, 60_000)),
        ("bomb.docx", files::docx_bomb()),
        ("bomb.xlsx", files::xlsx_bomb()),
    ] {
        let (named, why) = fault(read(name, data).await);
        assert_eq!(named, name);
        assert!(
            matches!(why, AttachmentFault::TooMuch | AttachmentFault::Broken),
            "{name} {why:?}"
        );
    }
}

#[tokio::test]
async fn what_computes_without_end_is_ended() {
    let stage = Stage::new();
    // Less than the decoder takes itself, which leaves it so.
    let reader = stage.reader("ulimit -t 1\nexec DECODER");
    let ended = reader.read_bytes("a.html", endless_page()).await;
    assert_eq!(fault(ended), ("a.html".to_owned(), AttachmentFault::TooMuch));
    let next = reader.read_bytes("b.html", b"<p>bees".as_slice().into()).await.unwrap();
    assert_eq!(next.tokens, 2);
}

#[tokio::test]
async fn who_no_longer_waits_for_a_file_ends_its_decoder() {
    let stage = Stage::new();
    let (reader, mut started) = stage.watched_reader();
    let reading = tokio::spawn(async move { reader.read_bytes("a.html", endless_page()).await });
    let process = started.next().await;
    assert!(!reading.is_finished());
    reading.abort();
    process.ended().await;
    assert!(reading.await.unwrap_err().is_cancelled());
}

#[tokio::test]
async fn a_decoder_that_is_killed_is_an_error_and_the_next_file_has_another() {
    let stage = Stage::new();
    let (reader, mut started) = stage.watched_reader();
    let other = reader.clone();
    let reading = tokio::spawn(async move { other.read_bytes("a.html", endless_page()).await });
    kill_process(started.next().await.pid, Signal::KILL).unwrap();
    assert_eq!(fault(reading.await.unwrap()).1, AttachmentFault::TooMuch);
    assert!(reader.read_bytes("b.html", b"<p>bees".as_slice().into()).await.is_ok());
}

#[tokio::test]
async fn a_decoder_that_is_missing_or_lies_is_an_error() {
    let none = AttachmentReader::with_program(None);
    let page = || Arc::from(b"<p>bees".as_slice());
    assert_eq!(fault(none.read_bytes("a.html", page()).await).1, AttachmentFault::NoDecoder);
    assert!(none.read_bytes("a.txt", page()).await.is_ok(), "text needs none");
    let stage = Stage::new();
    let gone = AttachmentReader::with_program(Some(stage.path("gone")));
    assert_eq!(fault(gone.read_bytes("a.html", page()).await).1, AttachmentFault::NoDecoder);
    // It answers without end, and takes nothing.
    let liar = stage.reader("exec cat /dev/zero");
    assert_eq!(fault(liar.read_bytes("a.html", endless_page()).await).1, AttachmentFault::TooMuch);
}

#[tokio::test]
async fn of_hundreds_of_files_two_are_decoded_at_once() {
    let stage = Stage::new();
    // Each write is one, at the end of the file.
    let reader = stage.reader("echo + >> FOLDER/log\nDECODER\necho - >> FOLDER/log");
    let read = (0..500).map(|number| {
        let data = format!("number\n{number}\n").into_bytes();
        let reader = &reader;
        async move { reader.read_bytes(&format!("{number}.csv"), data.into()).await }
    });
    for (number, read) in join_all(read).await.into_iter().enumerate() {
        let Attachment::File { text, .. } = read.expect("read").attachment else {
            panic!("a picture")
        };
        assert_eq!(text, format!("| number |\n| --- |\n| {number} |\n"));
    }
    let (mut now, mut most) = (0, 0);
    for line in std::fs::read_to_string(stage.path("log")).unwrap().lines() {
        now += if line == "+" { 1 } else { -1 };
        most = most.max(now);
    }
    assert_eq!((now, most), (0, 2));
}
