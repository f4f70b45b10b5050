//! Opens the menu of a message: by the right button anywhere over it, by the Menu key in it, and by its button.

use std::rc::Rc;
use std::sync::Arc;

use gettextrs::gettext;
use gtk::prelude::*;
use gtk::{gdk, gio, glib};

use chat_core::message::{DeleteScope, Message, MessageId, Role};

use super::{Inner, State};
use crate::conversation::model::copies::{as_html, as_plain};
use crate::conversation::rows::Rows;
use crate::conversation::widgets::context::Output;
use crate::conversation::widgets::details;
use crate::{accessible, popover};

/// What the menu offers for a message.
#[derive(Default)]
struct Offer {
    /// The address of the link below the pointer.
    link: Option<Rc<str>>,
    /// The formula below the pointer, as it was written.
    formula: Option<String>,
    /// The text that is selected.
    selection: Option<String>,
    /// The same as Markdown.
    source: Option<String>,
    /// The message whose text can be copied.
    copy: Option<MessageId>,
    /// The reply about which more is known.
    details: Option<Arc<Message>>,
    /// The reply that can be asked for again.
    regenerate: Option<MessageId>,
    /// The user's message that can be edited.
    edit: Option<MessageId>,
    /// The message that can be deleted, and up to which a new chat can be made.
    change: Option<MessageId>,
    /// Whether the message is one that replies answer.
    is_own: bool,
    /// The agents that the reply can be asked of, each with its name and its title.
    kinds: Vec<(String, String)>,
    /// The message to which files can be restored.
    restore: Option<MessageId>,
}

impl Inner {
    /// Opens the menu for the right button and the Menu key.
    pub fn listen_for_menu(self: &Rc<Self>) {
        let click = gtk::GestureClick::builder()
            .button(gdk::BUTTON_SECONDARY)
            // Before the texts, which have a menu of GTK's.
            .propagation_phase(gtk::PropagationPhase::Capture)
            .build();
        let weak = Rc::downgrade(self);
        click.connect_pressed(move |gesture, _, x, y| {
            let Some(inner) = weak.upgrade() else { return };
            let Some(widget) = inner.column.pick(x, y, gtk::PickFlags::DEFAULT) else { return };
            if inner.open_menu(&widget, (x, y)).is_some() {
                gesture.set_state(gtk::EventSequenceState::Claimed);
            }
        });
        self.column.add_controller(click);

        let keys = gtk::EventControllerKey::new();
        keys.set_propagation_phase(gtk::PropagationPhase::Capture);
        let weak = Rc::downgrade(self);
        keys.connect_key_pressed(move |_, key, _, modifiers| {
            let held = modifiers & gtk::accelerator_get_default_mod_mask();
            let is_menu = (key == gdk::Key::Menu && held.is_empty())
                || (key == gdk::Key::F10 && held == gdk::ModifierType::SHIFT_MASK);
            let opened = is_menu && weak.upgrade().is_some_and(|inner| inner.open_menu_at_focus());
            if opened { glib::Propagation::Stop } else { glib::Propagation::Proceed }
        });
        self.column.add_controller(keys);
    }

    fn open_menu_at_focus(self: &Rc<Self>) -> bool {
        let Some(focus) = self.column.root().and_then(|root| root.focus()) else { return false };
        let (x, y) = match focus.downcast_ref::<gtk::TextView>() {
            Some(view) => {
                let cursor = view.buffer().iter_at_offset(view.buffer().cursor_position());
                let place = view.iter_location(&cursor);
                let window = gtk::TextWindowType::Widget;
                view.buffer_to_window_coords(window, place.x(), place.y() + place.height() / 2)
            }
            None => (0, focus.height() / 2),
        };
        let point = focus.translate_coordinates(&self.column, f64::from(x), f64::from(y));
        point.is_some_and(|point| self.open_menu(&focus, point).is_some())
    }

    /// Opens the menu of the message that a button belongs to, below the button.
    pub(super) fn open_menu_of(self: &Rc<Self>, button: &gtk::Button) {
        let edge = f64::from(button.height());
        let point = button.translate_coordinates(&self.column, 0.0, edge);
        let menu = point.and_then(|point| self.open_menu(button.upcast_ref(), point));
        let Some(menu) = menu else { return };
        accessible::set_expanded(button, true);
        let button = button.downgrade();
        menu.connect_closed(move |_| {
            if let Some(button) = button.upgrade() {
                accessible::set_expanded(&button, false);
            }
        });
    }

