//! Tests the list of everything that waits for the user in all chats, and the key that goes there.

use anyhow::{Result, ensure};
use chat_core::message::SessionMeta;
use chat_core::store::{NewSession, Store};
use chat_testkit::server::Script;
use chat_testkit::ui::{By, Notifications, Role, State, Widget, containing, named, until};
use serde_json::json;

use crate::stage::{Stage, Window, chat};

/// The name of the list.
const LIST: &str = "Waiting for You";

/// A window with a new chat in sight, and two others, "Apples" and "Pears", in which a model asks to
/// run a command.
async fn two_ask() -> Result<(Stage, Window)> {
    let stage = Stage::new().await?;
    let window = ask_in(&stage, &[("Apples", touch("Apples")), ("Pears", touch("Pears"))]).await?;
    Ok((stage, window))
}

/// A model's reply that wants to run `touch FILE`.
fn touch(file: &str) -> Script {
    let command = json!({ "command": format!("touch {file}") });
    Script::new().tool_call("c1", "run_command", command)
}

/// The window, and these chats, in which a model asks in turn.
async fn ask_in(stage: &Stage, chats: &[(&str, Script)]) -> Result<Window> {
    let project = stage.project(&[("notes.txt", "milk\n")])?;
    let store = Store::open(&stage.folders())?.store;
    for (title, _) in chats {
        let meta = SessionMeta { project: Some(project.clone()), ..chat(title).meta };
        store.create(NewSession { meta, ..chat(title) }, Vec::new()).await?;
    }
    drop(store);
    let window = stage.ready().await?;
    for (title, script) in chats {
        stage.server.push(script.clone());
        window.open(title).await?;
        window.say("please").await?;
        window.find(named("Waiting for your answer").under("Conversation")).await?;
    }
    window.new_chat().await?;
    Ok(window)
}

/// The model's next reply.
fn says(stage: &Stage, text: &str) {
    stage.server.push(Script::new().text(text));
}

/// A button in the list's item of this chat.
fn in_item(button: &str, title: &str) -> By {
    named(button).role(Role::Button).under(title)
}

/// The button that counts what waits.
fn counts(text: &str) -> By {
    named(text).role(Role::Button)
}

/// Opens the list with the mouse.
async fn open_list(window: &Window, text: &str) -> Result<()> {
    // In a narrow window, the chat list has such a button, too. It is out of sight to the left.
    let button = until("the button of the list", || async {
        for button in window.all(counts(text)).await {
            if button.place().await?.0 > 0 {
                return Ok(Some(button));
            }
        }
        Ok(None)
    })
    .await?;
    button.click_with_mouse().await?;
    window.find(named(LIST)).await.map(drop)
}

/// How far below its button the list begins, in pixels.
const ARROW: i32 = 13;

/// Clicks a button in the open list with the mouse. GTK 4.8 says where a widget is in its popover, as if
/// that began at the top left corner of its button.
async fn click_in_list(stage: &Stage, window: &Window, button: By) -> Result<()> {
    let (x, y, width, height) = window.find(button).await?.place().await?;
    let pane = window.find(named(LIST).role(Role::ScrollPane)).await?;
    let (left, top, wide, _) = pane.place().await?;
    let opener = window.find(containing("waiting for you").role(Role::Button)).await?;
    let (opener_left, opener_top, opener_wide, opener_high) = opener.place().await?;
    let across = opener_left + opener_wide / 2 - (left + wide / 2);
    let down = opener_top + opener_high + ARROW - top;
    stage.desktop.input().click(x + width / 2 + across, y + height / 2 + down).await
}

/// Where a widget is.
async fn place(widget: &Widget) -> Result<(i32, i32)> {
    let (x, y, ..) = widget.place().await?;
    Ok((x, y))
}

/// Presses a key until this is the case: right after the list has changed, keys are ignored.
async fn press_until(window: &Window, key: &str, what: &str, by: By) -> Result<()> {
    until(what, || async {
        window.keys(&[key]).await?;
        Ok(window.wait_briefly(by.clone()).await.then_some(()))
    })
    .await
}

