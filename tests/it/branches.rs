//! Tests changes to messages: editing, asking again, forking and deleting.

use anyhow::{Result, ensure};
use chat_testkit::server::{Gate, Script};
use chat_testkit::ui::{Role, State, Widget, containing, named, state};

use crate::stage::Stage;

#[tokio::test]
async fn an_edited_message_is_sent_again_and_arrows_lead_back() -> Result<()> {
    let stage = Stage::new().await?;
    let window = stage.ready().await?;
    window.say("Apples").await?;
    window.shows("You said: Apples").await?;
    window.click(named("Edit and Resend").under("Conversation")).await?;
    window.find(named("Cancel").under("Conversation")).await?;
    // The keyboard has left the message that is being written.
    window.gone(named("Message").role(Role::Text).state(State::Focused)).await?;
    window.keys(&["ctrl+a"]).await?;
    window.type_text("Pears").await?;
    window.keys(&["Return"]).await?;
    window.shows("You said: Pears").await?;
    window.find(named("2/2").under("Conversation")).await?;
    window.click(named("Previous Version")).await?;
    window.shows("You said: Apples").await?;
    window.find(named("1/2").under("Conversation")).await?;
    window.close().await
}

#[tokio::test]
async fn esc_leaves_an_edit_and_the_keyboard_begins_one() -> Result<()> {
    let stage = Stage::new().await?;
    let window = stage.ready().await?;
    window.say("Apples").await?;
    window.shows("You said: Apples").await?;
    window.keys(&["alt+Prior"]).await?;
    window.find(state(State::Focused).under("Conversation")).await?;
    window.keys(&["Return"]).await?;
    window.find(named("Edited Message").state(State::Focused)).await?;
    window.type_text(" and pears").await?;
    // The edit is still there after a look at another chat.
    window.new_chat().await?;
    window.open("Apples").await?;
    window.click(named("Cancel").under("Conversation")).await?;
    window.gone(named("Cancel").under("Conversation")).await?;
    window.shows("You said: Apples").await?;
    // So it is after Esc.
    window.click(named("Edit and Resend").under("Conversation")).await?;
    let edited = window.find(named("Edited Message").state(State::Focused)).await?;
    ensure!(edited.text().await? == "Apples and pears", "what was typed is there again");
    window.keys(&["Escape"]).await?;
    window.gone(named("Edited Message")).await?;
    window.click(named("Edit and Resend").under("Conversation")).await?;
    window.click(named("Revert").under("Conversation")).await?;
    // It goes with the changes.
    window.gone(named("Revert").under("Conversation")).await?;
    let edited = window.find(named("Edited Message").state(State::Focused)).await?;
    ensure!(edited.text().await? == "Apples", "the changes are gone");
    window.close().await
}

#[tokio::test]
async fn a_reply_is_stopped_when_the_edited_message_is_sent_and_not_before() -> Result<()> {
    let stage = Stage::new().await?;
    let gate = Gate::new();
    stage.server.push(Script::new().text("A long ").gate(&gate).text("answer"));
    stage.server.push(Script::new().text("A short one"));
    let window = stage.ready().await?;
    window.say("Apples").await?;
    window.shows("A long").await?;
    window.click(named("Edit and Resend").under("Conversation")).await?;
    window.find(named("Edited Message").state(State::Focused)).await?;
    // The reply goes on.
    window.find(named("Stop")).await?;
    window.keys(&["ctrl+a"]).await?;
    window.type_text("Pears").await?;
    window.keys(&["Return"]).await?;
    window.shows("A short one").await?;
    gate.open();
    window.close().await
}

#[tokio::test]
async fn an_earlier_reply_is_asked_for_again() -> Result<()> {
    let stage = Stage::new().await?;
    stage.server.push(Script::new().text("Answer one"));
    stage.server.push(Script::new().text("Answer two"));
    stage.server.push(Script::new().text("Answer three"));
    let window = stage.ready().await?;
    window.say("First").await?;
    window.shows("Answer one").await?;
    window.say("Second").await?;
    window.shows("Answer two").await?;
    let first = window.find(named("First").role(Role::Label).under("Conversation")).await?;
    let reply = window.find(named("Reply").under("Conversation")).await?;
    ensure!(
        first.place().await?.1 < reply.place().await?.1,
        "the first reply is below its question"
    );
    right_click(&stage, &reply).await?;
    window.click(named("Regenerate").role(Role::Label)).await?;
    window.shows("Answer three").await?;
    let text = window.text_under("Conversation").await;
    ensure!(!text.contains("Answer two"), "{text}");
    window.click(named("Previous Reply")).await?;
    window.shows("Answer two").await?;
    window.close().await
}

#[tokio::test]
async fn a_chat_is_forked_and_a_deleted_message_comes_back() -> Result<()> {
    let stage = Stage::new().await?;
    let window = stage.ready().await?;
    window.say("Apples").await?;
    window.shows("You said: Apples").await?;
    let own = window.find(named("Apples").role(Role::Label).under("Conversation")).await?;
    right_click(&stage, &own).await?;
    window.click(named("Delete From Here").role(Role::Label)).await?;
    window.find(named("2 messages deleted")).await?;
    window.click(named("Undo")).await?;
    window.shows("You said: Apples").await?;

    let reply = window.find(named("Reply").under("Conversation")).await?;
    right_click(&stage, &reply).await?;
    window.click(named("Fork into New Chat").role(Role::Label)).await?;
    window.find(named("Apples (copy)").under("Chats")).await?;
    window.shows("You said: Apples").await?;
    window.close().await
}

#[tokio::test]
async fn deleted_messages_come_back_once_the_reply_is_over_that_was_in_the_way() -> Result<()> {
    let stage = Stage::new().await?;
    let gate = Gate::new();
    stage.server.when("Pears", Script::new().text("Once upon ").gate(&gate).text("a time"));
    let window = stage.ready().await?;
    window.say("Apples").await?;
    window.shows("You said: Apples").await?;
    let own = window.find(named("Apples").role(Role::Label).under("Conversation")).await?;
    right_click(&stage, &own).await?;
    window.click(named("Delete From Here").role(Role::Label)).await?;
    window.find(named("2 messages deleted")).await?;
    window.say("Pears").await?;
    window.shows("Once upon").await?;
    window.click(named("Undo")).await?;
    window.find(containing("Couldn’t bring the messages back")).await?;
    gate.open();
    window.shows("a time").await?;
    window.gone(named("Stop")).await?;
    window.click(named("Undo")).await?;
    // What was said since stays in sight.
    window.find(named("2/2").under("Conversation")).await?;
    window.click(named("Previous Version")).await?;
    window.shows("You said: Apples").await?;
    window.close().await
}

/// Clicks into the middle of a widget with the right button.
pub(crate) async fn right_click(stage: &Stage, widget: &Widget) -> Result<()> {
    let window = stage.desktop.input().focus().await?;
    let (x, y, width, height) = widget.place().await?;
    let (x, y) = ((x + width / 2).to_string(), (y + height / 2).to_string());
    let arguments = ["mousemove", "--window", &window, &x, &y, "click", "3"];
    let status = stage.desktop.command("xdotool").args(arguments).status()?;
    ensure!(status.success(), "xdotool {arguments:?} failed");
    Ok(())
}
