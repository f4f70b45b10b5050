//! The requests of each conversation, on all protocols: method, path and body, in their order.

use chat_core::settings::ConnectionKind;
use rstest::rstest;

use super::talk::Talk;
use super::talks;

macro_rules! recorded {
    ($($name:ident),*) => {$(
        #[rstest]
        #[tokio::test]
        async fn $name(
            #[values(ConnectionKind::Ollama, ConnectionKind::OpenAi, ConnectionKind::Anthropic)]
            kind: ConnectionKind,
        ) {
            let mut talk = Talk::new(kind).await;
            talks::$name(&mut talk).await;
            talk.end().await;
            let protocol = kind.name();
            let name = format!("{}_{protocol}", stringify!($name));
            insta::assert_snapshot!(name, talk.requests());
        }
    )*};
}

talks::each!(recorded);
