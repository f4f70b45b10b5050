//! Draws a person's message: a quiet box to the right, with chips for its attachments.

mod fold;
mod markdown;
mod text_width;

use std::rc::Rc;
use std::sync::Arc;

use gettextrs::gettext;
use gtk::pango;
use gtk::prelude::*;

use chat_core::message::{AgentReport, CommandText, FromAgent, Message, MessageId, Part};
use chat_presentation::words::{fill, from_agent, one_line};

use crate::conversation::model::hits::Hit;
use crate::conversation::model::reply::ReplyText;
use crate::conversation::widgets::context::{Output, WidgetContext};
use crate::conversation::widgets::highlight::{MatchColours, highlight_label};
use crate::conversation::widgets::position::RowPosition;
use crate::conversation::widgets::report::{AGENT, ReportCard};
use crate::conversation::widgets::tags::Tags;
use crate::conversation::widgets::text_surface::TextSurface;
use crate::pictures::Source;
use crate::wrap::wrap;
use crate::{accessible, adaptive_pair, attached_text};
use fold::Fold;
use markdown::Markdown;

/// Longer texts are shown in part until the person asks for all, in bytes.
const LONG: usize = 10_000;

/// What an agent reports in a message, if one does.
fn report_in(message: &Message) -> Option<&AgentReport> {
    message.parts.iter().find_map(|part| match part {
        Part::FromAgent(FromAgent::Report(report)) => Some(&**report),
        _ => None,
    })
}

/// What a person said.
pub struct UserMessage {
    root: gtk::Widget,
    text: Option<Text>,
    /// Its text, where that is Markdown.
    markdown: Option<Rc<Markdown>>,
    /// What folds a long one.
    fold: Option<Fold>,
    /// The button that brings the files back.
    restore: Option<gtk::Button>,
    /// What an agent reports in place of the person.
    report: Option<ReportCard>,
}

/// The text of a message, and the button that shows all of a long one.
pub(super) struct Text {
    label: gtk::Label,
    button: Option<gtk::Button>,
}

impl UserMessage {
    /// The box of a message. `said`: its text, where that is Markdown.
    pub fn new(message: &Message, said: Option<&ReplyText>, context: &WidgetContext) -> Self {
        let report = report_in(message).map(|report| ReportCard::new(report, context));
        let mut chips = Vec::new();
        let mut files = Vec::new();
        let mut pictures = Vec::new();
        let mut commands = Vec::new();
        for part in &message.parts {
            match part {
                Part::Image { data, .. } => {
                    pictures.push(context.pictures.button(Source::Data(Arc::clone(data))).upcast());
                }
                Part::File { name, text } => files.push(file_chip(name, text).upcast()),
                Part::Command(command) => commands.push(command),
                // A report has its card.
                Part::FromAgent(FromAgent::Report(_)) => {}
                Part::FromAgent(agent) => chips.push((AGENT, from_agent(agent))),
                _ => {}
            }
        }
        let text = message.plain_text();
        let has_files = !files.is_empty() || !pictures.is_empty();
        let says_nothing = text.is_empty() && chips.is_empty() && !has_files;
        if says_nothing && report.is_none() {
            return Self {
                root: asked_to_go_on(),
                text: None,
                markdown: None,
                fold: None,
                restore: None,
                report: None,
            };
        }
        let markdown = said.map(|said| Rc::new(Markdown::new(said, context)));
        let (said, text) = bubble(if markdown.is_some() { "" } else { &text }, &chips);
        if markdown.as_ref().is_some_and(|markdown| markdown.has_table()) {
            said.set_halign(gtk::Align::Fill);
        }
        let shown = markdown.as_ref().map(|markdown| markdown.widget().clone().upcast());
        let shown = shown.or_else(|| text.as_ref().map(|text| text.label.clone().upcast()));
        let fold = shown.map(|shown: gtk::Widget| {
            if shown.parent().is_some() {
                said.remove(&shown);
            }
            let more = markdown.clone().filter(|markdown| markdown.has_more());
            let rest = more.map(|more| Box::new(move || more.draw_rest()) as Box<dyn FnOnce()>);
            let fold = Fold::new(&shown, &context.hold, rest);
            said.prepend(fold.button());
            said.prepend(fold.widget());
            fold
        });
        for attached in [pictures, files] {
            append_wrapped(&said, &attached);
        }
        let is_empty = says_nothing && commands.is_empty();
        for command in commands {
            said.append(&command_text(command));
        }
        let (buttons, restore) = buttons(message, context);
        let root = if let Some(card) = &report {
            let column = gtk::Box::new(gtk::Orientation::Vertical, 8);
            column.append(card.widget());
            if !is_empty {
                column.append(&said);
            }
            adaptive_pair::words(&column, &buttons)
        } else {
            // A gtk::Box would ask how narrow the text can be at a great height, which a text that wraps can't
            // answer.
            adaptive_pair::at_end(&buttons, &said)
        };
        root.add_css_class("said");
        let said =
            Self { root: root.upcast(), text, markdown, fold, restore: Some(restore), report };
        said.set_project(context.has_project.get());
        said
    }

