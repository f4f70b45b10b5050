//! Builds the window of the connection dialog.

use std::cell::{Cell, RefCell};

use adw::prelude::*;
use chat_core::client::Preset;
use chat_core::event::ConnectionState;
use chat_core::manager::Manager;
use chat_presentation::words;
use gettextrs::gettext;

use super::advanced::Advanced;
use super::requests::Requests;
use super::{Editor, kinds, sentences};
use crate::accessible;

/// The dialog's size, in pixels at the default font: with space for the longest test result, since
/// GTK does not let a window grow with its content.
const SIZE: (i32, i32) = (480, 640);

impl Editor {
    pub(super) fn new(
        parent: &gtk::Window,
        manager: Manager,
        old: Option<ConnectionState>,
        preset: Option<&'static Preset>,
    ) -> Self {
        let words = match (&old, preset) {
            (Some(_), _) => gettext("Connection"),
            (None, Some(preset)) => preset.name.clone(),
            (None, None) => gettext("New Connection"),
        };
        let title = adw::WindowTitle::new(&words, "");
        let url = adw::EntryRow::builder().title(gettext("Address")).build();
        url.set_input_purpose(gtk::InputPurpose::Url);
        let name = adw::EntryRow::builder().title(gettext("Name")).build();
        let titles = gtk::StringList::new(&[]);
        for kind in kinds() {
            titles.append(&kind.map_or_else(|| gettext("Automatic"), words::protocol));
        }
        let kind = adw::ComboRow::builder().title(gettext("Protocol")).model(&titles).build();
        let key = adw::PasswordEntryRow::builder().title(gettext("Key")).build();

        let server = adw::PreferencesGroup::builder()
            .description(gettext(
                "For example, http://127.0.0.1:11434 or https://openrouter.ai/api/v1",
            ))
            .build();
        let advanced = Advanced::new();
        // One that runs on this computer may as well run on another one.
        let is_local = preset.is_some_and(|preset| preset.local);
        if is_local {
            server.set_description(Some(&gettext(
                "Change the address if the server runs on another computer or port.",
            )));
        }
        for row in [url.upcast_ref::<gtk::Widget>(), name.upcast_ref(), kind.upcast_ref()] {
            // Of a known server nobody need look at the others.
            if preset.is_none() || is_local && row == url.upcast_ref::<gtk::Widget>() {
                server.add(row);
            } else {
                advanced.row.add_row(row);
            }
        }
        advanced.add_own_rows();
        let secret =
            adw::PreferencesGroup::builder().description(sentences::key(old.as_ref())).build();
        secret.add(&key);
        if let Some(url) = preset.and_then(|preset| preset.key_url.as_deref()) {
            secret.add(&key_link(url));
            secret.set_description(Some(&sentences::key_of_preset()));
        }
        let unlisted = adw::PreferencesGroup::builder()
            .description(gettext(
                "Model names, separated by commas. Needed only for models that the server doesn’t list.",
            ))
            .build();
        let models = adw::EntryRow::builder().title(gettext("Models")).build();
        if let Some(text) = models.delegate() {
            accessible::set_label(&text, &gettext("Models"));
        }
        unlisted.add(&models);
        let requests = Requests::new();
        let test = gtk::Button::builder()
            .label(gettext("_Test"))
            .use_underline(true)
            .halign(gtk::Align::Start)
            .build();
        let result = gtk::Label::builder()
            .xalign(0.0)
            .wrap(true)
            .wrap_mode(gtk::pango::WrapMode::WordChar)
            .selectable(true)
            .build();
        let outcome = gtk::Box::new(gtk::Orientation::Vertical, 10);
        outcome.append(&test);
        outcome.append(&result);
        let column = gtk::Box::builder()
            .orientation(gtk::Orientation::Vertical)
            .spacing(18)
            .margin_top(18)
            .margin_bottom(24)
            .margin_start(18)
            .margin_end(18)
            .build();
        server.set_visible(preset.is_none() || is_local);
        secret.set_visible(preset.is_none_or(|preset| preset.key_url.is_some()));
        column.append(&server);
        column.append(&secret);
        column.append(&unlisted);
        unlisted.set_visible(preset.is_none());
        requests.group.set_visible(preset.is_none());
        column.append(&requests.group);
        column.append(&advanced.group);
        column.append(&outcome);

        let header = adw::HeaderBar::builder()
            .css_classes(["flat"])
            .show_start_title_buttons(false)
            .show_end_title_buttons(false)
            .title_widget(&title)
            .build();
        let cancel = gtk::Button::builder().label(gettext("_Cancel")).use_underline(true).build();
        cancel.set_action_name(Some("window.close"));
        let save = gtk::Button::builder()
            .label(gettext("_Save"))
            .use_underline(true)
            .css_classes(["suggested-action"])
            .build();
        header.pack_start(&cancel);
        header.pack_end(&save);
        let scroller = gtk::ScrolledWindow::builder()
            .child(&column)
            .hscrollbar_policy(gtk::PolicyType::Never)
            .propagate_natural_height(true)
            .vexpand(true)
            .build();
        let content = gtk::Box::new(gtk::Orientation::Vertical, 0);
        content.append(&header);
        content.append(&scroller);
        let window = adw::Window::builder()
            .transient_for(parent)
            .modal(true)
            .destroy_with_parent(true)
            .default_width(SIZE.0)
            .default_height(SIZE.1)
            .title(&words)
            .content(&content)
            .build();
        let old = RefCell::new(old);
        let saving = Cell::new(false);
        Self {
            window,
            name,
            url,
            kind,
            key,
            models,
            requests,
            advanced,
            test,
            save,
            cancel,
            title,
            result,
            preset,
            old,
            saving,
            manager,
        }
    }
}

/// The row that leads to where one gets a key.
fn key_link(url: &str) -> adw::ActionRow {
    let row = adw::ActionRow::builder()
        .use_markup(false)
        .title(gettext("Get a Key"))
        .subtitle(url)
        .subtitle_lines(2)
        .activatable(true)
        .build();
    row.add_suffix(&gtk::Image::from_icon_name("adw-external-link-symbolic"));
    let url = url.to_owned();
    row.connect_activated(move |row| {
        let window = row.root().and_downcast::<gtk::Window>();
        gtk::show_uri(window.as_ref(), &url, gtk::gdk::CURRENT_TIME);
    });
    row
}
