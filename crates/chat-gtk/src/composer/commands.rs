//! Suggests commands for a `/` at the start of a message.

use chat_presentation::slash_commands::{BuiltIn, CommandKind, SlashCommand, SlashCommands, Typed};
use gettextrs::gettext;
use gtk::glib;
use relm4::gtk::prelude::*;

use super::suggestions::{Choice, Suggestion};
use super::{Composer, Inner, Output};
use crate::letters::plain;

/// More than a list shows: typing a letter narrows it down.
const MOST: usize = 200;

impl Composer {
    /// Suggests these commands.
    pub(crate) fn set_commands(&self, commands: SlashCommands) {
        self.inner.commands.replace(commands);
        let query = self.inner.typed_command.borrow().clone();
        if let Some(query) = query {
            self.inner.list_commands(&query);
        }
    }

    /// Puts a command with its arguments at the start of the message: in place of this text, if it stands there, or
    /// else of the command that is typed there.
    pub(crate) fn write_command(&self, typed: &str, line: &str) {
        let inner = &self.inner;
        let text = inner.content_text();
        let typed = if !typed.is_empty() && text.starts_with(typed) {
            typed.len()
        } else if text.starts_with('/') {
            text.find(char::is_whitespace).unwrap_or(text.len())
        } else {
            0
        };
        let space = if text[typed..].starts_with(char::is_whitespace) { "" } else { " " };
        let buffer = inner.text.buffer();
        let (mut start, mut end) =
            (buffer.start_iter(), buffer.iter_at_offset(text[..typed].chars().count() as i32));
        inner.putting_in.set(true);
        buffer.begin_user_action();
        buffer.delete(&mut start, &mut end);
        buffer.insert(&mut start, &format!("{line}{space}"));
        buffer.place_cursor(&start);
        buffer.end_user_action();
        inner.putting_in.set(false);
        inner.text.grab_focus();
    }

    /// Shows all commands, as if the user typed a slash into the empty message.
    pub(crate) fn show_commands(&self) {
        self.focus();
        self.inner.text.buffer().insert_at_cursor("/");
    }
}

impl Inner {
    /// The command that is being typed: the text is a slash and letters of a name up to the cursor.
    pub(super) fn command_before_cursor(&self) -> Option<String> {
        let buffer = self.text.buffer();
        if buffer.has_selection() || buffer.start_iter().char() != '/' {
            return None;
        }
        let cursor = buffer.iter_at_mark(&buffer.get_insert());
        let before = buffer.text(&buffer.start_iter(), &cursor, false);
        let query = before.strip_prefix('/')?;
        self.commands.borrow().may_begin(query).then(|| query.to_owned())
    }

    /// Suggests commands for what is typed; none closes the list.
    pub(super) fn look_for_command(&self, query: Option<String>) {
        let before = self.typed_command.replace(query.clone());
        if before == query {
            return;
        }
        self.tell(Output::LookForCommand(query.clone()));
        let Some(list) = self.suggestions.borrow().clone() else { return };
        let Some(query) = query else {
            list.hide();
            return;
        };
        list.begin(before.is_none());
        self.list_commands(&query);
    }

    fn list_commands(&self, query: &str) {
        let Some(list) = self.suggestions.borrow().clone() else { return };
        let (suggestions, best) = {
            let commands = self.commands.borrow();
            let (found, best) = commands.matching(query);
            (found.into_iter().take(MOST).map(suggestion).collect::<Vec<_>>(), best)
        };
        let place = self.place_of(&self.text.buffer().start_iter());
        list.show(suggestions, best.min(MOST) as i32, &place, self.root.width());
    }

    /// Has the arguments of a prompt asked for, or its name written, so that they can be typed.
    pub(super) fn take_prompt(&self, name: &str, to_write_on: bool) {
        if to_write_on {
            self.take_command(name, true, true);
        } else {
            self.tell(Output::AskArguments(name.to_owned()));
        }
    }