#[tokio::test]
async fn one_of_two_is_answered_from_the_list_and_the_other_is_untouched() -> Result<()> {
    let (stage, window) = two_ask().await?;
    open_list(&window, "2 waiting for you").await?;
    // Each says who asks, where and what.
    window.find(named("Apples").role(Role::Label).under(LIST)).await?;
    window.find(containing("home/garden").role(Role::Label).under("Pears")).await?;
    let command = window.find(named("Command").under("Pears")).await?;
    ensure!(command.text().await? == "touch Pears", "{:?}", command.text().await?);

    says(&stage, "Pears ran");
    click_in_list(&stage, &window, in_item("Allow Once", "Pears")).await?;
    window.find(counts("1 waiting for you")).await?;
    until("the command to run", || async {
        Ok(stage.desktop.folder().join("home/garden/Pears").exists().then_some(()))
    })
    .await?;
    window.find(in_item("Allow Once", "Apples").state(State::Sensitive)).await?;
    ensure!(!stage.desktop.folder().join("home/garden/Apples").exists(), "it was run unasked");
    window.keys(&["Escape"]).await?;
    window.gone(named(LIST)).await?;
    window.writes().await?;
    window.find(named("Apples, needs your answer").under("Chats")).await?;
    window.close().await
}

#[tokio::test]
async fn a_double_click_answers_only_one() -> Result<()> {
    let (stage, window) = two_ask().await?;
    open_list(&window, "2 waiting for you").await?;
    let other = window.find(in_item("Allow Once", "Pears")).await?;
    let before = place(&other).await?;
    says(&stage, "Apples ran");
    for _ in 0..2 {
        click_in_list(&stage, &window, in_item("Allow Once", "Apples")).await?;
    }
    window.find(counts("1 waiting for you")).await?;
    // Nothing moves while the pointer is over the list.
    window.find(named("Answered").under("Apples")).await?;
    let other = window.find(in_item("Allow Once", "Pears")).await?;
    ensure!(place(&other).await? == before, "it moved under the pointer");
    let sent = stage.server.wait_for_chats(3).await;
    ensure!(sent.len() == 3, "the other one was answered, too");
    // The place is given up once the pointer is gone.
    let (x, y, width, _) = window.find(named("Main Menu")).await?.place().await?;
    stage.desktop.input().wheel(chat_testkit::ui::Wheel::Up, 1, (x + width / 2, y + 4)).await?;
    window.gone(named("Answered").under("Apples")).await?;
    window.close().await
}

#[tokio::test]
async fn answered_by_keyboard_the_focus_stays_in_the_list() -> Result<()> {
    let (stage, window) = two_ask().await?;
    window.writes().await?;
    // Back from the message to the header bar.
    let button = || counts("2 waiting for you").state(State::Focused);
    press_until(&window, "shift+Tab", "the focus on the button", button()).await?;
    window.keys(&["Return"]).await?;
    window.find(in_item("Allow Once", "Apples").state(State::Focused)).await?;
    says(&stage, "Apples ran");
    let next = || in_item("Allow Once", "Pears").state(State::Focused);
    press_until(&window, "Return", "the focus on the next item", next()).await?;
    window.find(counts("1 waiting for you")).await?;
    ensure!(stage.server.wait_for_chats(3).await.len() == 3, "the next one was answered, too");

    // Denied with a reason; the list closes after the last one.
    let field = || named("Deny and tell the model…").under("Pears").state(State::Focused);
    press_until(&window, "shift+Tab", "the focus in the field", field()).await?;
    window.type_text("not now").await?;
    says(&stage, "Then not");
    press_until(
        &window,
        "Return",
        "the focus in the message",
        named("Message").state(State::Focused),
    )
    .await?;
    window.gone(named(LIST)).await?;
    window.gone(counts("1 waiting for you")).await?;
    let sent = stage.server.wait_for_chats(4).await.pop().expect("a request").texts_of("tool");
    ensure!(sent.iter().any(|text| text.contains("not now")), "{sent:?}");
    window.close().await
}

#[tokio::test]
async fn a_key_goes_to_each_in_turn_from_within_a_text() -> Result<()> {
    let (_stage, window) = two_ask().await?;
    window.writes().await?;
    window.type_text("meanwhile").await?;
    for title in ["Apples", "Pears", "Apples"] {
        window.keys(&["ctrl+period"]).await?;
        window.find(named(title).role(Role::Frame)).await?;
        let card = named("Allow Once").under("Conversation").state(State::Focused);
        window.find(card).await?;
    }
    // That of the shown chat comes first.
    window.open("Pears").await?;
    window.find(named("Message")).await?.click_with_mouse().await?;
    window.writes().await?;
    window.keys(&["ctrl+period"]).await?;
    window.find(named("Allow Once").under("Conversation").state(State::Focused)).await?;
    window.find(named("Pears").role(Role::Frame)).await?;
    window.keys(&["ctrl+n"]).await?;
    window.holds("meanwhile").await?;
    window.close().await
}

