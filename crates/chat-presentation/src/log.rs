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

/// Libraries that write what must never be in a log, also not in a warning: addresses of servers with their secrets, what
/// servers answer, and codes and tokens of those who sign in.
const SILENT: [&str; 2] = ["rmcp", "sse_stream"];

/// Libraries that print messages and headers below this level: that would show chats and keys.
const QUIET: [(&str, LevelFilter); 7] = [
    ("relm4", LevelFilter::WARN),
    ("hyper", LevelFilter::INFO),
    ("hyper_util", LevelFilter::INFO),
    ("h2", LevelFilter::INFO),
    ("reqwest", LevelFilter::INFO),
    ("rustls", LevelFilter::INFO),
    ("zbus", LevelFilter::INFO),
];

fn file_filter() -> Targets {
    Targets::new()
        .with_default(LevelFilter::WARN)
        .with_targets(OURS.map(|name| (name, LevelFilter::INFO)))
        .with_targets(SILENT.map(|name| (name, LevelFilter::OFF)))
}

/// What was asked for, within what may be shown, also where a wish names a part of a library.
fn stderr_filter(wish: &str) -> Targets {
    let wished = wish.parse::<Targets>().unwrap_or_else(|_| file_filter());
    let is_bounded = |name: &str| {
        let bounded = SILENT.into_iter().chain(QUIET.map(|(name, _)| name));
        bounded.into_iter().any(|library| name.starts_with(library))
    };
    let default = wished.default_level();
    let rest = wished.into_iter().filter(|(name, _)| !is_bounded(name));
    rest.collect::<Targets>()
        .with_default(default.unwrap_or(LevelFilter::OFF))
        .with_targets(QUIET)
        .with_targets(SILENT.map(|name| (name, LevelFilter::OFF)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::io::{self, Write};
    use std::sync::{Arc, Mutex};

    use chat_mcp::client::{Discovery, Link, ServerNews};
    use chat_mcp::config::{ResolvedEndpoint, SecretText};
    use chat_mcp::http::{HttpClient, transport};
    use chat_mcp::transport::Ending;
    use tracing::Level;

    use super::*;

    #[test]
    fn the_file_gets_our_own_lines_and_warnings_of_others() {
        let filter = file_filter();
        assert!(filter.would_enable("chat_core::store", &Level::INFO));
        assert!(!filter.would_enable("chat_core::store", &Level::DEBUG));
        assert!(filter.would_enable("hyper", &Level::WARN));
        assert!(!filter.would_enable("relm4", &Level::INFO));
        assert!(!filter.would_enable("rmcp::transport", &Level::ERROR));
    }

    #[test]
    fn no_wish_prints_messages_or_headers() {
        for wish in [
            "trace",
            "relm4=trace,h2=trace,rmcp=trace",
            "debug,relm4::component=info,h2::codec=trace",
        ] {
            let filter = stderr_filter(wish);
            assert!(!filter.would_enable("relm4::component", &Level::INFO), "{wish}");
            assert!(!filter.would_enable("h2::codec", &Level::DEBUG), "{wish}");
            assert!(!filter.would_enable("rmcp::transport::auth", &Level::ERROR), "{wish}");
        }
        assert!(stderr_filter("trace").would_enable("chat_core", &Level::TRACE));
        assert!(stderr_filter("chat_core=nonsense").would_enable("chat_core", &Level::INFO));
        let one = stderr_filter("chat_core=debug");
        assert!(one.would_enable("chat_core::store", &Level::DEBUG));
        assert!(!one.would_enable("oo7", &Level::ERROR));
    }

    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl Write for Written {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    struct NoNews;

    impl ServerNews for NoNews {
        fn lists_changed(&self) {}
    }

    /// What is logged with a filter while a server cannot be reached whose address has a secret.
    fn logged(filter: Targets) -> String {
        let written = Written::default();
        let writer = {
            let written = written.clone();
            move || written.clone()
        };
        let layer = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(writer);
        let subscriber = tracing_subscriber::registry().with(layer.with_filter(filter));
        let _logging = tracing::subscriber::set_default(subscriber);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let closed = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = closed.local_addr().unwrap();
            drop(closed);
            let url = SecretText::new(format!("http://{address}/mcp?key=hunter2"));
            let endpoint = ResolvedEndpoint { url, headers: BTreeMap::new() };
            let client = HttpClient::new(&endpoint).unwrap();
            let transport = transport(&client, &endpoint, None).unwrap();
            let connecting =
                Link::connect(transport, Ending::default(), Arc::new(NoNews), Discovery::Ask);
            assert!(connecting.await.is_err());
        });
        drop(runtime);
        tracing::warn!("the end");
        let bytes = written.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn the_secret_in_the_address_of_a_server_is_in_no_log() {
        let library = Targets::new().with_target("rmcp", LevelFilter::TRACE);
        assert!(logged(library).contains("hunter2"), "else this shows nothing");
        for filter in
            [file_filter(), stderr_filter("trace"), stderr_filter("rmcp::transport=trace")]
        {
            let logged = logged(filter);
            assert!(!logged.contains("hunter2"), "{logged}");
        }
        assert!(logged(file_filter()).contains("the end"));
    }
}