    /// Writes the command that was chosen, or sends it: if it waits for no arguments, or its whole name was typed.
    pub(super) fn take_command(&self, name: &str, waits: bool, to_write_on: bool) {
        let text = self.content_text();
        let (typed, rest) = text.split_at(text.find(char::is_whitespace).unwrap_or(text.len()));
        let is_typed = typed.strip_prefix('/') == Some(name);
        let is_sent = !to_write_on && (is_typed || !waits) && rest.trim().is_empty();
        let is_spaced = rest.starts_with([' ', '\t']);
        let buffer = self.text.buffer();
        let (mut start, mut end) =
            (buffer.start_iter(), buffer.iter_at_offset(typed.chars().count() as i32));
        self.putting_in.set(true);
        buffer.begin_user_action();
        buffer.delete(&mut start, &mut end);
        let space = if is_sent || is_spaced { "" } else { " " };
        buffer.insert(&mut start, &format!("/{name}{space}"));
        if is_spaced {
            start.forward_char();
        }
        buffer.place_cursor(&start);
        buffer.end_user_action();
        self.putting_in.set(false);
        self.text.grab_focus();
        if is_sent {
            self.submit(false);
        }
    }

    /// Whether the window itself takes what is written, so that it need not be possible to send it.
    pub(super) fn is_for_the_window(&self) -> bool {
        match self.commands.borrow().read(&self.read.borrow().text) {
            Typed::BuiltIn(BuiltIn::Plan, message) => message.is_empty(),
            Typed::BuiltIn(..) | Typed::Unknown(..) | Typed::Unusable(_) | Typed::Unexpected(_) => {
                true
            }
            Typed::Message(_) | Typed::Command(..) => false,
        }
    }
}

