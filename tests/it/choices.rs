//! Tests the accessible names that are promised, and the hints where nothing can be sent.

use anyhow::Result;
use chat_testkit::server::{Model, Server, unused_port};
use chat_testkit::ui::{Role, State, containing, named, state, until};

use crate::stage::Stage;

#[tokio::test]
async fn the_promised_names_are_there() -> Result<()> {
    let stage = Stage::new().await?;
    let window = stage.ready().await?;
    for name in ["Message", "Send", "New Chat", "Chats", "Agent", "Model", "Thinking", "Main Menu"]
    {
        window.find(named(name)).await?;
    }
    window.keys(&["ctrl+shift+f"]).await?;
    window.find(named("Search Chats")).await?;
    window.close().await
}

#[tokio::test]
async fn the_model_chosen_by_keyboard_gets_the_message() -> Result<()> {
    let stage = Stage::new().await?;
    stage.server.set_models([Model::new("alpha"), Model::new("beta")]);
    let window = stage.window().await?;
    window.find(named("alpha")).await?;
    window.keys(&["ctrl+m"]).await?;
    window.find(containing("beta").under("Models")).await?;
    window.keys(&["Down", "Escape"]).await?;
    window.gone(named("Models")).await?;
    window.keys(&["ctrl+m"]).await?;
    window.find(containing("beta").under("Models")).await?;
    window.keys(&["Down", "Return"]).await?;
    window.find(named("beta")).await?;
    window.say("To whom?").await?;
    window.shows("You said: To whom?").await?;
    let chat = stage.server.chats().pop().expect("a request");
    assert_eq!(chat.model(), "beta");
    window.close().await
}

#[tokio::test]
async fn a_reply_is_asked_for_again_of_the_model_that_enter_chooses() -> Result<()> {
    let stage = Stage::new().await?;
    stage.server.set_models([Model::new("alpha"), Model::new("beta")]);
    let window = stage.window().await?;
    window.find(named("alpha")).await?;
    window.say("To whom?").await?;
    window.shows("You said: To whom?").await?;
    // First the model that is selected, then the other one.
    let selected: &[&str] = &["Return"];
    let other: &[&str] = &["Down", "Return"];
    for (place, keys, model) in [("2/2", selected, "alpha"), ("3/3", other, "beta")] {
        window.gone(named("Stop")).await?;
        window.writes().await?;
        let more = named("More Actions").state(State::Focused);
        until("the keyboard on the button", || async {
            window.keys(&["shift+Tab"]).await?;
            Ok(window.has(more.clone()).await.then_some(()))
        })
        .await?;
        window.keys(&["Return"]).await?;
        window.click(named("Regenerate With Another Model…").role(Role::Label)).await?;
        window.find(named("Regenerate with…").role(Role::Label)).await?;
        window.find(state(State::Focused).under("Models")).await?;
        window.keys(keys).await?;
        window.gone(named("Models")).await?;
        window.find(named(place).under("Conversation")).await?;
        let chat = stage.server.chats().pop().expect("a request");
        assert_eq!(chat.model(), model);
    }
    // Chosen as usual, a model is asked for nothing.
    window.keys(&["ctrl+m"]).await?;
    window.find(containing("alpha").under("Models")).await?;
    assert!(!window.has(named("Regenerate with…")).await);
    window.keys(&["Escape"]).await?;
    window.close().await
}

#[tokio::test]
async fn a_list_without_models_is_left_by_escape() -> Result<()> {
    let stage = Stage::new().await?;
    stage.server.set_models(Vec::<Model>::new());
    let window = stage.window().await?;
    window.keys(&["ctrl+m"]).await?;
    let words = containing("Download one for this computer, or add");
    window.find(words.clone()).await?;
    window.keys(&["Escape"]).await?;
    window.gone(words).await?;
    window.type_text("Apples").await?;
    window.holds("Apples").await?;
    window.close().await
}

#[tokio::test]
async fn the_arrow_keys_pass_from_one_connection_to_the_next() -> Result<()> {
    let stage = Stage::new().await?;
    let work = Server::start();
    stage.server.set_models([Model::new("alpha"), Model::new("twin")]);
    work.set_models([Model::new("twin"), Model::new("/models/Tiny-1B.gguf")]);
    stage.configure_all(&[("Home", &stage.server.url()), ("Work", &work.url())])?;
    let window = stage.window().await?;
    // Whichever server answers first has the model to begin with.
    window.keys(&["ctrl+m"]).await?;
    window.find(containing("Tiny-1B").under("Models")).await?;
    let alpha = window.find(containing("alpha").role(Role::Label).under("Models")).await?;
    alpha.click_with_mouse().await?;
    window.gone(containing("Tiny-1B").under("Models")).await?;
    window.find(named("alpha")).await?;
    window.keys(&["ctrl+m"]).await?;
    window.find(containing("Tiny-1B").under("Models")).await?;
    window.keys(&["Down", "Down", "Return"]).await?;
    // Of two models of one name the button says whose it is.
    window.find(named("twin · Work")).await?;
    window.keys(&["ctrl+m"]).await?;
    window.find(containing("Tiny-1B").under("Models")).await?;
    window.keys(&["Down", "Return"]).await?;
    window.find(named("Tiny-1B")).await?;
    window.say("To whom?").await?;
    window.shows("You said: To whom?").await?;
    assert_eq!(work.chats().pop().expect("a request").model(), "/models/Tiny-1B.gguf");
    window.close().await
}