    /// Says whether the session has a project, whose files can be brought back.
    pub fn set_project(&self, has_project: bool) {
        if let Some(button) = &self.restore {
            button.set_visible(has_project);
        }
    }

    /// The widget.
    pub fn widget(&self) -> &gtk::Widget {
        &self.root
    }

    /// What shows its text, block by block.
    pub fn surfaces(&self) -> Vec<TextSurface<'_>> {
        match &self.markdown {
            Some(markdown) => markdown.surfaces(),
            None => self.label().map(TextSurface::Label).into_iter().collect(),
        }
    }

    /// The label of its text.
    pub fn label(&self) -> Option<&gtk::Label> {
        self.text.as_ref().map(|text| &text.label)
    }

    /// Gives its text the keyboard.
    pub fn focus(&self) {
        if let Some(markdown) = &self.markdown
            && markdown.focus()
        {
            return;
        }
        match self.label() {
            Some(label) => {
                label.grab_focus();
                // GTK selects all of it.
                label.select_region(0, 0);
            }
            None => drop(self.root.child_focus(gtk::DirectionType::TabForward)),
        }
    }

    /// Marks what was found, and nothing else.
    pub fn highlight(&self, hits: &[Hit], current: Option<usize>, colours: MatchColours) {
        if let Some(markdown) = &self.markdown {
            return markdown.highlight(hits, current, colours);
        }
        if let Some(label) = self.label() {
            let hits: Vec<_> =
                hits.iter().enumerate().map(|(at, hit)| (hit, current == Some(at))).collect();
            highlight_label(label, &hits, colours);
        }
    }

    /// Where a place stands in the row.
    pub fn position(&self, hit: &Hit) -> Option<RowPosition> {
        match &self.markdown {
            Some(markdown) => markdown.position(hit, &self.root),
            None => Some(RowPosition::in_label(self.label()?, &self.root, hit.bytes.start)),
        }
    }

    /// Takes the theme's colours.
    pub fn recolour(&self, tags: &Tags) {
        if let Some(markdown) = &self.markdown {
            markdown.recolour(tags);
        }
        if let Some(report) = &self.report {
            report.recolour(tags);
        }
    }

    /// The project has other files.
    pub fn mark_files(&self) {
        if let Some(markdown) = &self.markdown {
            markdown.mark_files();
        }
        if let Some(report) = &self.report {
            report.mark_files();
        }
    }

    /// Shows all of a long text.
    pub fn show_all(&self) {
        if let Some(report) = &self.report {
            report.open();
        }
        if let Some(fold) = &self.fold {
            fold.open();
        }
        let button = self.text.as_ref().and_then(|text| text.button.as_ref());
        if let Some(button) = button.filter(|button| button.is_visible()) {
            button.emit_clicked();
        }
    }
}

/// Adds widgets to a message, as many in a line as fit.
pub(super) fn append_wrapped(said: &gtk::Box, widgets: &[gtk::Widget]) {
    if !widgets.is_empty() {
        let line = wrap();
        for widget in widgets {
            line.append(widget);
        }
        said.append(&line);
    }
}

/// The chip of a file; a click shows its text.
fn file_chip(name: &str, text: &str) -> gtk::Button {
    let shown = one_line(name);
    let inside = gtk::Box::new(gtk::Orientation::Horizontal, 6);
    inside.append(&gtk::Image::from_icon_name("text-x-generic-symbolic"));
    let label = gtk::Label::builder().label(&shown).ellipsize(pango::EllipsizeMode::Middle).build();
    inside.append(&label);
    let words = fill(&gettext("Open {name}"), &[("name", &shown)]);
    let chip = gtk::Button::builder()
        .child(&inside)
        .tooltip_text(&words)
        .halign(gtk::Align::Start)
        .css_classes(["flat", "chip"])
        .build();
    accessible::set_label(&chip, &words);
    let (name, text) = (name.to_owned(), text.to_owned());
    chip.connect_clicked(move |chip| attached_text::open(chip, &name, &text));
    chip
}

/// The buttons beside a message, seen on hover and focus, and the one of them that brings the files back.
fn buttons(message: &Message, context: &WidgetContext) -> (gtk::Box, gtk::Button) {
    let buttons = gtk::Box::builder().spacing(2).valign(gtk::Align::Center).build();
    if message.is_of_user() {
        buttons.append(&edit_button(message.id, context));
    }
    let restore = restore_button(message.id, context);
    buttons.append(&restore);
    let more = small_button("view-more-symbolic", &gettext("More Actions"));
    context.opens_menu(&more);
    buttons.append(&more);
    (buttons, restore)
}

