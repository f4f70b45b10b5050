//! Builds what stands on the start page.

use adw::prelude::*;
use chat_core::event::{ConnectionState, Health, ModelEntry};
use chat_core::message::ModelRef;
use chat_core::models::{CONNECTION, display_name};
use chat_presentation::words;
use gettextrs::{gettext, ngettext};

use super::super::handle::Handle;
use super::super::hint_bar;
use super::super::messages::Output;
use super::Msg;
use super::local_models::LocalModelStatus;
use crate::models::fetch::Fetch;

/// How many models are named in a row.
const NAMED: usize = 3;

/// Everything that the page depends on.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Contents {
    pub(super) connections: Vec<ConnectionState>,
    pub(super) models: Vec<ModelEntry>,
    /// What there is on this computer itself; none while that is not known.
    pub(super) local: Option<LocalModelStatus>,
    pub(super) chosen: Option<ModelRef>,
    pub(super) thinks: bool,
    pub(super) first_run: bool,
    /// Whether code is worked on in a folder.
    pub(super) codes: bool,
}

/// Builds the page. `fetch`: the row that offers a model for this computer.
pub(super) fn build(page: &Contents, fetch: Option<&Fetch>, handle: &Handle<Msg>) -> gtk::Widget {
    let (title, rows, begins) = match &page.chosen {
        Some(model) if !page.first_run => {
            (gettext("What would you like to do?"), beginnings(page, model, handle), true)
        }
        _ => (gettext("Choose a Model"), servers(page, fetch, handle), false),
    };
    let column = gtk::Box::builder()
        .orientation(gtk::Orientation::Vertical)
        .spacing(18)
        .margin_top(24)
        .margin_bottom(if begins { 12 } else { 24 })
        .build();
    column.append(&space());
    let heading = gtk::Label::builder()
        .label(&title)
        .wrap(true)
        .justify(gtk::Justification::Center)
        .css_classes(["welcome-title"])
        .build();
    column.append(&heading);
    column.append(&rows);
    if page.chosen.is_some() {
        let hint = gtk::Label::builder()
            .label(gettext("Or just start typing"))
            .css_classes(["dim-label"])
            .build();
        column.append(&hint);
    }
    // Otherwise the composer is right below, and has the room below itself.
    if !begins {
        column.append(&space());
    }
    adw::Clamp::builder()
        .maximum_size(560)
        .tightening_threshold(560)
        .margin_start(14)
        .margin_end(14)
        .child(&column)
        .build()
        .upcast()
}

/// What centres the page. To have it aligned, GTK looks for the narrowest width that the lines of the
/// rows can be broken to, for every height that it tries: for a page like this, 28,000 times.
fn space() -> gtk::Box {
    gtk::Box::builder().vexpand(true).build()
}

/// The servers that were found or configured, and the way to more.
fn servers(page: &Contents, fetch: Option<&Fetch>, handle: &Handle<Msg>) -> gtk::ListBox {
    let list = boxed_list();
    local_rows(&list, page, fetch, handle);
    let mut servers = page.connections.iter().filter(|state| !is_local(state)).peekable();
    let none = servers.peek().is_none();
    for state in servers {
        list.append(&server_row(state, page, handle));
    }
    if none {
        let row = row(
            "natter-computer-symbolic",
            &gettext("No model server found on this computer"),
            &gettext("Natter finds Ollama, llama.cpp, LM Studio, and vLLM when they’re running"),
        );
        let again = suffix_button(&gettext("Search Again"));
        let told = handle.callback(|()| Msg::LookAgain);
        again.connect_clicked(move |_| told(()));
        row.add_suffix(&again);
        list.append(&row);
    }
    let more = row(
        "list-add-symbolic",
        &gettext("Another server or provider"),
        &gettext("OpenAI, OpenRouter, llama.cpp, vLLM, LM Studio, and more"),
    );
    let add = suffix_button(&gettext("Add…"));
    let asked = handle.clone();
    add.connect_clicked(move |_| asked.output(Output::AddConnection));
    more.add_suffix(&add);
    more.set_activatable_widget(Some(&add));
    list.append(&more);
    list
}