fn suggestion(command: &SlashCommand) -> Suggestion {
    let SlashCommand { kind, name, arguments, description } = command;
    let (icon, section) = match kind {
        CommandKind::BuiltIn(_) => ("utilities-terminal-symbolic", gettext("Commands")),
        CommandKind::File(_) => ("text-x-generic-symbolic", gettext("Commands")),
        CommandKind::Skill(_) => ("starred-symbolic", gettext("Skills")),
        CommandKind::Prompt(_) | CommandKind::Server => {
            ("network-server-symbolic", gettext("Prompts"))
        }
    };
    let choice = match kind {
        CommandKind::Server => Choice::Begin(format!("/{name}")),
        CommandKind::Prompt(_) if command.waits_for_arguments() => Choice::Prompt(name.clone()),
        _ => Choice::Command { name: name.clone(), waits: command.waits_for_arguments() },
    };
    let (arguments, description) = (plain(arguments), plain(description));
    let escaped = |text: &str| glib::markup_escape_text(text).to_string();
    let (whole, hint) = if arguments.is_empty() {
        (format!("/{name}"), String::new())
    } else {
        (
            format!("/{name} {arguments}"),
            format!(" <span alpha=\"60%\">{}</span>", escaped(&arguments)),
        )
    };
    Suggestion {
        icon,
        name: format!("/{}{hint}", escaped(name)),
        detail: escaped(&description),
        description: if description.is_empty() { whole } else { format!("{whole}: {description}") },
        section: Some(section),
        choice,
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;
    use std::sync::Arc;

    use chat_core::tool::{PromptArgument, PromptEntry, ServerOffer};
    use gtk::gdk;

    use super::super::Written;
    use super::*;

    struct Seen {
        composer: Composer,
        told: Rc<RefCell<Vec<Output>>>,
        window: gtk::Window,
    }

    impl Seen {
        fn new() -> Self {
            crate::init();
            let told = Rc::<RefCell<Vec<Output>>>::default();
            let hears = Rc::clone(&told);
            let composer = Composer::new(&[], &[], move |output| hears.borrow_mut().push(output));
            let window = gtk::Window::builder().child(composer.widget()).build();
            window.present();
            let context = glib::MainContext::default();
            while composer.inner.text.width() == 0 {
                context.iteration(true);
            }
            Self { composer, told, window }
        }

        fn types(&self, text: &str) {
            self.composer.inner.text.buffer().insert_at_cursor(text);
        }

        /// Presses a key. Whether the list used it.
        fn presses(&self, key: gdk::Key) -> bool {
            let list = self.composer.inner.suggestions.borrow().clone().expect("the list");
            list.press(key, gdk::ModifierType::empty())
        }

        fn text(&self) -> String {
            self.composer.content().text
        }

        fn sent(&self) -> Option<String> {
            self.told.borrow_mut().drain(..).find_map(|output| match output {
                Output::Submit { written, .. } => Some(written.text),
                _ => None,
            })
        }
    }

    impl Drop for Seen {
        fn drop(&mut self) {
            self.window.destroy();
        }
    }

    #[gtk::test]
    fn enter_sends_the_command_that_is_chosen_and_tab_writes_it() {
        let seen = Seen::new();
        seen.types("/comp");
        assert!(seen.presses(gdk::Key::Tab));
        assert_eq!((seen.text().as_str(), seen.sent()), ("/compact ", None));
        assert!(!seen.presses(gdk::Key::Return), "the list is closed");
        seen.composer.set_content(&Written::default());
        seen.types("/");
        assert!(seen.presses(gdk::Key::Down));
        assert!(seen.presses(gdk::Key::Return));
        assert_eq!((seen.text(), seen.sent().as_deref()), (String::new(), Some("/compact")));
    }

    #[gtk::test]
    fn what_follows_a_command_stays_and_waits() {
        let seen = Seen::new();
        seen.types(" a/b");
        let buffer = seen.composer.inner.text.buffer();
        buffer.place_cursor(&buffer.start_iter());
        seen.types("/mod");
        assert!(seen.presses(gdk::Key::Down));
        assert!(seen.presses(gdk::Key::Return));
        assert_eq!((seen.text().as_str(), seen.sent()), ("/model a/b", None));
        seen.types("x ");
        assert_eq!(seen.text(), "/model x a/b");
    }

    #[gtk::test]
    fn a_prompt_is_chosen_and_its_values_are_asked_for() {
        let seen = Seen::new();
        let argument = PromptArgument { name: "code".to_owned(), ..PromptArgument::default() };
        let prompt = PromptEntry {
            name: "review".to_owned(),
            arguments: vec![argument],
            ..PromptEntry::default()
        };
        let offer = |prompts| ServerOffer { server: "wiki".to_owned(), prompts, resources: None };
        let with = |prompts| SlashCommands::default().with_servers(&[Arc::new(offer(prompts))]);
        seen.composer.set_commands(with(None));
        seen.types("/wik");
        assert!(seen.presses(gdk::Key::Return));
        assert_eq!(seen.text(), "/wiki:");
        let asked = Output::LookForCommand(Some("wiki:".to_owned()));
        assert!(seen.told.borrow().contains(&asked), "{:?}", seen.told);
        // The answer comes late.
        seen.composer.set_commands(with(Some(vec![prompt])));
        assert!(seen.presses(gdk::Key::Return));
        let asked = Output::AskArguments("wiki:review".to_owned());
        assert_eq!(seen.told.borrow().last(), Some(&asked));
        seen.composer.write_command("", "/wiki:review code=a");
        seen.types("and b");
        assert_eq!(seen.text(), "/wiki:review code=a and b");
        seen.composer.write_command("/wiki:review code=a", "/wiki:review code=c");
        assert_eq!((seen.text().as_str(), seen.sent()), ("/wiki:review code=c and b", None));
    }

    #[gtk::test]
    fn the_list_is_for_the_start_of_a_message_and_goes_with_escape() {
        let seen = Seen::new();
        for text in ["see /", "\n/", "/etc/", "/No"] {
            seen.composer.set_content(&Written::default());
            seen.types(text);
            assert!(!seen.presses(gdk::Key::Down), "{text}");
        }
        seen.composer.set_content(&Written::default());
        seen.types("/cl");
        assert!(seen.presses(gdk::Key::Escape));
        assert!(!seen.presses(gdk::Key::Return));
        assert_eq!(seen.text(), "/cl");
        // It comes back with another message.
        seen.composer.set_content(&Written::default());
        seen.types("/cl");
        assert!(seen.presses(gdk::Key::Return));
        assert_eq!(seen.sent().as_deref(), Some("/clear"));
    }

    #[gtk::test]
    fn what_the_window_takes_need_not_be_possible_to_send() {
        let seen = Seen::new();
        seen.composer.set_hindrance(Some("No model".to_owned()));
        for (text, is_sent) in
            [("/model", true), ("/modle", true), ("/plan it", false), ("a", false)]
        {
            seen.composer.set_content(&Written::text(text));
            seen.composer.inner.submit(false);
            assert_eq!(seen.sent().is_some(), is_sent, "{text}");
        }
    }
}
