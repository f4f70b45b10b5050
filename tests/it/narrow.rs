//! A window as narrow as a telephone.

use anyhow::Result;
use chat_testkit::ui::{By, Role, named, until};

use crate::stage::{Stage, Window};

const WIDTH: i32 = 400;
/// The header bar is the top of the window, in pixels.
const HEADER: i32 = 50;
const TITLE: &str = "A question whose title is longer than a narrow window";

#[tokio::test]
async fn nothing_in_the_header_is_cut_away() -> Result<()> {
    let stage = Stage::new().await?;
    let window = stage.window().await?;
    window.begin(&["Apples", TITLE]).await?;
    window.resize(WIDTH as u32, 700).await?;

    // From left to right, with what must be seen of each at least, in pixels.
    let parts = [
        (named("Back to the chats"), 24),
        (named(TITLE).role(Role::Label), 80),
        (named("Agent"), 60),
        (named("Main Menu"), 24),
    ];
    let mut free_from = 0;
    for (part, least) in parts {
        let (x, width) = in_header(&window, &part).await?;
        assert!(
            x >= free_from && width >= least && x + width <= WIDTH,
            "{part} from {x}, {width} wide; what is before it ends at {free_from}"
        );
        free_from = x + width;
    }
    // The list is a page of its own, from which one comes to another chat.
    window.click(named("Back to the chats")).await?;
    window.open("Apples").await?;
    window.shows("You said: Apples").await?;
    window.close().await
}

/// Where a part of the narrow window's header begins, and how wide it is.
async fn in_header(window: &Window, part: &By) -> Result<(i32, i32)> {
    window.find(named("Back to the chats")).await?;
    until(&format!("{part} in the header"), || async {
        for widget in window.all(part.clone()).await {
            let (x, y, width, _) = widget.place().await?;
            if y < HEADER {
                return Ok(Some((x, width)));
            }
        }
        Ok(None)
    })
    .await
}