    /// Opens the menu of the message that a widget of the column belongs to, at a point of the column.
    /// None where there is none: a text that is being written has GTK's menu, which can paste.
    fn open_menu(
        self: &Rc<Self>,
        widget: &gtk::Widget,
        point: (f64, f64),
    ) -> Option<gtk::PopoverMenu> {
        let offer = self.state.try_borrow().ok().and_then(|state| offer(&state, widget, point));
        let (x, y) =
            self.column.translate_coordinates(&self.root, point.0, point.1).unwrap_or(point);
        let place = gdk::Rectangle::new(x as i32, y as i32, 1, 1);
        let menu = self.menu(offer?, place);
        if menu.n_items() == 0 {
            return None;
        }
        let menu = gtk::PopoverMenu::from_model(Some(&menu));
        menu.set_pointing_to(Some(&place));
        menu.set_has_arrow(false);
        menu.set_halign(gtk::Align::Start);
        let before = glib::WeakRef::new();
        before.set(self.root.root().and_then(|root| root.focus()).as_ref());
        popover::show_once(menu.upcast_ref(), &self.root);
        menu.connect_closed(move |_| popover::give_back_focus(&before));
        Some(menu)
    }

    /// The menu, with its actions behind it. `place`: where it opens.
    fn menu(&self, offer: Offer, place: gdk::Rectangle) -> gio::Menu {
        let items = Items { actions: gio::SimpleActionGroup::new(), menu: gio::Menu::new() };
        let wants = |wanted: Output| {
            let output = Rc::clone(&self.output);
            move || output(wanted.clone())
        };
        let copies = |text: String| {
            let clipboard = self.root.clipboard();
            move || clipboard.set_text(&text)
        };
        if let Some(link) = offer.link {
            let opened = Rc::clone(&self.state.borrow().rows.context.links.opened);
            let address = Rc::clone(&link);
            let section = gio::Menu::new();
            items.add(&section, &gettext("Open Link"), "open-link", move || opened(&address));
            let copied = copies(link.to_string());
            items.add(&section, &gettext("Copy Link Address"), "copy-link", copied);
            items.menu.append_section(None, &section);
        }
        if let Some(source) = offer.formula {
            let section = gio::Menu::new();
            let copied = copies(source);
            items.add(&section, &gettext("Copy as TeX"), "copy-tex", copied);
            items.menu.append_section(None, &section);
        }
        let text_of = |id: Option<MessageId>| {
            id.and_then(|id| self.state.borrow().transcript.text_of(id)).filter(|it| !it.is_empty())
        };
        let text = text_of(offer.copy);
        let selected = offer.source.clone().or_else(|| offer.selection.clone());
        let quoted = selected.or_else(|| text.clone());
        if let Some(text) = offer.selection {
            let section = gio::Menu::new();
            items.add(&section, &gettext("Copy"), "copy", copies(text.clone()));
            if let Some(source) = offer.source.filter(|source| *source != text) {
                let copied = copies(source);
                items.add(&section, &gettext("Copy as Markdown"), "copy-source", copied);
            }
            items.menu.append_section(None, &section);
        }
        let section = gio::Menu::new();
        if let Some(id) = offer.copy {
            let copy = Rc::clone(&self.state.borrow().rows.context.copy);
            items.add(&section, &gettext("Copy Message"), "copy-message", move || copy(id));
        }
        if let Some(text) = text {
            let plain = as_plain(&text);
            let copied = copies(plain.clone());
            items.add(&section, &gettext("Copy as Plain Text"), "copy-plain", copied);
            let clipboard = self.root.clipboard();
            let copied = move || copy_rich(&clipboard, &as_html(&text), &plain);
            items.add(&section, &gettext("Copy as Rich Text"), "copy-rich", copied);
        }
        if let Some(text) = quoted {
            items.add(&section, &gettext("Quote in Reply"), "quote", wants(Output::Quote(text)));
        }
        if section.n_items() > 0 {
            items.menu.append_section(None, &section);
        }
        let section = gio::Menu::new();
        if let Some(id) = offer.edit {
            items.add(&section, &gettext("Edit and Resend"), "edit", wants(Output::Edit(id)));
        }
        if let Some(reply) = offer.regenerate {
            let again = wants(Output::Regenerate { reply, agent: None });
            items.add(&section, &gettext("Regenerate"), "regenerate", again);
            let output = Rc::clone(&self.output);
            let again = move || {
                let output = Rc::clone(&output);
                // Only after the menu has given back the keyboard, which the list of models takes.
                glib::idle_add_local_once(move || output(Output::RegenerateWithModel(reply)));
            };
            let name = gettext("Regenerate With Another Model…");
            items.add(&section, &name, "regenerate-model", again);
            let agents = gio::Menu::new();
            for (at, (agent, title)) in offer.kinds.into_iter().enumerate() {
                let again = wants(Output::Regenerate { reply, agent: Some(agent) });
                items.add(&agents, &title, &format!("regenerate-agent-{at}"), again);
            }
            if agents.n_items() > 0 {
                let name = gettext("Regenerate With Another Agent");
                section.append_submenu(Some(&name), &agents);
            }
        }
        if let Some(id) = offer.restore {
            let restored = wants(Output::Restore(id));
            items.add(&section, &gettext("Restore Files to This Point…"), "restore", restored);
        }
        if section.n_items() > 0 {
            items.menu.append_section(None, &section);
        }
        if let Some(message) = offer.change {
            let section = gio::Menu::new();
            let forked = wants(Output::Fork(message));
            items.add(&section, &gettext("Fork into New Chat"), "fork", forked);
            let deleted = wants(Output::Delete { message, scope: DeleteScope::Message });
            let name = if offer.is_own {
                gettext("Delete Message and Replies")
            } else {
                gettext("Delete Message")
            };
            items.add(&section, &name, "delete", deleted);
            let deleted = wants(Output::Delete { message, scope: DeleteScope::Branch });
            items.add(&section, &gettext("Delete From Here"), "delete-branch", deleted);
            items.menu.append_section(None, &section);
        }
        if let Some(message) = offer.details {
            let section = gio::Menu::new();
            let (root, prices) =
                (self.root.downgrade(), self.state.borrow().rows.context.prices.clone());
            items.add(&section, &gettext("Details"), "details", move || {
                let Some(root) = root.upgrade() else { return };
                let price = message.model.as_ref().and_then(|model| prices.of(model));
                let popover = details::popover(&message, price);
                popover.set_pointing_to(Some(&place));
                // Only after the menu has given back the keyboard.
                glib::idle_add_local_once(move || popover::show_once(&popover, &root));
            });
            items.menu.append_section(None, &section);
        }
        self.root.insert_action_group("message", Some(&items.actions));
        items.menu
    }
}