/// What answers, or could, with no server at all.
fn local_rows(list: &gtk::ListBox, page: &Contents, fetch: Option<&Fetch>, handle: &Handle<Msg>) {
    match (&page.local, fetch) {
        (Some(LocalModelStatus::Installed { models }), _) => {
            list.append(&local_row(models, page, handle));
        }
        (Some(LocalModelStatus::Offered { .. }), Some(fetch)) => {
            let widget = fetch.widget();
            // It outlives the page that it stood on before.
            if let Some(before) = widget.parent().and_downcast::<gtk::ListBox>() {
                before.remove(&widget);
            }
            list.append(&widget);
        }
        (Some(LocalModelStatus::Offered { .. } | LocalModelStatus::Unavailable), _) => {}
        (None, _) => return,
    }
    let more = row(
        "folder-download-symbolic",
        &gettext("Models for this computer"),
        &gettext("Choose one, download one, or add your own file"),
    );
    more.add_suffix(&gtk::Image::from_icon_name("go-next-symbolic"));
    more.set_activatable(true);
    let asked = handle.clone();
    more.connect_activated(move |_| asked.output(Output::Models));
    list.append(&more);
}

/// The models that are on this computer. The one that is chosen stays, else the first is taken.
fn local_row(models: &[String], page: &Contents, handle: &Handle<Msg>) -> adw::ActionRow {
    let refs: Vec<ModelRef> = models.iter().map(|name| ModelRef::new(CONNECTION, name)).collect();
    let below = match &refs[..] {
        [only] if hint_bar::is_tiny(only) => {
            words::fill(&gettext("{model}, tiny"), &[("model", display_name(only))])
        }
        [only] => display_name(only).to_owned(),
        _ => names(&refs.iter().collect::<Vec<_>>()),
    };
    let state = page.connections.iter().find(|state| is_local(state));
    let failure = match state.map(|state| &state.health) {
        Some(Health::Failed(error)) => Some(words::sentence(error)),
        _ => None,
    };
    let below = failure.clone().unwrap_or(below);
    let row = row("natter-computer-symbolic", &gettext("On this computer"), &below);
    if failure.is_some() {
        return row;
    }
    let usable = |model: &ModelRef| page.models.iter().any(|entry| entry.model == *model);
    let chosen = page.chosen.as_ref().filter(|chosen| refs.contains(chosen));
    let Some(model) = chosen.or(refs.iter().find(|model| usable(model))).cloned() else {
        return row;
    };
    let ready = gtk::Label::builder().label(gettext("Ready")).css_classes(["state-ready"]).build();
    row.add_suffix(&ready);
    row.set_activatable(true);
    let told = handle.callback(Msg::Choose);
    row.connect_activated(move |_| told(model.clone()));
    row
}

/// Whether this is no server but this computer itself, which has a row of its own.
fn is_local(state: &ConnectionState) -> bool {
    state.built_in
}

fn server_row(state: &ConnectionState, page: &Contents, handle: &Handle<Msg>) -> adw::ActionRow {
    let name = &state.connection.name;
    let title = if state.discovered {
        words::fill(&gettext("{name} on this computer"), &[("name", name)])
    } else {
        name.clone()
    };
    let models: Vec<&ModelRef> = page
        .models
        .iter()
        .filter(|entry| {
            entry.model.connection == *name && entry.info.capabilities.chat != Some(false)
        })
        .map(|entry| &entry.model)
        .collect();
    let (below, word, class) = match &state.health {
        Health::Checking => (gettext("Looking for models"), gettext("Connecting…"), "dim-label"),
        Health::Ready { .. } if models.is_empty() => {
            (gettext("No models yet"), gettext("Ready"), "dim-label")
        }
        Health::Ready { .. } => (names(&models), gettext("Ready"), "state-ready"),
        Health::Failed(error) => (words::sentence(error), gettext("No response"), "state-failed"),
    };
    let icon = if state.discovered { "natter-computer-symbolic" } else { "natter-server-symbolic" };
    let row = row(icon, &title, &below);
    let word = gtk::Label::builder().label(&word).css_classes([class]).build();
    row.add_suffix(&word);
    // The person's own choice stays; otherwise the first model that the server has.
    let of_it = page.chosen.as_ref().filter(|chosen| chosen.connection == *name);
    if let Some(model) = of_it.or(models.first().copied()).cloned() {
        row.set_activatable(true);
        let told = handle.callback(Msg::Choose);
        row.connect_activated(move |_| told(model.clone()));
    }
    row
}

