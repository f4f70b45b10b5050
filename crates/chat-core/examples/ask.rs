//! Asks a model one question through `Chat` alone, without agent, Manager or store:
//!
//! ```sh
//! cargo run -p chat-core --example ask -- http://127.0.0.1:11434 qwen3:8b 'Why is the sky blue?'
//! ```

use std::io::Write;
use std::sync::Arc;

use chat_core::chat::{Chat, Progress};
use chat_core::client::{Timeouts, connect, detect_kind};
use chat_core::error::Result;
use chat_core::message::{Message, Role};
use chat_core::settings::Connection;
use tokio_util::sync::CancellationToken;

#[tokio::main]
async fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let (Some(url), Some(model), Some(question)) =
        (arguments.next(), arguments.next(), arguments.next())
    else {
        eprintln!("usage: ask URL MODEL QUESTION");
        std::process::exit(2);
    };
    let timeouts = Timeouts::default();
    let connection = Connection { name: "server".into(), url, ..Connection::default() };
    let kind = detect_kind(&connection, None, timeouts).await?;
    let mut chat = Chat::new(connect(&connection, kind, None, timeouts)?, model);

    // Ctrl+C stops the reply and keeps what had arrived.
    let cancel = CancellationToken::new();
    let stop = cancel.clone();
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            stop.cancel();
        }
    });
    let messages = vec![Arc::new(Message::text(Role::User, None, question))];
    let response = chat
        .send(messages, &cancel, &mut |progress| {
            if let Progress::Text(text) = progress {
                print!("{text}");
                let _ = std::io::stdout().flush();
            }
        })
        .await?;
    println!();
    eprintln!("{:?}, {:?}", response.ended, response.usage);
    Ok(())
}