#[tokio::test]
async fn down_goes_from_the_search_into_the_list_and_escape_closes_it() -> Result<()> {
    let stage = Stage::new().await?;
    stage.server.set_models((0..9).map(|n| Model::new(&format!("model-{n}"))));
    let window = stage.window().await?;
    window.find(named("model-0")).await?;
    window.keys(&["ctrl+m"]).await?;
    window.find(containing("model-8").under("Models")).await?;
    window.keys(&["Escape"]).await?;
    window.gone(named("Models")).await?;
    window.keys(&["ctrl+m"]).await?;
    window.find(containing("model-8").under("Models")).await?;
    window.keys(&["Down", "Down", "Down", "Up", "Return"]).await?;
    window.gone(named("Models")).await?;
    window.find(named("model-1")).await?;
    window.close().await
}

#[tokio::test]
async fn a_long_list_of_models_opens_at_the_chosen_one() -> Result<()> {
    let stage = Stage::new().await?;
    stage.server.set_models((10..60).map(|n| Model::new(&format!("model-{n}"))));
    let window = stage.window().await?;
    window.find(named("model-10")).await?;
    window.keys(&["ctrl+m"]).await?;
    window.find(containing("model-12").under("Models")).await?;
    window.type_text("model-47").await?;
    window.gone(containing("model-12").under("Models")).await?;
    window.keys(&["Return"]).await?;
    window.gone(named("Models")).await?;
    for _ in 0..2 {
        window.find(named("model-47")).await?;
        window.keys(&["ctrl+m"]).await?;
        until("the chosen model in sight", || async {
            let row = named("model-47").role(Role::Label).under("Models");
            let (Some(row), Some(list)) =
                (window.all(row).await.pop(), window.all(named("Models")).await.pop())
            else {
                return Ok(None);
            };
            let ((_, y, _, height), (_, top, _, tall)) = (row.place().await?, list.place().await?);
            Ok((top < y && y + height < top + tall).then_some(()))
        })
        .await?;
        window.keys(&["Escape"]).await?;
        window.gone(named("Models")).await?;
    }
    window.close().await
}

#[tokio::test]
async fn letters_typed_into_a_short_list_of_models_look_for_one_and_are_gone_the_next_time()
-> Result<()> {
    let stage = Stage::new().await?;
    stage.server.set_models([Model::new("alpha"), Model::new("beta"), Model::new("gamma")]);
    let window = stage.window().await?;
    window.find(named("alpha")).await?;
    window.keys(&["ctrl+m"]).await?;
    window.find(containing("gamma").under("Models")).await?;
    window.type_text("bet").await?;
    window.gone(containing("gamma").under("Models")).await?;
    window.keys(&["Return"]).await?;
    window.gone(named("Models")).await?;
    window.find(named("beta")).await?;
    window.keys(&["ctrl+m"]).await?;
    window.find(containing("gamma").under("Models")).await?;
    window.close().await
}

#[tokio::test]
async fn keys_that_are_faster_than_the_list_go_on_from_the_chosen_model() -> Result<()> {
    let stage = Stage::new().await?;
    stage.server.set_models((0..9).map(|n| Model::new(&format!("model-{n}"))));
    let window = stage.window().await?;
    window.find(named("model-0")).await?;
    let ways: [(&[&str], &str); 6] = [
        (&["Down", "Down", "Down", "Return"], "model-2"),
        (&["Down", "Return"], "model-2"),
        (&["Down", "Down", "Up", "Down", "Return"], "model-3"),
        (&["Down", "Up", "Return"], "model-2"),
        (&["Down", "End", "Return"], "model-8"),
        (&["Down", "Home", "Return"], "model-0"),
    ];
    for (keys, model) in ways {
        window.keys(&["ctrl+m"]).await?;
        window.find(containing("model-8").under("Models")).await?;
        window.keys_at_once(keys).await?;
        window.gone(named("Models")).await?;
        window.find(named(model)).await?;
    }
    window.close().await
}

#[tokio::test]
async fn keys_that_are_faster_than_a_short_list_go_on_from_the_chosen_model() -> Result<()> {
    let stage = Stage::new().await?;
    stage.server.set_models((0..4).map(|n| Model::new(&format!("model-{n}"))));
    let window = stage.window().await?;
    window.find(named("model-0")).await?;
    for (keys, model) in [
        (["Down", "Down", "Return"], "model-2"),
        (["Up", "Down", "Return"], "model-2"),
        (["Down", "Up", "Return"], "model-2"),
    ] {
        window.keys(&["ctrl+m"]).await?;
        window.find(containing("model-3").under("Models")).await?;
        window.keys_at_once(&keys).await?;
        window.gone(named("Models")).await?;
        window.find(named(model)).await?;
    }
    window.close().await
}

