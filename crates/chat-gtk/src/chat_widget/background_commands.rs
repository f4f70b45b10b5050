//! Shows the commands that run in the background of the chat, above the composer: a line that opens into
//! them, each with a button that ends it.

use std::rc::Rc;

use chat_core::manager::Manager;
use chat_core::message::{BackgroundCommand, Fid};
use chat_presentation::words::{bytes, fill, one_line, visible};
use gettextrs::{gettext, ngettext};
use relm4::gtk::prelude::*;
use relm4::gtk::{glib, pango};

use super::folding_line::FoldingLine;
use super::handle::Handle;
use crate::models::has_keyboard;
use crate::{accessible, adaptive_pair};

/// What the person does with the commands.
#[derive(Debug)]
pub(super) enum Msg {
    /// The command of this name is to end.
    End(String),
}

/// The commands of the chat that is shown.
pub(super) struct BackgroundCommands {
    handle: Handle<Msg>,
    manager: Option<Manager>,
    /// The chat that they are of.
    fid: Option<Fid>,
    list: List,
}

impl BackgroundCommands {
    /// No commands, which is not seen.
    pub(super) fn new(handle: Handle<Msg>) -> Self {
        let list = List::new(handle.callback(Msg::End));
        Self { handle, manager: None, fid: None, list }
    }

    pub(super) fn widget(&self) -> &gtk::Box {
        self.list.line.root()
    }

    pub(super) fn connect(&mut self, manager: Manager) {
        self.manager = Some(manager);
    }

    /// Shows these commands of a chat; none is not seen. Whether what had the keyboard is gone with them.
    pub(super) fn show(&mut self, fid: Option<Fid>, commands: &[BackgroundCommand]) -> bool {
        self.fid = fid;
        self.list.show(commands)
    }

    pub(super) fn update(&self, Msg::End(id): Msg) {
        let (Some(manager), Some(fid)) = (self.manager.clone(), self.fid.clone()) else { return };
        self.handle.run(Some(fid.clone()), async move {
            manager.commands().end(&fid, &id).await.map(drop)
        });
    }
}

/// The widgets.
struct List {
    line: FoldingLine,
    title: gtk::Label,
    column: gtk::Box,
    rows: Vec<Row>,
    end: Rc<dyn Fn(String)>,
}

/// A command.
struct Row {
    /// What it is, besides how much it wrote: every chat counts its commands from one.
    of: BackgroundCommand,
    widget: gtk::Box,
    about: gtk::Label,
}

impl Row {
    fn is_of(&self, command: &BackgroundCommand) -> bool {
        let BackgroundCommand { id, command, since, bytes: _ } = command;
        self.of.id == *id && self.of.command == *command && self.of.since == *since
    }
}

impl List {
    /// No commands. `end` is told which command is to end.
    fn new(end: impl Fn(String) + 'static) -> Self {
        let title = gtk::Label::builder().css_classes(["heading"]).build();
        let column = gtk::Box::builder()
            .orientation(gtk::Orientation::Vertical)
            .spacing(8)
            .css_classes(["background-commands"])
            .build();
        let line = FoldingLine::new(&[&title], &column);
        Self { line, title, column, rows: Vec::new(), end: Rc::new(end) }
    }

    /// Shows these commands; none is not seen. Whether what had the keyboard is gone with them.
    fn show(&mut self, commands: &[BackgroundCommand]) -> bool {
        let mut lost = false;
        self.rows.retain(|row| {
            let stays = commands.iter().any(|command| row.is_of(command));
            if !stays {
                lost |= has_keyboard(&row.widget);
                self.column.remove(&row.widget);
            }
            stays
        });
        for command in commands {
            if let Some(row) = self.rows.iter().find(|row| row.is_of(command)) {
                row.about.set_label(&about(command));
            } else {
                let row = self.row(command);
                self.column.append(&row.widget);
                self.rows.push(row);
            }
        }
        let count = u32::try_from(commands.len()).unwrap_or(u32::MAX);
        let title =
            ngettext("{n} command in the background", "{n} commands in the background", count);
        self.title.set_label(&fill(&title, &[("n", &count.to_string())]));
        let newest = commands.last().map(|command| one_line(&command.command));
        self.line.summary().set_label(&newest.unwrap_or_default());
        let name = format!("{} {}", self.title.label(), self.line.summary().label());
        accessible::set_label(self.line.line(), name.trim());
        if commands.is_empty() {
            lost |= has_keyboard(self.line.root());
            self.line.close();
        } else if lost {
            lost = !self.line.line().grab_focus();
        }
        self.line.root().set_visible(!commands.is_empty());
        lost
    }

