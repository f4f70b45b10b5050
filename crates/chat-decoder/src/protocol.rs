//! What the program is asked and what it answers: a line of JSON, then bytes.

use std::io::{self, BufRead, Read, Write};

use serde::{Deserialize, Serialize};

/// What the program is called.
pub const PROGRAM: &str = "natter-decoder";
/// The longest first line, in bytes: a name of a file has at most 255.
const LINE: u64 = 64 << 10;

/// How a file is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// A picture: PNG, JPEG, GIF, WebP, BMP or TIFF.
    Image,
    /// PDF.
    Pdf,
    /// A docx, xlsx or pptx.
    Office,
    /// Values that are separated by commas, semicolons or tabs.
    Table,
    /// A page of the web.
    Html,
}

/// How much a file may have, and what comes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// The largest file, in bytes.
    pub input: u64,
    /// The longest text, in bytes. More is cut, and the text says so.
    pub text: usize,
    /// The longest side of a picture that is read, in pixels.
    pub side_read: u32,
    /// The memory of a picture that is read, in bytes.
    pub pixels: u64,
    /// The longest side of a picture that is made, in pixels.
    pub side: u32,
    /// The longest side of its thumbnail, in pixels.
    pub thumbnail: u32,
    /// The most rows of a table. The text says how many there are.
    pub rows: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            input: 200 << 20,
            text: 2_000_000,
            side_read: 20_000,
            pixels: 512 << 20,
            side: 2_048,
            thumbnail: 256,
            rows: 1_000,
        }
    }
}

/// A file that is to be decoded; its bytes follow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// How it is to be read.
    pub format: Format,
    /// Its name, without folders.
    pub name: String,
    /// How much it may have.
    #[serde(default)]
    pub limits: Limits,
}

/// What a file contains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decoded {
    /// A picture, turned as it is to be looked at, without the data about its making.
    Picture {
        /// It.
        picture: Picture,
        /// The same, small.
        thumbnail: Picture,
    },
    /// A text, mostly Markdown.
    Text(String),
}

/// A picture that programs take everywhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Its MIME type.
    pub mime: String,
    /// Its width, in pixels.
    pub width: u32,
    /// Its height, in pixels.
    pub height: u32,
    /// Its bytes.
    pub data: Vec<u8>,
}

/// Why a file cannot be decoded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The reason.
    pub reason: Reason,
    /// What the decoder says, for the log alone: a part of it may be from the file.
    pub detail: String,
}

/// A reason why a file cannot be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// It is damaged, or is not what it says.
    Broken,
    /// It needs a password.
    Encrypted,
    /// It has no text: a scanned one has pictures alone.
    NoText,
    /// It, or what comes of it, is larger than the limits.
    TooLarge,
    /// It is a kind of file, or has something, that no decoder reads.
    Unsupported,
    /// It was not read, since the program could not be confined.
    NotConfined,
}

impl Failure {
    /// A failure with what a decoder says.
    pub fn new(reason: Reason, detail: &(impl ToString + ?Sized)) -> Self {
        Self { reason, detail: detail.to_string() }
    }
}

/// The first line of an answer.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Header {
    Picture { picture: PictureHeader, thumbnail: PictureHeader },
    Text { bytes: usize },
    Failed(Failure),
}

#[derive(Serialize, Deserialize)]
struct PictureHeader {
    mime: String,
    width: u32,
    height: u32,
    bytes: usize,
}

impl PictureHeader {
    fn of(picture: &Picture) -> Self {
        let Picture { mime, width, height, data } = picture;
        Self { mime: mime.clone(), width: *width, height: *height, bytes: data.len() }
    }

    fn with(self, data: &[u8]) -> Picture {
        let Self { mime, width, height, .. } = self;
        Picture { mime, width, height, data: data.to_vec() }
    }
}

/// Writes a request's first line; the file's bytes come after it.
pub fn write_request(request: &Request, mut out: impl Write) -> io::Result<()> {
    serde_json::to_writer(&mut out, request)?;
    out.write_all(b"\n")
}