#[tokio::test]
async fn enter_right_after_the_letters_takes_the_model_that_they_find() -> Result<()> {
    let stage = Stage::new().await?;
    stage.server.set_models((0..9).map(|n| Model::new(&format!("model-{n}"))));
    let window = stage.window().await?;
    window.find(named("model-0")).await?;
    window.keys(&["ctrl+m"]).await?;
    window.find(containing("model-8").under("Models")).await?;
    window.keys(&["7", "Return"]).await?;
    window.gone(named("Models")).await?;
    window.find(named("model-7")).await?;
    // All of them are there again, and the keyboard is where the chosen one is.
    window.keys(&["ctrl+m"]).await?;
    window.find(containing("model-8").under("Models")).await?;
    window.find(containing("model-0").under("Models")).await?;
    window.keys(&["Down", "Down", "Return"]).await?;
    window.gone(named("Models")).await?;
    window.find(named("model-8")).await?;
    window.close().await
}

#[tokio::test]
async fn who_mistyped_a_model_goes_on_typing() -> Result<()> {
    let stage = Stage::new().await?;
    stage.server.set_models([Model::new("alpha"), Model::new("beta"), Model::new("gamma")]);
    let window = stage.window().await?;
    window.find(named("alpha")).await?;
    window.keys(&["ctrl+m"]).await?;
    window.find(containing("gamma").under("Models")).await?;
    window.type_text("bex").await?;
    window.find(named("No models found")).await?;
    window.keys(&["BackSpace", "t"]).await?;
    window.find(containing("beta").under("Models")).await?;
    // Without letters the short list has the keyboard again.
    window.keys(&["BackSpace", "BackSpace", "BackSpace"]).await?;
    window.find(containing("gamma").under("Models")).await?;
    window.gone(named("Search Models")).await?;
    window.keys(&["Down", "Return"]).await?;
    window.gone(named("Models")).await?;
    window.find(named("beta")).await?;
    window.close().await
}

#[tokio::test]
async fn escape_closes_the_models_from_every_place_in_them() -> Result<()> {
    let stage = Stage::new().await?;
    let window = stage.ready().await?;
    for place in ["Options…", "Connections…"] {
        window.keys(&["ctrl+m"]).await?;
        window.find(named("Models")).await?;
        until(&format!("the keyboard at {place}"), || async {
            if window.has(named(place).state(State::Focused)).await {
                return Ok(Some(()));
            }
            window.keys(&["Tab"]).await?;
            Ok(None)
        })
        .await?;
        window.keys(&["Escape"]).await?;
        window.gone(named("Models")).await?;
    }
    window.keys(&["ctrl+m"]).await?;
    window.click(named("Options…")).await?;
    window.find(named("Temperature").state(State::Focused)).await?;
    window.keys(&["Escape"]).await?;
    window.gone(named("Temperature")).await?;
    window.type_text("and on").await?;
    window.holds("and on").await?;
    window.close().await
}

#[tokio::test]
async fn a_favourite_made_by_keyboard_stands_first_also_after_a_restart() -> Result<()> {
    let stage = Stage::new().await?;
    stage.server.set_models([Model::new("alpha"), Model::new("beta")]);
    let window = stage.window().await?;
    window.find(named("alpha")).await?;
    window.keys(&["ctrl+m"]).await?;
    window.find(containing("beta").under("Models")).await?;
    window.keys(&["Down", "ctrl+d"]).await?;
    window.find(named("Favorites").under("Models")).await?;
    window.close().await?;

    let window = stage.window().await?;
    window.find(named("alpha")).await?;
    window.keys(&["ctrl+m"]).await?;
    window.find(named("Favorites").under("Models")).await?;
    let lines = window.text_under("Models").await;
    assert!(lines.find("beta") < lines.find("alpha"), "{lines}");
    // And back again.
    window.keys(&["Up", "ctrl+d"]).await?;
    window.gone(named("Favorites").under("Models")).await?;
    window.close().await
}

#[tokio::test]
async fn without_a_server_one_can_write_but_not_send_and_is_told_why() -> Result<()> {
    let stage = Stage::new().await?;
    stage.configure(&format!("http://127.0.0.1:{}", unused_port()))?;
    let window = stage.window().await?;
    window.find(named("No response")).await?;
    window.type_text("Anybody there?").await?;
    let send = window.find(named("Send")).await?;
    assert!(!send.is(State::Sensitive));
    window.close().await
}

#[tokio::test]
async fn a_beginning_keeps_what_was_written_already() -> Result<()> {
    let stage = Stage::new().await?;
    let window = stage.ready().await?;
    window.find(named("Choose a Model")).await?;
    window.say("The first chat").await?;
    window.shows("You said: The first chat").await?;
    window.keys(&["ctrl+n"]).await?;
    window.holds("").await?;
    window.type_text("my words").await?;
    window.holds("my words").await?;
    window.find(named("Improve some text")).await?.click_with_mouse().await?;
    window.holds("Improve this text and tell me what you changed:\n\nmy words").await?;
    window.close().await
}