    fn row(&self, command: &BackgroundCommand) -> Row {
        let label = |text: &str, class: &str| {
            gtk::Label::builder()
                .label(text)
                .use_markup(false)
                .xalign(0.0)
                .wrap(true)
                .wrap_mode(pango::WrapMode::WordChar)
                .css_classes([class])
                .build()
        };
        let text = visible(&command.command);
        let about = label(&about(command), "plan-count");
        let words = gtk::Box::new(gtk::Orientation::Vertical, 2);
        words.append(&label(&text, "background-command"));
        words.append(&about);
        let end = gtk::Button::builder().label(gettext("Stop")).valign(gtk::Align::Center).build();
        let name = gettext("Stop {command}");
        accessible::set_label(&end, &fill(&name, &[("command", &one_line(&command.command))]));
        let (told, id) = (Rc::clone(&self.end), command.id.clone());
        end.connect_clicked(move |end| {
            // It takes a moment until its processes are gone.
            end.set_sensitive(false);
            told(id.clone());
        });
        Row { of: command.clone(), widget: adaptive_pair::words(&words, &end), about }
    }
}

/// Since when it runs, and how much it wrote.
fn about(command: &BackgroundCommand) -> String {
    let began = glib::DateTime::from_unix_local(command.since.as_second());
    let time = began.and_then(|began| began.format("%H:%M")).unwrap_or_default();
    let since = fill(&gettext("Started at {time}"), &[("time", &time)]);
    if command.bytes == 0 {
        return since;
    }
    let wrote = fill(&gettext("{size} of output"), &[("size", &bytes(command.bytes))]);
    format!("{since} · {wrote}")
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    fn command(id: &str, text: &str, bytes: u64) -> BackgroundCommand {
        let since = "2026-01-15T12:00:00Z".parse().expect("a time");
        BackgroundCommand { id: id.to_owned(), command: text.to_owned(), since, bytes }
    }

    #[gtk::test]
    fn a_command_is_there_while_it_runs_and_its_button_ends_it() {
        crate::init();
        let ended: Rc<RefCell<Vec<String>>> = Rc::default();
        let told = Rc::clone(&ended);
        let mut shown = List::new(move |id| told.borrow_mut().push(id));
        assert!(!shown.show(&[]) && !shown.line.root().is_visible());
        let both = [command("a", "npm start", 0), command("b", "cargo watch", 20)];
        assert!(!shown.show(&both));
        assert!(shown.line.root().is_visible());
        assert_eq!(shown.title.label(), "2 commands in the background");
        assert_eq!(shown.line.summary().label(), "cargo watch");

        shown.line.line().emit_clicked();
        let window = gtk::Window::builder().child(shown.line.root()).build();
        window.present();
        let end = shown.rows[0].widget.last_child().and_downcast::<gtk::Button>().unwrap();
        assert!(end.grab_focus());
        end.emit_clicked();
        assert_eq!(*ended.borrow(), ["a"]);
        assert!(!end.is_sensitive(), "once is enough");
        // That of another chat has the same name, and is another.
        let other = command("a", "make serve", 0);
        assert!(!shown.show(&[other, both[1].clone()]));
        let first = shown.rows[1].widget.last_child().and_downcast::<gtk::Button>();
        assert!(first.is_some_and(|end| end.is_sensitive()));
        assert!(!shown.show(&both));
        let end = shown.rows[1].widget.last_child().and_downcast::<gtk::Button>().unwrap();
        // The keyboard goes to what is left, and away with the last one.
        end.set_sensitive(true);
        end.grab_focus();
        assert!(!shown.show(&both[1..]) && has_keyboard(shown.line.line()));
        assert!(shown.show(&[]) && !shown.line.root().is_visible());
    }
}
