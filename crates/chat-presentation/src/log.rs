//! Writes the log: a file a day in the state folder, the last seven kept. It holds no contents of
//! chats and no keys: only our own lines at INFO, and warnings of others.
//!
//! Standard error stays free for what people read, unless `NATTER_LOG` asks for the log there:
//! `NATTER_LOG=debug`, or `NATTER_LOG=chat_core=trace,info`.

use std::path::Path;

use tracing::level_filters::LevelFilter;
use tracing_appender::rolling::{RollingFileAppender, Rotation};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// The variable that asks for the log on standard error.
pub const VARIABLE: &str = "NATTER_LOG";

/// How many days of logs are kept.
const DAYS: usize = 7;

/// Our own crates, as they are named in the log.
const OURS: [&str; 5] = ["chat_core", "chat_presentation", "chat_gtk", "chat_cli", "natter"];

/// Starts the log of a program. Where its file cannot be written there is none.
pub fn init(program: &str, state_folder: &Path) {
    let folder = state_folder.join("logs");
    // Where it cannot be made, the file cannot be opened either.
    let _ = std::fs::create_dir_all(&folder);
    let file = RollingFileAppender::builder()
        .rotation(Rotation::DAILY)
        .filename_prefix(program)
        .filename_suffix("log")
        .max_log_files(DAYS)
        .build(folder)
        .ok()
        .map(|file| {
            tracing_subscriber::fmt::layer()
                .with_writer(file)
                .with_ansi(false)
                .log_internal_errors(false)
                .with_filter(file_filter())
        });
    let stderr = std::env::var(VARIABLE).ok().map(|wish| {
        tracing_subscriber::fmt::layer()
            .with_writer(std::io::stderr)
            .log_internal_errors(false)
            .with_filter(stderr_filter(&wish))
    });
    // Only a test sets a log twice; it keeps the first.
    let _ = tracing_subscriber::registry().with(file).with(stderr).try_init();
}

fn file_filter() -> Targets {
    Targets::new()
        .with_default(LevelFilter::WARN)
        .with_targets(OURS.map(|name| (name, LevelFilter::INFO)))
}

/// What was asked for; but never what relm4 prints of every message, nor what HTTP libraries print
/// of headers: that would show chats and keys.
fn stderr_filter(wish: &str) -> Targets {
    wish.parse::<Targets>()
        .unwrap_or_else(|_| file_filter())
        .with_target("relm4", LevelFilter::WARN)
        .with_target("hyper", LevelFilter::INFO)
        .with_target("hyper_util", LevelFilter::INFO)
        .with_target("h2", LevelFilter::INFO)
        .with_target("reqwest", LevelFilter::INFO)
        .with_target("rustls", LevelFilter::INFO)
        .with_target("zbus", LevelFilter::INFO)
}

#[cfg(test)]
mod tests {
    use tracing::Level;

    use super::*;

    #[test]
    fn the_file_gets_our_own_lines_and_warnings_of_others() {
        let filter = file_filter();
        assert!(filter.would_enable("chat_core::store", &Level::INFO));
        assert!(!filter.would_enable("chat_core::store", &Level::DEBUG));
        assert!(filter.would_enable("hyper", &Level::WARN));
        assert!(!filter.would_enable("relm4", &Level::INFO));
    }

    #[test]
    fn no_wish_prints_messages_or_headers() {
        for wish in ["trace", "relm4=trace,h2=trace", "debug,relm4=info"] {
            let filter = stderr_filter(wish);
            assert!(!filter.would_enable("relm4::component", &Level::INFO), "{wish}");
            assert!(!filter.would_enable("h2::codec", &Level::DEBUG), "{wish}");
        }
        assert!(stderr_filter("trace").would_enable("chat_core", &Level::TRACE));
        assert!(stderr_filter("chat_core=nonsense").would_enable("chat_core", &Level::INFO));
    }
}
