//! Reads the files that go with a message: text as it is, and pictures, PDF, documents, tables and pages by
//! `natter-decoder`, a program of its own that may compute and nothing else.

mod decoder;
mod format;
mod tokens;

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chat_decoder::protocol::Decoded;
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;

use crate::error::{AttachmentFault, Error, Kind, Result};
use crate::message::Attachment;
use crate::programs;
use format::FileFormat;
pub(crate) use tokens::BYTES_PER_TOKEN;
pub use tokens::{picture_tokens, text_tokens};

/// Names the decoder's path, where it is not next to our program.
const VARIABLE: &str = "NATTER_DECODER";
/// The largest text that is attached as it is, in megabytes.
const TEXT_LIMIT: u64 = 20;
/// The largest file that is decoded, in megabytes.
const DECODED_LIMIT: u64 = 200;
/// So many files are decoded at once: each may take much memory.
const AT_ONCE: usize = 2;
/// By the first so many bytes it is seen what a file is.
const START: u64 = 4_096;

/// A file that was read, to go with a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadAttachment {
    /// Its name, without folders.
    pub name: String,
    /// The size of the file, in bytes.
    pub size: u64,
    /// About how many tokens it takes.
    pub tokens: u64,
    /// A small picture of it, where it is a picture.
    pub thumbnail: Option<Thumbnail>,
    /// What is sent.
    pub attachment: Attachment,
}

/// A small picture.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thumbnail {
    /// Its width, in pixels.
    pub width: u32,
    /// Its height, in pixels.
    pub height: u32,
    /// Its bytes, PNG or JPEG.
    #[serde(with = "crate::message::as_base64")]
    pub data: Arc<[u8]>,
}

/// Reads files to attach. Cheap to clone; all clones together decode two files at once.
#[derive(Clone, Debug)]
pub struct AttachmentReader {
    program: Option<PathBuf>,
    turns: Arc<Semaphore>,
}

impl Default for AttachmentReader {
    fn default() -> Self {
        Self::with_program(programs::find(chat_decoder::protocol::PROGRAM, VARIABLE))
    }
}

impl AttachmentReader {
    /// One that decodes by this program; without one it takes text alone.
    pub fn with_program(program: Option<PathBuf>) -> Self {
        Self { program, turns: Arc::new(Semaphore::new(AT_ONCE)) }
    }

    /// Reads a file. Dropping the future ends the decoder.
    ///
    /// # Errors
    ///
    /// `Attachment` with the reason.
    pub async fn read_file(&self, path: &Path) -> Result<ReadAttachment> {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        let (path, known) = (path.to_owned(), name.clone());
        let read = tokio::task::spawn_blocking(move || open(&path, &known)).await;
        let read = read.unwrap_or_else(|gone| Err(Fault::from(io::Error::other(gone))));
        match read {
            Ok((format, data)) => self.decode(name, format, data.into()).await,
            Err(fault) => Err(fault.of(name)),
        }
    }

    /// Reads what has no file: from the clipboard, or dropped by another program. Dropping the future ends
    /// the decoder.
    ///
    /// # Errors
    ///
    /// `Attachment` with the reason.
    pub async fn read_bytes(&self, name: &str, data: Arc<[u8]>) -> Result<ReadAttachment> {
        match format::of(name, &data) {
            Some(format) if data.len() as u64 > limit(format) << 20 => {
                Err(Fault::too_large(format).of(name.to_owned()))
            }
            Some(format) => self.decode(name.to_owned(), format, data).await,
            None => Err(Fault::from(AttachmentFault::Unsupported).of(name.to_owned())),
        }
    }

    async fn decode(
        &self,
        name: String,
        format: FileFormat,
        data: Arc<[u8]>,
    ) -> Result<ReadAttachment> {
        let size = data.len() as u64;
        let FileFormat::Decoded(format) = format else {
            let Ok(text) = std::str::from_utf8(&data) else {
                return Err(Fault::from(AttachmentFault::Unsupported).of(name));
            };
            let text = text.strip_prefix('\u{feff}').unwrap_or(text);
            return Ok(ReadAttachment::text(name, size, text.to_owned()));
        };
        let Some(program) = &self.program else {
            return Err(Fault::from(AttachmentFault::NoDecoder).of(name));
        };
        // It is never closed.
        let _turn = self.turns.acquire().await;
        match decoder::decode(program, format, &name, DECODED_LIMIT << 20, &data).await {
            Ok(Decoded::Text(text)) => Ok(ReadAttachment::text(name, size, text)),
            Ok(Decoded::Picture { picture, thumbnail }) => Ok(ReadAttachment {
                name,
                size,
                tokens: tokens::of_pixels(picture.width.into(), picture.height.into()),
                thumbnail: Some(Thumbnail {
                    width: thumbnail.width,
                    height: thumbnail.height,
                    data: thumbnail.data.into(),
                }),
                attachment: Attachment::Image { mime: picture.mime, data: picture.data.into() },
            }),
            Err(fault) => Err(fault.of(name)),
        }
    }
}

