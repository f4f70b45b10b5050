//! Draws how a reply ended: a quiet line, or a card that says what went wrong and what can be done.

use std::rc::Rc;

use gettextrs::gettext;
use gtk::pango;
use gtk::prelude::*;

use chat_core::message::Ending;
use chat_presentation::words::{self, Action};

use crate::accessible;
use crate::conversation::model::notice::Notice;
use crate::conversation::widgets::context::Output;

/// The widget of a notice.
pub fn card(notice: &Notice, output: &Rc<dyn Fn(Output)>) -> gtk::Widget {
    let text = match &notice.error {
        Some(error) => words::sentence(error),
        None => words::ending(notice.ending).unwrap_or_default(),
    };
    let quiet = notice.error.is_none();
    let root = gtk::Box::builder()
        .orientation(gtk::Orientation::Vertical)
        .spacing(8)
        .css_classes(if quiet { ["ending"] } else { ["error-card"] })
        .build();
    let line = gtk::Box::builder().spacing(10).build();
    let icon = match notice.ending {
        _ if !quiet => "dialog-warning-symbolic",
        Ending::Stopped => "media-playback-stop-symbolic",
        Ending::Interrupted => "media-playback-pause-symbolic",
        // There would be more.
        _ => "content-loading-symbolic",
    };
    let image = gtk::Image::from_icon_name(icon);
    image.set_valign(gtk::Align::Start);
    line.append(&image);
    let label = gtk::Label::builder()
        .label(&text)
        .use_markup(false)
        .wrap(true)
        .wrap_mode(pango::WrapMode::WordChar)
        .selectable(true)
        .xalign(0.0)
        .hexpand(true)
        .build();
    line.append(&label);
    root.append(&line);
    if let Some(detail) = notice.error.as_ref().and_then(|error| error.detail.as_deref()) {
        root.append(&details(detail));
    }
    if notice.last {
        let buttons = buttons(notice, output);
        if buttons.first_child().is_some() {
            root.append(&buttons);
        }
    }
    root.upcast()
}

/// The server's own words, folded, and a button that copies them.
fn details(text: &str) -> gtk::Widget {
    let label = gtk::Label::builder()
        .label(text)
        .use_markup(false)
        .wrap(true)
        .wrap_mode(pango::WrapMode::WordChar)
        .selectable(true)
        .xalign(0.0)
        .css_classes(["error-detail"])
        .build();
    let copy = gtk::Button::builder()
        .label(gettext("Copy Details"))
        .halign(gtk::Align::Start)
        .css_classes(["flat", "caption"])
        .build();
    let text = text.to_owned();
    copy.connect_clicked(move |copy| copy.clipboard().set_text(&text));
    let inside = gtk::Box::new(gtk::Orientation::Vertical, 4);
    inside.append(&label);
    inside.append(&copy);
    gtk::Expander::builder().label(gettext("Details")).child(&inside).build().upcast()
}

fn buttons(notice: &Notice, output: &Rc<dyn Fn(Output)>) -> gtk::Box {
    let line = gtk::Box::builder().spacing(6).build();
    let mut actions = match &notice.error {
        Some(error) => words::advice(error).actions,
        None if notice.ending == Ending::Length => vec![Action::Continue],
        None => vec![Action::Retry],
    };
    let goes_on = matches!(notice.ending, Ending::Interrupted | Ending::Stopped);
    if goes_on && !actions.contains(&Action::Continue) {
        actions.push(Action::Continue);
    }
    actions.retain(|action| notice.continues || *action != Action::Continue);
    for action in actions {
        let label = gtk::Label::builder()
            .label(action.label())
            .ellipsize(pango::EllipsizeMode::End)
            .build();
        let button = gtk::Button::builder().child(&label).build();
        // A child that is a label gives a button no name of its own.
        accessible::set_label(&button, &label.text());
        let (output, message) = (Rc::clone(output), output_of(action));
        button.connect_clicked(move |_| output(message.clone()));
        line.append(&button);
    }
    line
}

fn output_of(action: Action) -> Output {
    match action {
        Action::Retry => Output::Retry,
        Action::Continue => Output::Resume,
        Action::ConnectionSettings | Action::Connections => Output::OpenSettings,
        Action::ChooseModel => Output::ChooseModel,
        Action::ChooseAgent => Output::ChooseAgent,
        Action::LargerWindow(tokens) => Output::EnlargeWindow { tokens },
        Action::ThinkingAsModel => Output::ThinkAsModel,
        Action::NewChat => Output::NewChat,
        Action::SignIn(address) => Output::OpenLink(address),
    }
}