/// Reads a request and the file's bytes. A file that is too large is a failure, and is not read to its end.
pub fn read_request(mut from: impl BufRead) -> io::Result<Result<(Request, Vec<u8>), Failure>> {
    let mut line = Vec::new();
    from.by_ref().take(LINE).read_until(b'\n', &mut line)?;
    let request: Request = serde_json::from_slice(&line)?;
    let mut data = Vec::new();
    let limit = request.limits.input;
    from.take(limit.saturating_add(1)).read_to_end(&mut data)?;
    if data.len() as u64 > limit {
        return Ok(Err(Failure::new(Reason::TooLarge, "the file")));
    }
    Ok(Ok((request, data)))
}

/// Writes an answer.
pub fn write_answer(answer: &Result<Decoded, Failure>, mut out: impl Write) -> io::Result<()> {
    let (header, payload): (_, Vec<&[u8]>) = match answer {
        Ok(Decoded::Picture { picture, thumbnail }) => (
            Header::Picture {
                picture: PictureHeader::of(picture),
                thumbnail: PictureHeader::of(thumbnail),
            },
            vec![&picture.data, &thumbnail.data],
        ),
        Ok(Decoded::Text(text)) => (Header::Text { bytes: text.len() }, vec![text.as_bytes()]),
        Err(failure) => (Header::Failed(failure.clone()), Vec::new()),
    };
    serde_json::to_writer(&mut out, &header)?;
    out.write_all(b"\n")?;
    payload.into_iter().try_for_each(|part| out.write_all(part))?;
    out.flush()
}

/// Reads an answer. None is one that is not whole: the program was ended, for what it took or from outside.
pub fn read_answer(output: &[u8]) -> Option<Result<Decoded, Failure>> {
    let end = output.iter().position(|byte| *byte == b'\n')?;
    let (line, payload) = (&output[..end], &output[end + 1..]);
    match serde_json::from_slice(line).ok()? {
        Header::Picture { picture, thumbnail } => {
            let (one, other) = payload.split_at_checked(picture.bytes)?;
            (other.len() == thumbnail.bytes).then(|| {
                let (picture, thumbnail) = (picture.with(one), thumbnail.with(other));
                Ok(Decoded::Picture { picture, thumbnail })
            })
        }
        Header::Text { bytes } => {
            let text = std::str::from_utf8(payload).ok().filter(|text| text.len() == bytes)?;
            Some(Ok(Decoded::Text(text.to_owned())))
        }
        Header::Failed(failure) => Some(Err(failure)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(bytes: usize) -> Picture {
        Picture { mime: "image/png".into(), width: 3, height: 2, data: vec![b'\n'; bytes] }
    }

    #[test]
    fn an_answer_comes_back_whole_or_not_at_all() {
        let answers = [
            Ok(Decoded::Picture { picture: picture(40), thumbnail: picture(7) }),
            Ok(Decoded::Text("Bees\nand ‘honey’".into())),
            Err(Failure::new(Reason::Encrypted, "a\nb")),
        ];
        for answer in answers {
            let mut output = Vec::new();
            write_answer(&answer, &mut output).unwrap();
            assert_eq!(read_answer(&output).as_ref(), Some(&answer));
            for cut in 0..output.len() - 1 {
                assert_eq!(read_answer(&output[..cut]), None, "{cut} bytes");
            }
        }
    }

    #[test]
    fn a_request_brings_its_bytes_unless_they_are_too_many() {
        let limits = Limits { input: 4, ..Limits::default() };
        let request = Request { format: Format::Pdf, name: "a\n.pdf".into(), limits };
        let mut input = Vec::new();
        write_request(&request, &mut input).unwrap();
        input.extend(b"a\nbc");
        assert_eq!(read_request(&*input).unwrap(), Ok((request, b"a\nbc".to_vec())));
        input.push(b'd');
        assert_eq!(read_request(&*input).unwrap().unwrap_err().reason, Reason::TooLarge);
        assert!(read_request(&b"{}\n"[..]).is_err());
    }
}
