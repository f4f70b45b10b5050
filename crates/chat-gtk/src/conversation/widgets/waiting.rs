//! Draws the messages that wait to be sent, each with buttons that edit, move, remove and send it.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use gettextrs::gettext;
use gtk::gio;
use gtk::prelude::*;

use chat_core::message::{Attachment, Delivery, FromAgent, MessageId, Queued};
use chat_presentation::words::from_agent;

use super::user;
use crate::accessible;
use crate::conversation::widgets::context::{Output, WidgetContext};
use crate::conversation::widgets::report::{AGENT, ReportCard};
use crate::conversation::widgets::tags::Tags;
use crate::wrap::wrap_at_end;

/// The name of a row's action group, and its actions.
const GROUP: &str = "waiting";
const UP: &str = "move-up";
const DOWN: &str = "move-down";

/// The places of the arrows among the buttons of a row.
const AT_UP: usize = 2;
const AT_DOWN: usize = 3;

/// Moves the waiting message that has the keyboard up or down. Returns whether one has it.
pub fn move_focused(root: &impl IsA<gtk::Root>, up: bool) -> bool {
    let action = format!("{GROUP}.{}", if up { UP } else { DOWN });
    RootExt::focus(root).is_some_and(|focus| focus.activate_action(&action, None).is_ok())
}

/// The messages that wait, in their order.
pub struct WaitingMessages {
    root: gtk::Box,
    output: Rc<dyn Fn(Output)>,
    context: WidgetContext,
    rows: RefCell<Vec<Row>>,
    /// What is shown, and whether it goes out only when the person sends it.
    shown: RefCell<(Vec<Queued>, bool)>,
}

struct Row {
    queued: Queued,
    root: gtk::Box,
    /// When it is sent.
    words: gtk::Label,
    buttons: Vec<gtk::Button>,
    place: Rc<Cell<Place>>,
    /// What an agent reports.
    report: Option<ReportCard>,
}

/// What waits next to a message.
#[derive(Clone, Copy, Default)]
struct Place {
    above: Option<MessageId>,
    below: Option<MessageId>,
    after_below: Option<MessageId>,
}

impl Place {
    fn of(queue: &[Queued], at: usize) -> Self {
        let id = |at: usize| queue.get(at).map(|queued| queued.id);
        let above = at.checked_sub(1).and_then(id);
        Self { above, below: id(at + 1), after_below: id(at + 2) }
    }
}

impl WaitingMessages {
    /// Nothing yet.
    pub fn new(context: &WidgetContext) -> Self {
        let root = gtk::Box::new(gtk::Orientation::Vertical, 6);
        let (output, context) = (Rc::clone(&context.output), context.clone());
        Self { root, output, context, rows: RefCell::default(), shown: RefCell::default() }
    }

    /// Takes the theme's colours.
    pub fn recolour(&self, tags: &Tags) {
        let rows = self.rows.borrow();
        for report in rows.iter().filter_map(|row| row.report.as_ref()) {
            report.recolour(tags);
        }
    }

    /// The widget.
    pub fn widget(&self) -> &gtk::Box {
        &self.root
    }

    /// Shows these. `held`: nothing is at work, so that nothing goes out before the person sends it.
    pub fn show(&self, queue: &[Queued], held: bool) {
        self.root.set_visible(!queue.is_empty());
        let is_shown = {
            let shown = self.shown.borrow();
            shown.0 == queue && (shown.1 == held || queue.is_empty())
        };
        if is_shown {
            return;
        }
        let focused = self.focused();
        let mut before = self.rows.take();
        let mut rows: Vec<Row> = Vec::with_capacity(queue.len());
        for (at, queued) in queue.iter().enumerate() {
            let is_it =
                |row: &Row| row.queued.id == queued.id && row.queued.content == queued.content;
            // A message that stays keeps its widgets: one of them may have the keyboard, or a menu.
            let row = match before.iter().position(is_it) {
                Some(place) => before.remove(place),
                None => self.row(queued),
            };
            let above = rows.last().map(|row| &row.root);
            if row.root.parent().is_some() {
                self.root.reorder_child_after(&row.root, above);
            } else {
                self.root.insert_child_after(&row.root, above);
            }
            row.set(queued, Place::of(queue, at), held);
            rows.push(row);
        }
        if let Some((id, button)) = focused {
            focus_again(&rows, id, button);
        }
        for gone in before {
            if gone.remove_from(&self.root) {
                (self.output)(Output::KeyboardLost);
            }
        }
        self.rows.replace(rows);
        self.shown.replace((queue.to_vec(), held));
    }

