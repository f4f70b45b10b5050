//! The bar above the composer: what a person must know before they write.

use gettextrs::gettext;
use relm4::ComponentSender;
use relm4::gtk::prelude::*;

use super::view::tells;
use super::{ChatWidget, Told};
use crate::side_or_below;

/// What the bar says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Hint {
    /// Another program writes the chat.
    InUse,
    /// The server does not answer, in these words.
    NoAnswer(String),
}

impl Hint {
    /// What is to be said. `failure`: why the chat's server does not answer. `said`: what the end
    /// of the conversation says already.
    pub(super) fn of(in_use: bool, failure: Option<String>, said: Option<&str>) -> Option<Self> {
        if in_use {
            return Some(Self::InUse);
        }
        failure.filter(|words| said != Some(words)).map(Self::NoAnswer)
    }
}

/// Why a chat that another program writes cannot be continued.
pub(super) fn in_use() -> String {
    gettext("Another program is writing this chat; it can only be read here")
}

/// The bar.
#[derive(Debug)]
pub(super) struct HintBar {
    root: gtk::Revealer,
    icon: gtk::Image,
    words: gtk::Label,
    /// What can be done about a server that does not answer.
    buttons: gtk::Box,
}

impl HintBar {
    pub(super) fn new(sender: &ComponentSender<ChatWidget>) -> Self {
        let words = gtk::Label::builder().xalign(0.0).wrap(true).hexpand(true).build();
        let again = gtk::Button::with_label(&gettext("Retry"));
        let settings =
            gtk::Button::builder().label(gettext("Connections")).css_classes(["flat"]).build();
        let told = tells(sender, |()| Told::LookAgain);
        again.connect_clicked(move |_| told(()));
        let told = tells(sender, |()| Told::Connections);
        settings.connect_clicked(move |_| told(()));
        let buttons = gtk::Box::builder().spacing(10).valign(gtk::Align::Center).build();
        buttons.append(&settings);
        buttons.append(&again);
        let icon = gtk::Image::builder().valign(gtk::Align::Start).build();
        let line = gtk::Box::builder().spacing(10).css_classes(["problem"]).build();
        line.append(&icon);
        line.append(&side_or_below::pair(&words, &buttons));
        let root = gtk::Revealer::builder().child(&line).build();
        Self { root, icon, words, buttons }
    }

    pub(super) fn widget(&self) -> &gtk::Revealer {
        &self.root
    }

    /// Says something; none says nothing, and leaves the words while the bar slides away.
    pub(super) fn show(&self, hint: Option<Hint>) {
        self.root.set_reveal_child(hint.is_some());
        let Some(hint) = hint else { return };
        let (icon, words, can_act) = match hint {
            Hint::InUse => ("changes-prevent-symbolic", in_use(), false),
            Hint::NoAnswer(words) => ("dialog-warning-symbolic", words, true),
        };
        self.icon.set_icon_name(Some(icon));
        self.words.set_label(&words);
        self.buttons.set_visible(can_act);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_said_twice() {
        let no_answer = || Some("Nothing answers.".to_owned());
        assert_eq!(Hint::of(false, None, None), None);
        assert_eq!(
            Hint::of(false, no_answer(), Some("The key is wrong.")),
            Some(Hint::NoAnswer("Nothing answers.".to_owned()))
        );
        assert_eq!(Hint::of(false, no_answer(), Some("Nothing answers.")), None);
        assert_eq!(Hint::of(true, no_answer(), None), Some(Hint::InUse));
    }
}
