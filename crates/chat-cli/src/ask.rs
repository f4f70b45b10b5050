//! `natter-cli ask`: one question, one answer.

use std::io::Read as _;

use chat_core::error::Error;
use chat_core::event::StopReason;
use chat_core::message::Usage;

use crate::args::Ask;
use crate::engine::Program;
use crate::output::json::Json;
use crate::output::text::Text;
use crate::output::{Done, Sink};
use crate::request;
use crate::say;
use crate::signals::Signals;
use crate::trouble::{Outcome, Result, Trouble};
use crate::turn::Turns;

/// Asks, shows the answer as it comes, and gives how it ended.
pub async fn run(args: Ask, program: &Program) -> Result<Outcome> {
    let json = args.request.json;
    let mut sink: Box<dyn Sink> =
        if json { Box::new(Json::default()) } else { Box::new(Text::new(program.terminal)) };
    let asked = ask(args, program, sink.as_mut()).await;
    match asked {
        Ok(done) => {
            if json && let Some(error) = &done.error {
                Trouble::Engine(error.clone()).tell(program.terminal);
            }
            Ok(done.reason.into())
        }
        // Programs that read lines hear of it as of any other end.
        Err(trouble @ (Trouble::Engine(_) | Trouble::Stopped)) if json => {
            sink.done(&done_early(&trouble));
            // What is wrong with the output is no news when something else is wrong already.
            let _ = program.output.write(sink.take()).await;
            Err(trouble)
        }
        Err(Trouble::BrokenPipe) => Ok(Outcome::Stopped),
        Err(trouble) => Err(trouble),
    }
}

async fn ask(args: Ask, program: &Program, sink: &mut dyn Sink) -> Result<Done> {
    let mut signals = Signals::new()?;
    let mut request = tokio::select! {
        request = request::make(&args.request, program) => request?,
        () = signals.next() => return Err(Trouble::Stopped),
    };
    request.content.text = tokio::select! {
        text = prompt(args.prompt) => text?,
        () = signals.next() => return Err(Trouble::Stopped),
    };
    request.content.attachments = request::attachments(&args.request)?;
    let mut turns =
        Turns { program, subscription: program.manager.subscribe(), signals: &mut signals };
    turns.run(request, sink).await.map(|(_, done)| done)
}

/// The question; `-` stands for all of standard input.
async fn prompt(given: String) -> Result<String> {
    if given != "-" {
        return Ok(given);
    }
    let read = tokio::task::spawn_blocking(|| {
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
    });
    match read.await {
        Ok(Ok(bytes)) => Ok(String::from_utf8_lossy(&bytes).trim_end_matches('\n').to_owned()),
        Ok(Err(error)) => Err(Trouble::Said(say::input_failed(&error.to_string()))),
        Err(_) => Err(Trouble::Stopped),
    }
}

fn done_early(trouble: &Trouble) -> Done {
    let (reason, error): (_, Option<Error>) = match trouble {
        Trouble::Engine(error) => (StopReason::Error, Some(error.clone())),
        _ => (StopReason::Stopped, None),
    };
    Done { reason, usage: Usage::default(), error }
}
