//! Runs `natter-cli import`: chats from other programs, and from Natter on another computer.

use chat_core::error::Error;
use chat_core::exports;
use chat_core::manager::{ImportPreview, ImportReport, UnreadableChat};
use chat_core::message::Fid;
use chat_presentation::words;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use crate::args;
use crate::engine::Program;
use crate::error::{CliError, Outcome, Result, explain};
use crate::output::json::ErrorView;
use crate::output::line_of;
use crate::say;
use crate::signals::Signals;
use crate::terminal;

/// Imports chats, or prints what would be imported. Fails where something could not be read.
pub async fn run(args: args::Import, program: &Program) -> Result<Outcome> {
    let mut signals = Signals::new()?;
    let done = tokio::select! {
        done = import(&args, program) => done,
        () = signals.next() => Err(CliError::Stopped),
    };
    if matches!(done, Err(CliError::Stopped)) && !args.dry_run {
        clear_line(program);
        terminal::say(&format!("{}\n", say::import_stopped()));
    }
    done
}

async fn import(args: &args::Import, program: &Program) -> Result<Outcome> {
    let import = program.manager.import();
    let (text, unreadable, broken) = if args.dry_run {
        let preview = import.preview(&args.files).await?;
        let text = if args.json { preview_json(&preview) } else { preview_text(&preview) };
        (text, preview.unreadable, preview.broken)
    } else {
        let done = import.run(&args.files, |done| show(done.chats, program)).await;
        clear_line(program);
        let report = done?;
        let text = if args.json { report_json(&report) } else { report_text(&report) };
        (text, report.unreadable, report.broken)
    };
    program.output.print(text).await?;
    for chat in &unreadable {
        let words = words::not_imported(chat);
        terminal::say(&format!("{}\n", program.terminal.alarm(&terminal::clean(&words))));
    }
    for error in &broken {
        terminal::say(&explain(error, program.terminal));
    }
    let is_whole = unreadable.is_empty() && broken.is_empty();
    Ok(if is_whole { Outcome::Done } else { Outcome::Failed })
}

/// Nothing where no chat was found: the errors say why.
fn report_text(report: &ImportReport) -> String {
    let found = report.imported.len() + report.present + report.unreadable.len();
    let mut lines = Vec::new();
    if found > 0 {
        lines.push(words::imported(report.imported.len()));
    }
    if report.present > 0 {
        lines.push(words::already_here(report.present));
    }
    lines.extend(words::missing_parts(report.missing));
    lines.into_iter().map(|line| line + "\n").collect()
}

fn preview_text(preview: &ImportPreview) -> String {
    let mut lines = Vec::from_iter(words::found_chats(preview));
    if let (Some(oldest), Some(newest)) = (preview.oldest, preview.newest) {
        lines.push(words::time_of_chats(&day(oldest), &day(newest)));
    }
    if !preview.present.is_empty() {
        lines.push(words::already_here(preview.present.len()));
    }
    lines.extend(words::missing_parts(preview.missing));
    lines.into_iter().map(|line| line + "\n").collect()
}

fn day(time: Timestamp) -> String {
    time.to_zoned(TimeZone::system()).strftime("%Y-%m-%d").to_string()
}

fn report_json(report: &ImportReport) -> String {
    line_of(&json!({
        "imported": report.imported.iter().map(Fid::as_str).collect::<Vec<_>>(),
        "present": report.present,
        "missing_files": report.missing.files,
        "missing_contents": report.missing.contents,
        "unreadable": chats_json(&report.unreadable),
        "broken": errors_json(&report.broken),
    }))
}

fn preview_json(preview: &ImportPreview) -> String {
    let programs: Vec<_> = preview.programs.iter().copied().map(exports::Program::name).collect();
    line_of(&json!({
        "programs": programs,
        "chats": preview.chats,
        "messages": preview.messages,
        "oldest": preview.oldest,
        "newest": preview.newest,
        "present": preview.present.len(),
        "missing_files": preview.missing.files,
        "missing_contents": preview.missing.contents,
        "unreadable": chats_json(&preview.unreadable),
        "broken": errors_json(&preview.broken),
    }))
}

fn chats_json(chats: &[UnreadableChat]) -> Vec<Value> {
    let view = |chat: &UnreadableChat| {
        let (path, sentence) = (chat.path.display().to_string(), words::sentence(&chat.error));
        let error = ErrorView::new(&chat.error, &sentence);
        json!({ "path": path, "place": chat.place, "title": chat.title, "error": error })
    };
    chats.iter().map(view).collect()
}

fn errors_json(errors: &[Error]) -> Vec<Value> {
    let view = |error: &Error| json!(ErrorView::new(error, &words::sentence(error)));
    errors.iter().map(view).collect()
}

/// Shows the progress in one line of the terminal, which is rewritten.
fn show(chats: usize, program: &Program) {
    if program.terminal.rewrites() {
        terminal::say(&format!("\r\x1b[K{}", program.terminal.dim(&words::importing(chats))));
    }
}

fn clear_line(program: &Program) {
    if program.terminal.rewrites() {
        terminal::say("\r\x1b[K");
    }
}