/// The button that edits the message. The same is in the menu of the message.
fn edit_button(id: MessageId, context: &WidgetContext) -> gtk::Button {
    let words = gettext("Edit and Resend");
    button("document-edit-symbolic", &words, Output::Edit(id), context)
}

/// The button that brings the files back to how they were then. The same is in the menu of the message.
fn restore_button(id: MessageId, context: &WidgetContext) -> gtk::Button {
    let words = gettext("Restore Files to This Point…");
    button("edit-undo-symbolic", &words, Output::Restore(id), context)
}

/// A button beside the message.
fn button(icon: &str, words: &str, wanted: Output, context: &WidgetContext) -> gtk::Button {
    let button = small_button(icon, words);
    let output = Rc::clone(&context.output);
    button.connect_clicked(move |_| output(wanted.clone()));
    button
}

fn small_button(icon: &str, words: &str) -> gtk::Button {
    let button = gtk::Button::builder()
        .icon_name(icon)
        .tooltip_text(words)
        .valign(gtk::Align::Center)
        .css_classes(["flat", "circular", "said-button"])
        .build();
    accessible::set_label(&button, words);
    button
}

/// The model was asked to go on: the person pressed a button and wrote nothing.
fn asked_to_go_on() -> gtk::Widget {
    gtk::Label::builder()
        .label(gettext("You asked the model to continue"))
        .halign(gtk::Align::End)
        .css_classes(["caption", "dim-label"])
        .build()
        .upcast()
}

/// The box of what a person said, with the label of its text.
pub(super) fn bubble(text: &str, chips: &[(&str, String)]) -> (gtk::Box, Option<Text>) {
    let root = gtk::Box::builder()
        .orientation(gtk::Orientation::Vertical)
        .spacing(8)
        .halign(gtk::Align::End)
        .css_classes(["user-message"])
        .build();
    let mut said = None;
    if !text.is_empty() {
        let shown = &text[..text.floor_char_boundary(LONG)];
        let label = words(shown);
        let attributes = pango::AttrList::new();
        attributes.insert(pango::AttrFloat::new_line_height(1.45));
        label.set_attributes(Some(&attributes));
        root.append(&label);
        let button = (shown.len() < text.len()).then(|| show_all(&label, text.to_owned()));
        if let Some(button) = &button {
            root.append(button);
        }
        said = Some(Text { label, button });
    }
    if !chips.is_empty() {
        let line = wrap();
        for (icon, name) in chips {
            let chip = gtk::Box::builder()
                .spacing(6)
                .halign(gtk::Align::Start)
                .css_classes(["chip"])
                .build();
            chip.append(&gtk::Image::from_icon_name(icon));
            chip.append(
                &gtk::Label::builder()
                    .label(one_line(name))
                    .ellipsize(pango::EllipsizeMode::Middle)
                    .build(),
            );
            line.append(&chip);
        }
        root.append(&line);
    }
    (root, said)
}

/// What a command stands for, folded: made when it is opened.
fn command_text(command: &CommandText) -> gtk::Expander {
    let name = format!("/{}", command.name);
    let title = fill(&gettext("Text of {command}"), &[("command", &name)]);
    let fold = gtk::Expander::builder().label(&title).css_classes(["command-text"]).build();
    let text = command.text.trim_end().to_owned();
    fold.connect_expanded_notify(move |fold| {
        if fold.is_expanded() && fold.child().is_none() {
            fold.set_child(Some(&bubble_text(&text)));
        }
    });
    fold
}

/// A text as it was written, which can be selected.
fn words(text: &str) -> gtk::Label {
    gtk::Label::builder()
        .label(text)
        .use_markup(false)
        .wrap(true)
        .wrap_mode(pango::WrapMode::WordChar)
        .selectable(true)
        .xalign(0.0)
        .build()
}

/// The text of a command, which may be long.
fn bubble_text(text: &str) -> gtk::Box {
    let column = gtk::Box::builder()
        .orientation(gtk::Orientation::Vertical)
        .spacing(4)
        .margin_top(6)
        .build();
    let shown = &text[..text.floor_char_boundary(LONG)];
    let label = words(shown);
    column.append(&label);
    if shown.len() < text.len() {
        column.append(&show_all(&label, text.to_owned()));
    }
    column
}

fn show_all(label: &gtk::Label, text: String) -> gtk::Button {
    let button = gtk::Button::builder()
        .label(gettext("Show All"))
        .halign(gtk::Align::Start)
        .css_classes(["flat", "caption"])
        .build();
    let label = label.clone();
    button.connect_clicked(move |button| {
        label.set_text(&text);
        button.set_visible(false);
    });
    button
}