    /// The message and the place of its button that has the keyboard.
    fn focused(&self) -> Option<(MessageId, usize)> {
        let rows = self.rows.borrow();
        rows.iter().find_map(|row| {
            let at = row.buttons.iter().position(gtk::prelude::WidgetExt::is_focus)?;
            Some((row.queued.id, at))
        })
    }

    /// The widgets of a message, which has no place yet.
    fn row(&self, queued: &Queued) -> Row {
        let id = queued.id;
        let place: Rc<Cell<Place>> = Rc::default();
        let act = |wanted: fn(MessageId, Place) -> Option<Output>| -> Rc<dyn Fn()> {
            let (told, place) = (Rc::clone(&self.output), Rc::clone(&place));
            Rc::new(move || wanted(id, place.get()).into_iter().for_each(|output| told(output)))
        };
        let edit = act(|id, place| Some(Output::Unqueue { id, before: place.below }));
        let now = act(|id, _| Some(Output::DeliverNow(id)));
        let up = act(|id, place| {
            place.above.map(|above| Output::MoveWaiting { id, before: Some(above) })
        });
        let down = act(|id, place| {
            place.below.map(|_| Output::MoveWaiting { id, before: place.after_below })
        });
        let remove = act(|id, place| Some(Output::RemoveWaiting { id, before: place.below }));
        let moves = moves(Rc::clone(&up), Rc::clone(&down));

        let buttons = vec![
            worded(&gettext("Edit Message"), edit),
            worded(&gettext("Send Now"), now),
            pictured("go-up-symbolic", &gettext("Move Up (Alt+Up)"), up),
            pictured("go-down-symbolic", &gettext("Move Down (Alt+Down)"), down),
            pictured("window-close-symbolic", &gettext("Remove Message"), remove),
        ];
        let hint = gettext("Move this message back to the message field");
        buttons[0].set_tooltip_text(Some(&hint));
        // What an agent says is not the user's to change.
        buttons[0].set_visible(queued.content.agent.is_none());
        let words = gtk::Label::builder().css_classes(["caption"]).build();
        let line = wrap_at_end();
        line.append(&words);
        // Those that belong together stay on one line.
        let pictures = gtk::Box::builder().spacing(4).build();
        for button in &buttons[..2] {
            line.append(button);
        }
        for button in &buttons[2..] {
            pictures.append(button);
        }
        line.append(&pictures);

        let root = gtk::Box::builder()
            .orientation(gtk::Orientation::Vertical)
            .halign(gtk::Align::End)
            .css_classes(["queued"])
            .build();
        let report = if let Some(FromAgent::Report(report)) = &queued.content.agent {
            let card = ReportCard::new(report, &self.context);
            root.set_halign(gtk::Align::Fill);
            root.append(card.widget());
            Some(card)
        } else {
            root.append(&user::bubble(&queued.content.text, &chips(queued)).0);
            None
        };
        root.append(&line);
        root.insert_action_group(GROUP, Some(&moves));
        Row { queued: queued.clone(), root, words, buttons, place, report }
    }
}

