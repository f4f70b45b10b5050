//! Shows the session's plan, above the composer: a line that opens into its steps, and one with the button
//! that starts a plan which is ready.

mod ready;
mod replies;

use chat_core::manager::{Manager, SessionChange};
use chat_core::message::{ChatRequest, Content, Context, Fid, MessageId, Todo, TodoState};
use chat_core::permission::Mode;
use chat_presentation::words::{fill, one_line, visible};
use gettextrs::gettext;
use relm4::gtk::pango;
use relm4::gtk::prelude::*;

use super::folding_line::FoldingLine;
use super::handle::Handle;
use super::shown_chat::ShownChat;
use crate::accessible;
use ready::PlanReady;
use replies::PlanReplies;

/// What the person does with a plan.
#[derive(Debug)]
pub(super) enum Msg {
    /// It is to be carried out, in this mode.
    Start(Mode),
}

/// The plan of the chat that is shown.
pub(super) struct PlanBar {
    handle: Handle<Msg>,
    manager: Option<Manager>,
    line: FoldingLine,
    count: gtk::Label,
    steps: gtk::Box,
    shown: Vec<Todo>,
    ready: PlanReady,
    replies: PlanReplies,
}

impl PlanBar {
    /// No plan, which is not seen.
    pub(super) fn new(handle: Handle<Msg>) -> Self {
        let title = gtk::Label::builder().label(gettext("Plan")).css_classes(["heading"]).build();
        let count = gtk::Label::builder().css_classes(["plan-count"]).build();
        let steps = gtk::Box::builder()
            .orientation(gtk::Orientation::Vertical)
            .spacing(4)
            .css_classes(["plan-steps"])
            .build();
        let line = FoldingLine::new(&[&title, &count], &steps);
        let ready = PlanReady::new(handle.callback(Msg::Start));
        let (manager, shown, replies) = (None, Vec::new(), PlanReplies::default());
        Self { handle, manager, line, count, steps, shown, ready, replies }
    }

    pub(super) fn widget(&self) -> &gtk::Box {
        self.line.root()
    }

    /// The line that starts a plan which is ready.
    pub(super) fn ready_widget(&self) -> &gtk::Box {
        self.ready.widget()
    }

    pub(super) fn connect(&mut self, manager: Manager) {
        self.manager = Some(manager);
    }

    /// Shows this plan; none is not seen.
    pub(super) fn show(&mut self, todos: &[Todo]) {
        if self.shown == todos {
            return;
        }
        self.line.root().set_visible(!todos.is_empty());
        let done = todos.iter().filter(|todo| todo.state == TodoState::Done).count();
        let counts = [("done", done.to_string()), ("all", todos.len().to_string())];
        let counts = counts.each_ref().map(|(name, count)| (*name, count.as_str()));
        self.count.set_label(&fill(&gettext("{done} of {all}"), &counts));
        self.line.summary().set_label(&current(todos).map(one_line).unwrap_or_default());
        while let Some(step) = self.steps.first_child() {
            self.steps.remove(&step);
        }
        for todo in todos {
            self.steps.append(&step(todo));
        }
        self.shown = todos.to_vec();
        self.name();
    }

    /// Offers to start the plan at the end of a chat, which may be in this reply, or not. Whether what
    /// had the keyboard is gone with the offer.
    pub(super) fn show_ready(&mut self, chat: &ShownChat, reply: Option<MessageId>) -> bool {
        let plans = chat.mode() == Mode::Plan;
        let reply = reply.filter(|_| !chat.is_busy());
        // Of one that is being read the mode is not known.
        let fid = chat.fid().filter(|_| !chat.is_opening());
        let is_plan = fid.is_some_and(|fid| self.replies.is_plan(fid, plans, reply));
        self.ready.show(is_plan && chat.is_planning())
    }

    /// Has the plan of this chat carried out, in this mode from now on.
    pub(super) fn start(&self, fid: Fid, mode: Mode, context: Context) {
        self.ready.show(false);
        let Some(manager) = self.manager.clone() else { return };
        let request = ChatRequest {
            session: Some(fid.clone()),
            content: Content::text(gettext("Implement the plan.")),
            context,
            ..ChatRequest::default()
        };
        self.handle.run(Some(fid.clone()), async move {
            // Not before the mode holds: the reply works in that which it begins with.
            let change = SessionChange { mode: Some(mode), ..SessionChange::default() };
            manager.sessions().change(&fid, change).await?;
            manager.send(request).await.map(drop)
        });
    }

    fn name(&self) {
        let name =
            format!("{} {} {}", gettext("Plan"), self.count.label(), self.line.summary().label());
        accessible::set_label(self.line.line(), name.trim());
    }
}

/// The step that is at work, or the first that is left.
fn current(todos: &[Todo]) -> Option<&str> {
    let of = |state| todos.iter().find(move |todo| todo.state == state);
    of(TodoState::Doing).or_else(|| of(TodoState::Open)).map(|todo| todo.text.as_str())
}

fn step(todo: &Todo) -> gtk::Box {
    let (icon, word, class) = match todo.state {
        TodoState::Done => ("object-select-symbolic", gettext("Done"), "done"),
        TodoState::Doing => ("content-loading-symbolic", gettext("In progress"), "doing"),
        TodoState::Open => ("radio-symbolic", gettext("To do"), "open"),
    };
    let image = gtk::Image::builder()
        .icon_name(icon)
        .valign(gtk::Align::Start)
        .tooltip_text(&word)
        .css_classes([class])
        .build();
    accessible::set_label(&image, &word);
    let text = visible(&todo.text);
    let label = gtk::Label::builder()
        .label(&*text)
        .use_markup(false)
        .wrap(true)
        .wrap_mode(pango::WrapMode::WordChar)
        .xalign(0.0)
        .css_classes([class])
        .build();
    let line = gtk::Box::builder().spacing(8).build();
    line.append(&image);
    line.append(&label);
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn todo(text: &str, state: TodoState) -> Todo {
        Todo { text: text.to_owned(), state }
    }

    #[test]
    fn the_step_at_work_is_named() {
        use TodoState::{Doing, Done, Open};
        let all = [todo("a", Done), todo("b", Open), todo("c", Doing)];
        assert_eq!(current(&all), Some("c"));
        assert_eq!(current(&all[..2]), Some("b"));
        assert_eq!(current(&all[..1]), None);
    }
}
