//! Shows above the composer what a person must know before they write.

use std::cell::RefCell;

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
use super::messages;
use super::shown_chat::ShownChat;
use crate::models::words::connection;
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
    /// This model cannot see the attached pictures; another one can.
    NoVision(NoVision),
    /// The model is a tiny one for trying out, of this title.
    Tiny(String),
}

/// What there is to say something about.
#[derive(Debug, Default)]
struct Facts<'a> {
    in_use: bool,
    temporary: bool,
    /// Why the chat's server does not answer.
    failure: Option<String>,
    /// What the end of the conversation says already.
    said: Option<&'a str>,
    model: Option<&'a ModelRef>,
    no_vision: Option<NoVision>,
}

impl Hint {
    /// What is to be said.
    fn of(facts: Facts<'_>) -> Option<Self> {
        let Facts { in_use, temporary, failure, said, model, no_vision } = facts;
        if in_use {
            return Some(Self::InUse);
        }
        if failure.is_some() {
            return failure.filter(|words| said != Some(words)).map(Self::NoAnswer);
        }
        if let Some(no_vision) = no_vision {
            return Some(Self::NoVision(no_vision));
        }
        if temporary {
            return Some(Self::Temporary);
        }
        model.filter(|model| is_tiny(model)).map(|model| Self::Tiny(title(model)))
    }
}

/// A model that cannot see pictures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NoVision {
    pub(super) model: ModelRef,
    /// One that can, if one is known.
    pub(super) other: Option<ModelRef>,
}