/// A menu that is being made, and its actions.
struct Items {
    actions: gio::SimpleActionGroup,
    menu: gio::Menu,
}

impl Items {
    fn add(&self, section: &gio::Menu, label: &str, name: &str, run: impl Fn() + 'static) {
        let action = gio::SimpleAction::new(name, None);
        action.connect_activate(move |_, _| run());
        self.actions.add_action(&action);
        section.append(Some(label), Some(&format!("message.{name}")));
    }
}

/// What the menu offers at a point of the column; none where there is no message, or a text that is
/// being written.
fn offer(state: &State, widget: &gtk::Widget, (x, y): (f64, f64)) -> Option<Offer> {
    if is_written_in(widget) {
        return None;
    }
    let State { transcript, rows, .. } = state;
    let row = rows.index_of(widget).or_else(|| rows.between(y))?;
    let entry = Rows::entry_of(row, &transcript.entries);
    let message = &transcript.entries[entry];
    let id = message.id();
    let has_text = !message.text().is_empty();
    let rests = !transcript.is_busy() && transcript.session.is_some();
    let is_reply = message.message.role == Role::Assistant;
    let is_own = message.message.role == Role::User;
    Some(Offer {
        link: rows.link_at(row, widget, (x, y)),
        formula: rows.formula_at(row, (x, y)),
        selection: state.selected_text().or_else(|| selection(widget)),
        source: state.selected_markdown(),
        copy: has_text.then_some(id),
        details: details::has_details(&message.message).then(|| Arc::clone(&message.message)),
        regenerate: (is_reply && rests).then_some(id),
        edit: (message.message.is_of_user() && !message.message.content().is_empty()).then_some(id),
        change: ((is_own || is_reply) && rests).then_some(id),
        is_own,
        kinds: rows.context.kinds.borrow().clone(),
        restore: (is_own && rows.context.has_project.get()).then_some(id),
    })
}

/// Whether the person can write in a widget.
fn is_written_in(widget: &gtk::Widget) -> bool {
    let view = widget.downcast_ref::<gtk::TextView>();
    widget.is::<gtk::Text>() || view.is_some_and(gtk::TextView::is_editable)
}

/// The text that is selected in a widget.
fn selection(widget: &gtk::Widget) -> Option<String> {
    let text = if let Some(view) = widget.downcast_ref::<gtk::TextView>() {
        let (start, end) = view.buffer().selection_bounds()?;
        // Line ends that other programs know.
        view.buffer().text(&start, &end, false).replace('\u{2028}', "\n")
    } else {
        let label = widget.downcast_ref::<gtk::Label>()?;
        let (start, end) = label.selection_bounds()?;
        let (start, end) = (usize::try_from(start).ok()?, usize::try_from(end).ok()?);
        label.text().chars().skip(start).take(end.saturating_sub(start)).collect()
    };
    (!text.is_empty()).then_some(text)
}

/// Puts a text on the clipboard, with its formatting for programs that take it.
fn copy_rich(clipboard: &gdk::Clipboard, html: &str, text: &str) {
    let html = glib::Bytes::from(html.as_bytes());
    let both = [
        gdk::ContentProvider::for_bytes("text/html", &html),
        gdk::ContentProvider::for_value(&text.to_value()),
    ];
    if let Err(error) = clipboard.set_content(Some(&gdk::ContentProvider::new_union(&both))) {
        tracing::warn!(%error, "nothing was copied");
    }
}