#[tokio::test]
async fn what_is_answered_in_its_chat_leaves_the_list_and_an_item_leads_to_its_chat() -> Result<()>
{
    let (stage, window) = two_ask().await?;
    open_list(&window, "2 waiting for you").await?;
    click_in_list(&stage, &window, in_item("Show Chat", "Pears")).await?;
    window.find(named("Pears").role(Role::Frame)).await?;
    window.find(named("Allow Once").under("Conversation").state(State::Focused)).await?;
    window.gone(named(LIST)).await?;

    // A rule that another program stores answers it while the list is open.
    window.find(counts("2 waiting for you")).await?;
    open_list(&window, "2 waiting for you").await?;
    says(&stage, "Pears ran");
    stage.configure_more(
        "[[permissions.rules]]\nrule = \"run:touch Pears\"\neffect = \"allow\"\n",
    )?;
    window.find(counts("1 waiting for you")).await?;
    let waits = |at: &Widget| {
        let is_button = at.name() == "Allow Once" && at.role() == Role::Button;
        is_button && at.is_under(LIST) && at.is_sensitive()
    };
    window
        .wait("one item in the list", |all| all.iter().filter(|at| waits(at)).count() == 1)
        .await?;
    window.find(in_item("Allow Once", "Apples")).await?;
    window.keys(&["Escape"]).await?;
    window.gone(named(LIST)).await?;
    window.shows("Pears ran").await?;
    window.close().await
}

#[tokio::test]
async fn a_question_is_answered_from_the_list_in_the_narrowest_window() -> Result<()> {
    let stage = Stage::new().await?;
    let title = "A question whose title is longer than the narrowest window is wide";
    let ask = json!({ "question": "Which colour?", "choices": ["Red, as ever", "Green"] });
    let ask = Script::new().tool_call("c1", "ask_user", ask);
    let window = ask_in(&stage, &[(title, ask)]).await?;
    window.resize(520, 700).await?;
    window.find(named("Back to Chats")).await?;
    window.resize(360, 700).await?;
    // There is no room next to the icon, but the number is seen.
    until("the number in the header bar", || async {
        let numbers = named("1").role(Role::Label).under("1 waiting for you");
        for number in window.all(numbers).await {
            let (x, _, width, _) = number.place().await?;
            if x > 0 && x + width <= 360 && width > 0 {
                return Ok(Some(()));
            }
        }
        Ok(None)
    })
    .await?;
    open_list(&window, "1 waiting for you").await?;
    for part in ["Red, as ever", "Send Answer", "Show Chat"] {
        let part = window.find(named(part).role(Role::Button).under(LIST)).await?;
        let (x, _, width, _) = part.place().await?;
        ensure!(width > 20 && width < 340, "{part:?} from {x}, {width} wide");
    }
    says(&stage, "It is green now.");
    window.click(named("Green").role(Role::Button).under(LIST)).await?;
    let sent = stage.server.wait_for_end(1).await;
    ensure!(sent.texts_of("tool").iter().any(|text| text.contains("Green")));
    window.gone(named(LIST)).await?;
    window.close().await
}

#[tokio::test]
async fn a_notification_about_a_question_leads_to_it_and_the_open_list_needs_none() -> Result<()> {
    let stage = Stage::new().await?;
    let notifications = Notifications::start(&stage.desktop).await?;
    let gate = chat_testkit::server::Gate::new();
    let window = ask_in(&stage, &[("Apples", touch("Apples"))]).await?;
    notifications.none().await?;
    stage.server.when("Plums", touch("Plums").gate_first(&gate));
    window.open("Apples").await?;
    window.new_chat().await?;
    window.say("Plums").await?;
    gate.reached().await;
    window.open("Apples").await?;
    gate.open();
    let asked = notifications.titled("Plums").await?;
    notifications.press(&asked, None).await?;
    window.find(named("Plums").role(Role::Frame)).await?;
    window.find(named("Allow Once").under("Conversation")).await?;
    notifications.none().await?;
    window.close().await
}
