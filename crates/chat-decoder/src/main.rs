//! `natter-decoder`: decodes the file on its input, and answers on its output.

use std::io::{self, BufReader, BufWriter};
use std::process::ExitCode;
use std::thread;

use chat_decoder::protocol::{Decoded, Failure, Reason, read_request, write_answer};
use chat_decoder::{confinement, decode};

/// Files nest as deep as their makers like: what is not used of it takes no memory.
const STACK: usize = 64 << 20;

fn main() -> ExitCode {
    // What a decoder says when it panics may have words of the file.
    std::panic::set_hook(Box::new(|_| {}));
    let worker = thread::Builder::new().stack_size(STACK).spawn(answer);
    let answer = worker.and_then(|worker| {
        let panicked = || Ok(Err(Failure::new(Reason::Broken, "the decoder panicked")));
        worker.join().unwrap_or_else(|_| panicked())
    });
    match answer.and_then(|answer| write_answer(&answer, BufWriter::new(io::stdout().lock()))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn answer() -> io::Result<Result<Decoded, Failure>> {
    if let Err(error) = confinement::confine() {
        return Ok(Err(Failure::new(Reason::NotConfined, &error)));
    }
    let request = read_request(BufReader::new(io::stdin().lock()))?;
    Ok(request.and_then(|(request, data)| decode(&request, data)))
}
