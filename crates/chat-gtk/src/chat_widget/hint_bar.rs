//! Shows above the composer what a person must know before they write.

use chat_core::error::Error;
use chat_core::event::Health;
use chat_core::manager::Manager;
use chat_core::message::ModelRef;
use chat_core::models::{CONNECTION, display_name};
use chat_core::settings::Settings;
use chat_presentation::words;
use gettextrs::gettext;
use relm4::gtk::prelude::*;

use super::handle::Handle;
use super::messages::Output;
use super::shown_chat::ShownChat;
use crate::{accessible, adaptive_pair};

/// The model that Natter brings along so that anything answers at all.
const TINY: &str = "smollm2-135m";

/// What the bar says.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Hint {
    /// Another program writes the chat.
    InUse,
    /// The server does not answer, in these words.
    NoAnswer(String),
    /// The chat is temporary.
    Temporary,
    /// The model is a tiny one for trying out, of this title.
    Tiny(String),
}

impl Hint {
    /// What is to be said. `failure`: why the chat's server does not answer. `said`: what the end
    /// of the conversation says already.
    fn of(
        in_use: bool,
        temporary: bool,
        failure: Option<String>,
        said: Option<&str>,
        model: Option<&ModelRef>,
    ) -> Option<Self> {
        if in_use {
            return Some(Self::InUse);
        }
        if failure.is_some() {
            return failure.filter(|words| said != Some(words)).map(Self::NoAnswer);
        }
        if temporary {
            return Some(Self::Temporary);
        }
        model.filter(|model| is_tiny(model)).map(|model| Self::Tiny(title(model)))
    }
}

/// Whether this is the tiny model that is there for trying out.
pub(super) fn is_tiny(model: &ModelRef) -> bool {
    model.connection == CONNECTION && model.model == TINY
}

fn title(model: &ModelRef) -> String {
    display_name(model).to_owned()
}

/// Why a chat that another program writes cannot be continued.
pub(super) fn in_use() -> String {
    gettext("This chat is open in another Natter window or terminal. You can only read it here.")
}

/// What the person does with the bar.
#[derive(Clone, Copy, Debug)]
pub(super) enum Msg {
    /// Look at all connections again.
    LookAgain,
    /// They have read that the model is a tiny one.
    TinyIsKnown,
}

/// The bar.
pub(super) struct HintBar {
    handle: Handle<Msg>,
    manager: Option<Manager>,
    root: gtk::Revealer,
    icon: gtk::Image,
    words: gtk::Label,
    /// What can be done about a server that does not answer.
    buttons: gtk::Box,
    /// Leads to better models.
    better: gtk::Button,
    /// Ends what need not be said again.
    close: gtk::Button,
}

impl HintBar {
    pub(super) fn new(handle: Handle<Msg>) -> Self {
        let words = gtk::Label::builder().xalign(0.0).wrap(true).hexpand(true).build();
        let again = gtk::Button::with_label(&gettext("Retry"));
        let settings =
            gtk::Button::builder().label(gettext("Connections")).css_classes(["flat"]).build();
        let told = handle.callback(|()| Msg::LookAgain);
        again.connect_clicked(move |_| told(()));
        let asked = handle.clone();
        settings.connect_clicked(move |_| asked.output(Output::Connections(None)));
        let better = gtk::Button::with_label(&gettext("Get a Better Model…"));
        let asked = handle.clone();
        better.connect_clicked(move |_| asked.output(Output::Models));
        let close = gtk::Button::builder()
            .icon_name("window-close-symbolic")
            .css_classes(["flat", "circular"])
            .tooltip_text(gettext("Don’t show this again"))
            .build();
        accessible::set_label(&close, &gettext("Don’t show the tiny model notice again"));
        let told = handle.callback(|()| Msg::TinyIsKnown);
        close.connect_clicked(move |_| told(()));
        let buttons = gtk::Box::builder().spacing(10).valign(gtk::Align::Center).build();
        buttons.append(&settings);
        buttons.append(&again);
        let all = gtk::Box::builder().spacing(6).valign(gtk::Align::Center).build();
        all.append(&buttons);
        all.append(&better);
        all.append(&close);
        let icon = gtk::Image::builder().valign(gtk::Align::Center).build();
        let line = gtk::Box::builder().spacing(10).css_classes(["problem"]).build();
        line.append(&icon);
        line.append(&adaptive_pair::words(&words, &all));
        let root = gtk::Revealer::builder().child(&line).build();
        // What is not said yet takes no room from what is.
        for part in [buttons.upcast_ref::<gtk::Widget>(), better.upcast_ref(), close.upcast_ref()] {
            part.set_visible(false);
        }
        Self { handle, manager: None, root, icon, words, buttons, better, close }
    }