impl ReadAttachment {
    fn text(name: String, size: u64, text: String) -> Self {
        let tokens = text_tokens(&text);
        let attachment = Attachment::File { name: name.clone(), text };
        Self { name, size, tokens, thumbnail: None, attachment }
    }
}

/// A reason and what the system or the decoder says about it.
struct Fault {
    reason: AttachmentFault,
    detail: Option<String>,
}

impl Fault {
    fn too_large(format: FileFormat) -> Self {
        AttachmentFault::TooLarge { limit: limit(format) }.into()
    }

    fn of(self, name: String) -> Error {
        let error = Error::new(Kind::Attachment { name, fault: self.reason });
        self.detail.into_iter().fold(error, Error::with_detail)
    }
}

impl From<AttachmentFault> for Fault {
    fn from(reason: AttachmentFault) -> Self {
        Self { reason, detail: None }
    }
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        let reason = match error.kind() {
            io::ErrorKind::NotFound => AttachmentFault::Missing,
            _ => AttachmentFault::Unreadable,
        };
        Self { reason, detail: Some(error.to_string()) }
    }
}

/// The largest file of a kind, in megabytes.
fn limit(format: FileFormat) -> u64 {
    match format {
        FileFormat::Text => TEXT_LIMIT,
        FileFormat::Decoded(_) => DECODED_LIMIT,
    }
}

/// Reads a file, as far as it is one that can be attached. Blocks.
fn open(path: &Path, name: &str) -> Result<(FileFormat, Vec<u8>), Fault> {
    // Opening a pipe that nobody writes to would block.
    let mut how = File::options();
    how.read(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed());
    let file = how.open(path)?;
    let about = file.metadata()?;
    if about.is_dir() {
        return Err(AttachmentFault::Folder.into());
    }
    if !about.is_file() {
        return Err(AttachmentFault::NotAFile.into());
    }
    let mut data = Vec::new();
    (&file).take(START).read_to_end(&mut data)?;
    let format = format::of(name, &data).ok_or(AttachmentFault::Unsupported)?;
    let most = limit(format) << 20;
    if about.len() > most {
        return Err(Fault::too_large(format));
    }
    // The file may grow while it is read, and some system files report no size.
    (&file).take(most + 1 - data.len() as u64).read_to_end(&mut data)?;
    if data.len() as u64 > most {
        return Err(Fault::too_large(format));
    }
    if format == FileFormat::Text && data.contains(&0) {
        return Err(AttachmentFault::Unsupported.into());
    }
    Ok((format, data))
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use rustix::fs::{CWD, Mode, mkfifoat};

    use super::*;

    fn read(name: &str, bytes: &[u8]) -> Result<(FileFormat, Vec<u8>), AttachmentFault> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        open(&path, name).map_err(|fault| fault.reason)
    }

    #[test]
    fn a_file_is_read_by_what_it_holds() {
        use chat_decoder::protocol::Format;
        let text = "Grüße".as_bytes();
        assert_eq!(read("a.txt", text), Ok((FileFormat::Text, text.to_vec())));
        let png = b"\x89PNG\r\n\x1a\n";
        assert_eq!(read("a.txt", png), Ok((FileFormat::Decoded(Format::Image), png.to_vec())));
        assert_eq!(read("a.bin", b"a\0b"), Err(AttachmentFault::Unsupported));
        let late = [&[b'a'; 8_000][..], &[0]].concat();
        assert_eq!(read("a.log", &late), Err(AttachmentFault::Unsupported));
        // It reports a size of zero.
        let system = open(Path::new("/proc/self/status"), "status").map_err(|fault| fault.reason);
        assert!(matches!(system, Ok((FileFormat::Text, data)) if data.starts_with(b"Name:")));
    }

    #[test]
    fn only_regular_files_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        mkfifoat(CWD, &pipe, Mode::RUSR | Mode::WUSR).unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
        let reason = |path: &Path| open(path, "a").map_err(|fault| fault.reason).unwrap_err();
        for other in [&pipe, &link] {
            assert_eq!(reason(other), AttachmentFault::NotAFile, "{}", other.display());
        }
        let socket = folder.path().join("socket");
        let _listens = UnixListener::bind(&socket).unwrap();
        assert_eq!(reason(&socket), AttachmentFault::Unreadable);
        assert_eq!(reason(folder.path()), AttachmentFault::Folder);
        assert_eq!(reason(&folder.path().join("none")), AttachmentFault::Missing);
    }

    #[test]
    fn no_more_is_read_than_a_file_may_have() {
        let folder = tempfile::tempdir().unwrap();
        for (name, start, limit) in
            [("a.log", "line\n", TEXT_LIMIT), ("a.pdf", "%PDF-1.7", DECODED_LIMIT)]
        {
            let path = folder.path().join(name);
            std::fs::write(&path, start.repeat(1_000)).unwrap();
            // A hole takes no room on the disk.
            File::options().write(true).open(&path).unwrap().set_len(10 << 30).unwrap();
            let reason = open(&path, name).map_err(|fault| fault.reason);
            assert_eq!(reason.unwrap_err(), AttachmentFault::TooLarge { limit });
        }
    }
}
