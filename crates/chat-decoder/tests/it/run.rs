//! Runs the program.

use std::io::Write;
use std::process::{Child, Command, Stdio};

use chat_decoder::protocol::{
    Decoded, Failure, Format, Limits, Request, read_answer, write_request,
};

/// Starts the program and says what it is to decode; the bytes are to follow.
pub fn start(format: Format) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_natter-decoder"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().expect("started");
    let request = Request { format, name: "file".into(), limits: Limits::default() };
    write_request(&request, child.stdin.as_mut().expect("piped")).expect("asked");
    child
}

/// What the program answers; nothing if it was ended.
pub fn answer(format: Format, data: &[u8]) -> Option<Result<Decoded, Failure>> {
    let mut child = start(format);
    let mut stdin = child.stdin.take().expect("piped");
    // One that was ended takes no more.
    let _ = stdin.write_all(data);
    drop(stdin);
    read_answer(&child.wait_with_output().expect("ended").stdout)
}

/// The text that the program finds.
pub fn text(format: Format, data: &[u8]) -> String {
    match answer(format, data) {
        Some(Ok(Decoded::Text(text))) => text,
        other => panic!("no text: {other:?}"),
    }
}