    pub(super) fn widget(&self) -> &gtk::Revealer {
        &self.root
    }

    pub(super) fn connect(&mut self, manager: Manager) {
        self.manager = Some(manager);
    }

    /// Says what is to be known about this chat: that another program writes it, or that its server does not
    /// answer. `said` is what went wrong in it last, which stands there already.
    pub(super) fn show(&self, shown: &ShownChat, said: Option<&Error>) {
        let name = shown.model().map(|model| model.connection.as_str());
        let states =
            self.manager.as_ref().map(|manager| manager.connections().list()).unwrap_or_default();
        let state = name.map(|name| states.iter().find(|s| s.connection.name == name));
        let failure = match (state, shown.is_busy()) {
            (Some(Some(state)), false) => match &state.health {
                Health::Failed(error) => Some(words::sentence(error)),
                Health::Checking | Health::Ready { .. } => None,
            },
            // A connection that is not there: the engine may still be looking for it.
            _ => None,
        };
        let said = said.filter(|_| matches!(shown, ShownChat::Open(_))).map(words::sentence);
        let known = self.manager.as_ref().is_some_and(|m| m.settings().current().ui.tiny_is_known);
        let model = shown.model().filter(|model| !(known && is_tiny(model)));
        let (in_use, temporary) = (shown.is_in_use(), shown.is_temporary());
        self.say(Hint::of(in_use, temporary, failure, said.as_deref(), model));
    }

    pub(super) fn update(&self, msg: Msg) {
        let Some(manager) = self.manager.clone() else { return };
        match msg {
            Msg::LookAgain => manager.connections().refresh(),
            Msg::TinyIsKnown => self.handle.run(None, async move {
                let change = |settings: &mut Settings| settings.ui.tiny_is_known = true;
                manager.settings().change(change).await.map(drop)
            }),
        }
    }

    /// Says something; none says nothing, and leaves the words while the bar slides away.
    fn say(&self, hint: Option<Hint>) {
        self.root.set_reveal_child(hint.is_some());
        let Some(hint) = hint else { return };
        let (icon, words, can_act, can_improve) = match hint {
            Hint::InUse => ("changes-prevent-symbolic", in_use(), false, false),
            Hint::NoAnswer(words) => ("dialog-warning-symbolic", words, true, false),
            Hint::Temporary => {
                let words = gettext(
                    "This chat is temporary: it isn’t saved, and is gone when you close Natter.",
                );
                ("view-conceal-symbolic", words, false, false)
            }
            Hint::Tiny(model) => {
                let text = gettext(
                    "{model} is a tiny model for trying things out. Its answers are often wrong.",
                );
                let words = words::fill(&text, &[("model", &model)]);
                ("dialog-information-symbolic", words, false, true)
            }
        };
        self.icon.set_icon_name(Some(icon));
        self.words.set_label(&words);
        self.buttons.set_visible(can_act);
        self.better.set_visible(can_improve);
        self.close.set_visible(can_improve);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_said_twice() {
        let no_answer = || Some("Nothing answers.".to_owned());
        let of = |in_use, failure, said| Hint::of(in_use, false, failure, said, None);
        assert_eq!(of(false, None, None), None);
        assert_eq!(
            of(false, no_answer(), Some("The key is wrong.")),
            Some(Hint::NoAnswer("Nothing answers.".to_owned()))
        );
        assert_eq!(of(false, no_answer(), Some("Nothing answers.")), None);
        assert_eq!(of(true, no_answer(), None), Some(Hint::InUse));
        assert_eq!(Hint::of(false, true, None, None, None), Some(Hint::Temporary));
    }

    #[test]
    fn the_tiny_model_on_this_computer_is_told_from_all_others() {
        let of = |connection: &str, model: &str| {
            Hint::of(false, false, None, None, Some(&ModelRef::new(connection, model)))
        };
        assert_eq!(of(CONNECTION, TINY), Some(Hint::Tiny("SmolLM2 135M".to_owned())));
        assert_eq!(of(CONNECTION, "qwen3-4b"), None);
        assert_eq!(of("Ollama", TINY), None);
        // That it does not answer is more than that it is tiny.
        let broken = Some("Nothing answers.".to_owned());
        let tiny = ModelRef::new(CONNECTION, TINY);
        assert!(matches!(
            Hint::of(false, true, broken, None, Some(&tiny)),
            Some(Hint::NoAnswer(_))
        ));
    }
}