impl NoVision {
    /// What the button says that leads to another model. One of another server is named with that: the chat goes there.
    fn button(&self) -> String {
        let Some(other) = &self.other else { return gettext("Choose a Model") };
        let values = [("model", &*title(other)), ("connection", &*connection(&other.connection))];
        let text = if other.connection == self.model.connection {
            gettext("Use {model}")
        } else {
            gettext("Use {model} ({connection})")
        };
        words::fill(&text, &values)
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

/// What the person asks for with the bar.
#[derive(Debug)]
pub(super) enum Output {
    /// This model is to answer, or one that they choose.
    Seeing(Option<ModelRef>),
}

/// What the person does with the bar.
#[derive(Clone, Copy, Debug)]
pub(super) enum Msg {
    /// Look at all connections again.
    LookAgain,
    /// They have read that the model is a tiny one.
    TinyIsKnown,
    /// They want a model that can see pictures.
    ChooseSeeing,
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
    /// Leads to a model that can see pictures.
    seeing: gtk::Button,
    /// That model, if one is known.
    other: RefCell<Option<ModelRef>>,
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
        settings.connect_clicked(move |_| asked.output(messages::Output::Connections(None)));
        let better = gtk::Button::with_label(&gettext("Get a Better Model…"));
        let asked = handle.clone();
        better.connect_clicked(move |_| asked.output(messages::Output::Models));
        let seeing = gtk::Button::new();
        let told = handle.callback(|()| Msg::ChooseSeeing);
        seeing.connect_clicked(move |_| told(()));
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
        all.append(&seeing);
        all.append(&close);
        let icon = gtk::Image::builder().valign(gtk::Align::Center).build();
        let line = gtk::Box::builder().spacing(10).css_classes(["problem"]).build();
        line.append(&icon);
        line.append(&adaptive_pair::words(&words, &all));
        let root = gtk::Revealer::builder().child(&line).build();
        // What is not said yet takes no room from what is.
        let parts: [&gtk::Widget; 4] =
            [buttons.upcast_ref(), better.upcast_ref(), seeing.upcast_ref(), close.upcast_ref()];
        for part in parts {
            part.set_visible(false);
        }
        Self {
            handle,
            manager: None,
            root,
            icon,
            words,
            buttons,
            better,
            seeing,
            other: RefCell::default(),
            close,
        }
    }

    pub(super) fn widget(&self) -> &gtk::Revealer {
        &self.root
    }

    pub(super) fn connect(&mut self, manager: Manager) {
        self.manager = Some(manager);
    }

    /// Says what is to be known about this chat: that another program writes it, or that its server does not
    /// answer. `said` is what went wrong in it last, which stands there already. `no_vision` is its model if that
    /// cannot see the pictures of the message.
    pub(super) fn show(
        &self,
        shown: &ShownChat,
        said: Option<&Error>,
        no_vision: Option<NoVision>,
    ) {
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
        self.say(Hint::of(Facts {
            in_use: shown.is_in_use(),
            temporary: shown.is_temporary(),
            failure,
            said: said.as_deref(),
            model,
            no_vision,
        }));
    }

    /// Does what the person wants. Gives the model that is to answer, or none where they are to choose one.
    pub(super) fn update(&self, msg: Msg) -> Option<Output> {
        let manager = self.manager.clone()?;
        match msg {
            Msg::ChooseSeeing => return Some(Output::Seeing(self.other.borrow().clone())),
            Msg::LookAgain => manager.connections().refresh(),
            Msg::TinyIsKnown => self.handle.run(None, async move {
                let change = |settings: &mut Settings| settings.ui.tiny_is_known = true;
                manager.settings().change(change).await.map(drop)
            }),
        }
        None
    }

    /// Says something; none says nothing, and leaves the words while the bar slides away.
    fn say(&self, hint: Option<Hint>) {
        self.root.set_reveal_child(hint.is_some());
        let Some(hint) = hint else { return };
        let has_no_vision = matches!(hint, Hint::NoVision(..));
        let (icon, words, can_act, can_improve) = match hint {
            Hint::NoVision(no_vision) => {
                let label = no_vision.button();
                self.seeing.set_label(&label);
                self.seeing.set_tooltip_text(Some(&label));
                // Two long names have no room in a narrow window.
                if let Some(words) = self.seeing.child().and_downcast::<gtk::Label>() {
                    words.set_ellipsize(gtk::pango::EllipsizeMode::Middle);
                }
                let values = [("model", &*title(&no_vision.model))];
                let words = words::fill(&gettext("{model} can’t see images."), &values);
                self.other.replace(no_vision.other);
                ("dialog-information-symbolic", words, false, false)
            }
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
        self.seeing.set_visible(has_no_vision);
        self.close.set_visible(can_improve);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_said_twice() {
        let no_answer = || Some("Nothing answers.".to_owned());
        let of = |failure, said| Hint::of(Facts { failure, said, ..Facts::default() });
        assert_eq!(of(None, None), None);
        assert_eq!(
            of(no_answer(), Some("The key is wrong.")),
            Some(Hint::NoAnswer("Nothing answers.".to_owned()))
        );
        assert_eq!(of(no_answer(), Some("Nothing answers.")), None);
        let in_use = Facts { in_use: true, failure: no_answer(), ..Facts::default() };
        assert_eq!(Hint::of(in_use), Some(Hint::InUse));
        let temporary = Facts { temporary: true, ..Facts::default() };
        assert_eq!(Hint::of(temporary), Some(Hint::Temporary));
    }

    #[test]
    fn that_pictures_are_not_seen_is_more_than_that_the_model_is_tiny() {
        let tiny = ModelRef::new(CONNECTION, TINY);
        let no_vision = || Some(NoVision { model: tiny.clone(), other: None });
        let of = |failure| {
            Hint::of(Facts {
                failure,
                model: Some(&tiny),
                no_vision: no_vision(),
                ..Facts::default()
            })
        };
        assert_eq!(of(None), no_vision().map(Hint::NoVision));
        let no_answer = Some("Nothing answers.".to_owned());
        assert!(matches!(of(no_answer), Some(Hint::NoAnswer(_))));
    }

    #[test]
    fn a_model_of_another_server_is_named_with_it() {
        let button = |connection| {
            let other = Some(ModelRef::new(connection, "qwen3-vl"));
            NoVision { model: ModelRef::new("Ollama", "qwen3"), other }.button()
        };
        assert_eq!(button("Ollama"), "Use qwen3-vl");
        assert_eq!(button("OpenAI"), "Use qwen3-vl (OpenAI)");
    }

    #[test]
    fn the_tiny_model_on_this_computer_is_told_from_all_others() {
        let of = |connection: &str, model: &str| {
            let model = ModelRef::new(connection, model);
            Hint::of(Facts { model: Some(&model), ..Facts::default() })
        };
        assert_eq!(of(CONNECTION, TINY), Some(Hint::Tiny("SmolLM2 135M".to_owned())));
        assert_eq!(of(CONNECTION, "qwen3-4b"), None);
        assert_eq!(of("Ollama", TINY), None);
        // That it does not answer is more than that it is tiny.
        let broken = Some("Nothing answers.".to_owned());
        let tiny = ModelRef::new(CONNECTION, TINY);
        assert!(matches!(
            Hint::of(Facts { failure: broken, model: Some(&tiny), ..Facts::default() }),
            Some(Hint::NoAnswer(_))
        ));
    }
}
