//! The requests of each conversation, on both protocols: method, path and body, in their order.

use chat_core::settings::ConnectionKind;
use rstest::rstest;

use super::talk::Talk;
use super::talks;

macro_rules! recorded {
    ($($name:ident),*) => {$(
        #[rstest]
        #[tokio::test]
        async fn $name(
            #[values(ConnectionKind::Ollama, ConnectionKind::OpenAi)] kind: ConnectionKind,
        ) {
            let mut talk = Talk::new(kind).await;
            talks::$name(&mut talk).await;
            talk.end().await;
            let protocol = match kind {
                ConnectionKind::Ollama => "ollama",
                ConnectionKind::OpenAi => "openai",
            };
            let name = format!("{}_{protocol}", stringify!($name));
            insta::assert_snapshot!(name, talk.requests());
        }
    )*};
}

talks::each!(recorded);
