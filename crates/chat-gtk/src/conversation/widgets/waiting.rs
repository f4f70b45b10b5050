//! Draws the messages that wait to be sent, each with buttons that edit, move, remove and send it.

use std::cell::RefCell;
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
    id: MessageId,
    buttons: Vec<gtk::Button>,
    /// What an agent reports.
    report: Option<ReportCard>,
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
        while let Some(row) = self.root.first_child() {
            self.root.remove(&row);
        }
        let rows: Vec<Row> = (0..queue.len()).map(|at| self.row(queue, at, held)).collect();
        if let Some((id, button)) = focused {
            focus_again(&rows, id, button, &self.output);
        }
        self.rows.replace(rows);
        self.shown.replace((queue.to_vec(), held));
    }

    /// The message and the place of its button that has the keyboard.
    fn focused(&self) -> Option<(MessageId, usize)> {
        let rows = self.rows.borrow();
        rows.iter().find_map(|row| {
            let at = row.buttons.iter().position(gtk::prelude::WidgetExt::has_focus)?;
            Some((row.id, at))
        })
    }

    fn row(&self, queue: &[Queued], at: usize, held: bool) -> Row {
        let queued = &queue[at];
        let id = queued.id;
        let at_or_none = |at: Option<usize>| at.and_then(|at| queue.get(at)).map(|it| it.id);
        let (above, below) = (at_or_none(at.checked_sub(1)), at_or_none(Some(at + 1)));
        let after_below = at_or_none(Some(at + 2));
        let send = |output: Output| {
            let to = Rc::clone(&self.output);
            move || to(output.clone())
        };
        let edit = send(Output::Unqueue { id, before: below });
        let up = above.map(|above| send(Output::MoveWaiting { id, before: Some(above) }));
        let down = below.map(|_| send(Output::MoveWaiting { id, before: after_below }));

        let line = wrap_at_end();
        let words = match (held, queued.delivery) {
            (true, _) => gettext("Not sent"),
            (false, Delivery::Steer) => gettext("Sent after this step"),
            (false, Delivery::Queue | Delivery::Interrupt) => gettext("Sent after this reply"),
        };
        let label = gtk::Label::builder().label(words).css_classes(["caption"]).build();
        line.append(&label);
        let worded = |label: String, hint: &str, act: Rc<dyn Fn()>| {
            let button = gtk::Button::builder()
                .label(label)
                .tooltip_text(hint)
                .css_classes(["flat", "caption"])
                .build();
            button.connect_clicked(move |_| act());
            button
        };
        let pictured = |icon: &str, name: String, act: Option<Rc<dyn Fn()>>| {
            let button = gtk::Button::builder()
                .icon_name(icon)
                .tooltip_text(&name)
                .sensitive(act.is_some())
                .valign(gtk::Align::Center)
                .css_classes(["flat", "caption"])
                .build();
            accessible::set_label(&button, &name);
            button.connect_clicked(move |_| act.iter().for_each(|act| act()));
            button
        };
        let up = up.map(|act| Rc::new(act) as Rc<dyn Fn()>);
        let down = down.map(|act| Rc::new(act) as Rc<dyn Fn()>);
        let now = if held {
            gettext("Send this message before the others")
        } else {
            gettext("Stop the reply and send this message")
        };
        let hint = gettext("Move this message back to the message field");
        let buttons = vec![
            worded(gettext("Edit Message"), &hint, Rc::new(edit)),
            worded(gettext("Send Now"), &now, Rc::new(send(Output::DeliverNow(id)))),
            pictured("go-up-symbolic", gettext("Move Up (Alt+Up)"), up.clone()),
            pictured("go-down-symbolic", gettext("Move Down (Alt+Down)"), down.clone()),
            pictured(
                "window-close-symbolic",
                gettext("Remove Message"),
                Some(Rc::new(send(Output::RemoveWaiting(id)))),
            ),
        ];
        // Those that belong together stay on one line.
        let pictures = gtk::Box::builder().spacing(4).build();
        for button in &buttons[..2] {
            line.append(button);
        }
        for button in &buttons[2..] {
            pictures.append(button);
        }
        line.append(&pictures);
        // What an agent says is not the user's to change.
        buttons[0].set_visible(queued.content.agent.is_none());
        // One message alone has no place to move to.
        for button in &buttons[2..4] {
            button.set_visible(queue.len() > 1);
        }
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
        root.insert_action_group(GROUP, Some(&moves(up, down)));
        self.root.append(&root);
        Row { id, buttons, report }
    }
}

fn moves(up: Option<Rc<dyn Fn()>>, down: Option<Rc<dyn Fn()>>) -> gio::SimpleActionGroup {
    let group = gio::SimpleActionGroup::new();
    for (name, act) in [(UP, up), (DOWN, down)] {
        let action = gio::SimpleAction::new(name, None);
        action.connect_activate(move |_, _| act.iter().for_each(|act| act()));
        group.add_action(&action);
    }
    group
}

/// The keyboard stays on the same button of the same message. Where that is gone, or cannot be
/// pressed any more, it is on the next one.
fn focus_again(rows: &[Row], id: MessageId, button: usize, output: &Rc<dyn Fn(Output)>) {
    let row = rows.iter().find(|row| row.id == id);
    let buttons = || row.into_iter().flat_map(|row| &row.buttons);
    let usable = |it: &&gtk::Button| it.is_sensitive() && it.is_visible();
    let next = buttons().skip(button).find(usable).or_else(|| buttons().find(usable));
    match next {
        Some(button) => {
            button.grab_focus();
        }
        None => output(Output::KeyboardLost),
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