/// `3 models: a, b, c`.
fn names(models: &[&ModelRef]) -> String {
    let count = u32::try_from(models.len()).unwrap_or(u32::MAX);
    let named: Vec<&str> = models.iter().take(NAMED).map(|model| display_name(model)).collect();
    let mut named = named.join(", ");
    if models.len() > NAMED {
        named.push_str(" …");
    }
    words::fill(
        &ngettext("{n} model: {names}", "{n} models: {names}", count),
        &[("n", &count.to_string()), ("names", &named)],
    )
}

/// Three things that the chosen model can do now.
fn beginnings(page: &Contents, model: &ModelRef, handle: &Handle<Msg>) -> gtk::ListBox {
    let third = if page.thinks {
        (
            "natter-thinking-symbolic",
            gettext("Think through a question"),
            words::fill(
                &gettext("{model} thinks before answering"),
                &[("model", display_name(model))],
            ),
            gettext("Think this through and list the pros and cons: "),
        )
    } else {
        (
            "utilities-terminal-symbolic",
            gettext("Write some code"),
            gettext("Describe what it should do and the language to use"),
            gettext("Write a program that "),
        )
    };
    let general = || {
        [
            (
                "dialog-question-symbolic",
                gettext("Explain something"),
                gettext("In simple terms, with an example"),
                gettext("Explain in simple terms, with an example: "),
            ),
            (
                "document-edit-symbolic",
                gettext("Improve some text"),
                gettext("Paste it and see what changes"),
                gettext("Improve this text and tell me what you changed:\n\n"),
            ),
            third,
        ]
    };
    let list = boxed_list();
    for (icon, title, below, text) in if page.codes { in_project() } else { general() } {
        let row = row(icon, &title, &below);
        row.set_activatable(true);
        row.add_suffix(&gtk::Image::from_icon_name("go-next-symbolic"));
        let told = handle.callback(Msg::Begin);
        row.connect_activated(move |_| told(text.clone()));
        list.append(&row);
    }
    list
}

/// What can be begun in a folder with code: icon, title, what it means, and the words to begin with.
fn in_project() -> [(&'static str, String, String, String); 3] {
    [
        (
            "dialog-question-symbolic",
            gettext("Explain this project"),
            gettext("Its purpose, its structure, and where to start reading"),
            gettext(
                "Explain this project: what it does, how it’s structured, and where to start reading.",
            ),
        ),
        (
            "edit-find-symbolic",
            gettext("Find and fix a bug"),
            gettext("Describe what goes wrong and how you can tell"),
            gettext("Find out why this goes wrong, fix it, and run the tests: "),
        ),
        (
            "list-add-symbolic",
            gettext("Add a feature"),
            gettext("With tests, in the style of the existing code"),
            gettext("Add this feature, with tests, in the style of the existing code: "),
        ),
    ]
}

fn boxed_list() -> gtk::ListBox {
    gtk::ListBox::builder()
        .selection_mode(gtk::SelectionMode::None)
        .css_classes(["boxed-list"])
        .build()
}

fn row(icon: &str, title: &str, subtitle: &str) -> adw::ActionRow {
    let row = adw::ActionRow::builder()
        .use_markup(false)
        .title(title)
        .subtitle(subtitle)
        .title_lines(2)
        .subtitle_lines(4)
        .build();
    row.add_prefix(&gtk::Image::from_icon_name(icon));
    row
}

fn suffix_button(label: &str) -> gtk::Button {
    gtk::Button::builder().label(label).valign(gtk::Align::Center).build()
}
