//! Tests the window together with another program that works on the same chats.

use anyhow::Result;
use chat_core::message::{ChatRequest, Content};
use chat_testkit::server::{Gate, Script};
use chat_testkit::ui::{Role, State, containing, named, until};

use crate::stage::Stage;

#[tokio::test]
async fn a_chat_that_another_program_writes_is_read_live_and_says_so_until_it_is_free() -> Result<()>
{
    let stage = Stage::new().await?;
    let window = stage.window().await?;
    window.say("Apples").await?;
    window.shows("You said: Apples").await?;
    window.gone(named("Stop")).await?;
    let gate = Gate::new();
    stage
        .server
        .when("pears", Script::new().text("Answer: one half").gate(&gate).text(", another"));
    let other = stage.another_program().await?;
    let fid = other.sessions().list().await?.remove(0).meta.fid;
    until("the chat to be free", || async {
        let content = Content::text("pears");
        let request = ChatRequest { session: Some(fid.clone()), content, ..Default::default() };
        Ok(Some(other.send(request).await?))
    })
    .await?;

    window.find(containing("This chat is open in another Natter window or terminal")).await?;
    window.find(named("Open elsewhere").under("Chats")).await?;
    window.shows("Answer: one half").await?;
    window.type_text("mine").await?;
    assert!(!window.find(named("Send")).await?.is(State::Sensitive));

    // What comes from the other program leaves the reader where they are.
    window.find_in_chat().await?;
    window.type_text("apples").await?;
    window.find(named("1 of 2")).await?;
    gate.open();
    window.shows("Answer: one half, another").await?;
    window.gone(containing("This chat is open in another Natter window or terminal")).await?;
    window.find(named("Send").state(State::Sensitive)).await?;
    window.find(named("1 of 2")).await?;
    window.keys(&["Escape"]).await?;
    window.gone(named("Find in Chat")).await?;
    window.keys(&["Return"]).await?;
    window.shows("You said: mine").await?;
    let last = stage.server.chats().pop().expect("a request");
    assert_eq!(last.texts_of("user"), ["Apples", "pears", "mine"]);
    other.shutdown().await;
    window.close().await
}

#[tokio::test]
async fn a_chat_in_which_another_program_writes_is_not_deleted_and_named_over_the_shown_one()
-> Result<()> {
    let refused =
        || named("“Apples” can’t be deleted: another Natter window or terminal is writing in it.");
    let stage = Stage::new().await?;
    let window = stage.window().await?;
    window.begin(&["Pears", "Apples"]).await?;
    let gate = Gate::new();
    stage.server.when("plums", Script::new().text("One half").gate(&gate).text(", another"));
    let other = stage.another_program().await?;
    let chats = other.sessions().list().await?;
    let fid = chats.into_iter().find(|chat| chat.meta.title == "Apples").expect("it").meta.fid;
    until("the chat to be free", || async {
        let content = Content::text("plums");
        let request = ChatRequest { session: Some(fid.clone()), content, ..Default::default() };
        Ok(Some(other.send(request).await?))
    })
    .await?;
    window.find(named("Open elsewhere").under("Chats")).await?;
    window.focus_list().await?;
    // The next chat is shown at once, and the one that stays is shown again.
    window.keys(&["Delete"]).await?;
    window.find(refused()).await?;
    window.find(named("Apples").role(Role::Frame)).await?;
    assert!(!window.has(containing("is writing in this chat")).await);
    assert!(window.has(named("Apples").under("Chats")).await);
    gate.open();
    other.shutdown().await;
    window.close().await
}