impl Row {
    /// Shows how the message waits now. `held`: it goes out only when the person sends it.
    fn set(&self, queued: &Queued, place: Place, held: bool) {
        self.place.set(place);
        let words = match (held, queued.delivery) {
            (true, _) => gettext("Not sent"),
            (false, Delivery::Steer) => gettext("Sent after this step"),
            (false, Delivery::Queue | Delivery::Interrupt) => gettext("Sent after this reply"),
        };
        self.words.set_label(&words);
        let now = if held {
            gettext("Send this message before the others")
        } else {
            gettext("Stop the reply and send this message")
        };
        self.buttons[1].set_tooltip_text(Some(&now));
        let (up, down) = (&self.buttons[AT_UP], &self.buttons[AT_DOWN]);
        up.set_sensitive(place.above.is_some());
        down.set_sensitive(place.below.is_some());
        // One message alone has no place to move to.
        let moves = place.above.is_some() || place.below.is_some();
        up.set_visible(moves);
        down.set_visible(moves);
    }

    /// Removes the message's widgets. Returns whether one of them had the keyboard.
    fn remove_from(self, list: &gtk::Box) -> bool {
        let has_keyboard = |root: &gtk::Root| {
            RootExt::focus(root).is_some_and(|focus| focus.is_ancestor(&self.root))
        };
        let root = self.root.root().filter(has_keyboard);
        if let Some(root) = &root {
            // GTK would look for another place for the keyboard from a widget that is gone by then.
            RootExt::set_focus(root, None::<&gtk::Widget>);
        }
        list.remove(&self.root);
        root.is_some()
    }
}

fn worded(label: &str, act: Rc<dyn Fn()>) -> gtk::Button {
    let button = gtk::Button::builder().label(label).css_classes(["flat", "caption"]).build();
    button.connect_clicked(move |_| act());
    button
}

fn pictured(icon: &str, name: &str, act: Rc<dyn Fn()>) -> gtk::Button {
    let button = gtk::Button::builder()
        .icon_name(icon)
        .tooltip_text(name)
        .valign(gtk::Align::Center)
        .css_classes(["flat", "caption"])
        .build();
    accessible::set_label(&button, name);
    button.connect_clicked(move |_| act());
    button
}

/// The actions of the keys that move a message.
fn moves(up: Rc<dyn Fn()>, down: Rc<dyn Fn()>) -> gio::SimpleActionGroup {
    let group = gio::SimpleActionGroup::new();
    for (name, act) in [(UP, up), (DOWN, down)] {
        let action = gio::SimpleAction::new(name, None);
        action.connect_activate(move |_, _| act());
        group.add_action(&action);
    }
    group
}

/// The keyboard stays on the same button of the same message. Where that cannot be pressed any more, an
/// arrow leaves it to the other one: the button after it removes the message. Else it is on the next one.
fn focus_again(rows: &[Row], id: MessageId, button: usize) {
    let row = rows.iter().find(|row| row.queued.id == id);
    let buttons = || row.into_iter().flat_map(|row| &row.buttons);
    let usable = |it: &&gtk::Button| it.is_sensitive() && it.is_visible();
    let from = if button == AT_DOWN { AT_UP } else { button };
    let same = buttons().nth(button).filter(usable);
    let next = same.or_else(|| buttons().skip(from).find(usable));
    let next = next.or_else(|| buttons().find(usable));
    if let Some(button) = next {
        button.grab_focus();
    }
}

fn chips(queued: &Queued) -> Vec<(&'static str, String)> {
    let chip = |attachment: &Attachment| match attachment {
        Attachment::Image { .. } => Some(("image-x-generic-symbolic", gettext("Image"))),
        Attachment::File { name, .. } => Some(("text-x-generic-symbolic", name.clone())),
        // The message names it.
        Attachment::Command(_) => None,
    };
    let attached = queued.content.attachments.iter().filter_map(chip);
    let agent = queued.content.agent.iter().map(|agent| (AGENT, from_agent(agent)));
    attached.chain(agent).collect()
}
