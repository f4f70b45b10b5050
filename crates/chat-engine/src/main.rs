//! The program `natter-engine`: runs models for Natter, which starts and ends it.

use std::process::ExitCode;

use chat_engine::prompt::template_process;

/// What is said where the processor cannot run the models; the front ends have a sentence for it.
const OLD_PROCESSOR: u8 = 3;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|first| first == template_process::ARGUMENT) {
        return template_process::serve(arguments.next());
    }
    let lacking = chat_engine::cpu::lacking();
    if !lacking.is_empty() {
        println!("processor lacks {}", lacking.join(", "));
        return ExitCode::from(OLD_PROCESSOR);
    }
    match start() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("failed: {error:#}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(feature = "llama")]
fn start() -> anyhow::Result<()> {
    use clap::Parser;
    chat_engine::run::run(&chat_engine::run::Arguments::parse())
}

#[cfg(not(feature = "llama"))]
fn start() -> anyhow::Result<()> {
    anyhow::bail!("this natter-engine was built without llama.cpp")
}
