//! Tests temporary chats: they work as others do, stand under a heading of their own, and leave nothing behind.

use std::fs;
use std::path::Path;

use anyhow::Result;
use chat_testkit::ui::{Role, containing, named};

use crate::stage::Stage;

/// Whether a file below a folder has these words in it.
fn is_on_disk(folder: &Path, words: &str) -> Result<bool> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let found = if path.is_dir() {
            is_on_disk(&path, words)?
        } else {
            let has =
                |bytes: &[u8]| bytes.windows(words.len()).any(|part| part == words.as_bytes());
            fs::read(&path).is_ok_and(|bytes| has(&bytes))
        };
        if found {
            return Ok(true);
        }
    }
    Ok(false)
}

#[tokio::test]
async fn a_temporary_chat_is_gone_with_the_window_and_the_others_stay() -> Result<()> {
    let stage = Stage::new().await?;
    let window = stage.window().await?;
    window.begin(&["Apples"]).await?;
    window.keys(&["ctrl+shift+t"]).await?;
    window.find(named("New Temporary Chat").role(Role::Label)).await?;
    window.find(containing("it isn’t saved")).await?;
    window.say("Xylophons").await?;
    window.shows("You said: Xylophons").await?;
    window.find(named("Temporary").role(Role::Label).under("Chats")).await?;
    window.say("Xylophons again").await?;
    window.shows("You said: Xylophons again").await?;
    // It is there as long as the window is.
    window.open("Apples").await?;
    window.gone(containing("it isn’t saved")).await?;
    window.open("Xylophons").await?;
    window.shows("You said: Xylophons again").await?;
    window.type_text("Half a Xylophon").await?;
    window.keys(&["ctrl+n"]).await?;
    window.gone(containing("it isn’t saved")).await?;
    window.close().await?;
    for folder in [stage.folders().data, stage.folders().state, stage.folders().config] {
        assert!(!is_on_disk(&folder, "Xylophon")?, "{}", folder.display());
    }
    let window = stage.window().await?;
    window.find(named("Apples").under("Chats")).await?;
    assert!(!window.has(named("Xylophons")).await);
    window.close().await
}
