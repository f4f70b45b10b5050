//! Defines the window's actions and their keys, in one table for both the shortcuts and the window
//! that lists them.

use std::fmt::Write;

use adw::prelude::*;
use gettextrs::gettext;
use gtk::{gio, glib};
use relm4::ComponentSender;
use strum::{IntoStaticStr, VariantArray};

use super::{Input, Window};

/// The window's actions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub(crate) enum Action {
    NewChat,
    NewTemporaryChat,
    NewWorktreeChat,
    Worktrees,
    ReviewDefinitions,
    Switcher,
    Search,
    Find,
    FindNext,
    FindPrevious,
    ToggleList,
    TogglePanel,
    FindFile,
    Review,
    SaveAs,
    #[strum(serialize = "previous-chat")]
    Previous,
    #[strum(serialize = "next-chat")]
    Next,
    FocusMessage,
    FocusAsk,
    ChooseModel,
    ChooseProject,
    AttachFiles,
    CopyReply,
    PreviousMessage,
    NextMessage,
    Rename,
    Export,
    Delete,
    Pin,
    Archive,
    Duplicate,
    SelectChats,
    GroupByProject,
    ArchivedChats,
    Trash,
    Import,
    ZoomIn,
    ZoomOut,
    ZoomReset,
    Preferences,
    Shortcuts,
    About,
    Close,
    Quit,
    Back,
}

impl Action {
    /// Its action name in the window.
    pub(super) fn name(self) -> &'static str {
        self.into()
    }

    /// Its keys, the one to show first.
    pub(super) fn keys(self) -> &'static [&'static str] {
        match self {
            Self::NewChat => &["<Control>n"],
            Self::NewTemporaryChat => &["<Control><Shift>t"],
            Self::NewWorktreeChat => &["<Control><Shift>n"],
            Self::Switcher => &["<Control>k"],
            Self::Search => &["<Control><Shift>f"],
            Self::Find => &["<Control>f"],
            Self::FindNext => &["<Control>g"],
            Self::FindPrevious => &["<Control><Shift>g"],
            Self::ToggleList => &["F9"],
            Self::TogglePanel => &["F8"],
            Self::FindFile => &["<Control>p"],
            Self::Review => &["<Control><Shift>r"],
            Self::SaveAs => &["<Control><Shift>s"],
            Self::Previous => &["<Alt>Up"],
            Self::Next => &["<Alt>Down"],
            Self::FocusMessage => &["<Control>l"],
            Self::FocusAsk => &["<Control>period", "<Control><Shift>y"],
            Self::ChooseModel => &["<Control>m"],
            Self::ChooseProject => &["<Control>o"],
            Self::AttachFiles => &["<Control><Shift>a"],
            Self::CopyReply => &["<Control><Shift>c"],
            Self::PreviousMessage => &["<Alt>Page_Up"],
            Self::NextMessage => &["<Alt>Page_Down"],
            Self::Preferences => &["<Control>comma"],
            Self::Shortcuts => &["<Control>question"],
            Self::Close => &["<Control>w"],
            Self::Quit => &["<Control>q"],
            Self::Back => &["<Alt>Left"],
            Self::Rename => &["F2"],
            Self::Pin => &["<Control><Shift>d"],
            Self::Archive => &["<Control>e"],
            Self::ZoomIn => &["<Control>plus", "<Control>equal", "<Control>KP_Add"],
            Self::ZoomOut => &["<Control>minus", "<Control>KP_Subtract"],
            Self::ZoomReset => &["<Control>0", "<Control>KP_0"],
            Self::Duplicate
            | Self::SelectChats
            | Self::GroupByProject
            | Self::ArchivedChats
            | Self::Trash
            | Self::Import
            | Self::Worktrees
            | Self::ReviewDefinitions
            | Self::Export
            | Self::Delete
            | Self::About => &[],
        }
    }
}

/// Adds the actions to the window, and their shortcuts to the application.
pub(super) fn install(
    app: &adw::Application,
    window: &adw::ApplicationWindow,
    chat: &gtk::Box,
    sender: &ComponentSender<Window>,
) {
    for &action in Action::VARIANTS {
        let entry = if action == Action::GroupByProject {
            gio::SimpleAction::new_stateful(action.name(), None, &false.to_variant())
        } else {
            gio::SimpleAction::new(action.name(), None)
        };
        let input = sender.input_sender().clone();
        // What is typed from now on is for the message, and for the new chat, even though that appears a moment
        // later.
        let at_once: &[&str] = match action {
            Action::NewChat | Action::NewTemporaryChat => &["chat.leave", "chat.focus-message"],
            Action::FocusMessage => &["chat.focus-message"],
            _ => &[],
        };
        let chat = chat.clone();
        entry.connect_activate(move |_, _| {
            for name in at_once {
                let _ = chat.activate_action(name, None);
            }
            input.emit(Input::Do(action));
        });
        window.add_action(&entry);
        app.set_accels_for_action(&format!("win.{}", action.name()), action.keys());
    }
}

/// Shows all shortcuts.
pub(super) fn show_window(parent: &adw::ApplicationWindow) {
    let builder = gtk::Builder::from_string(&window_xml());
    if let Some(window) = builder.object::<gtk::ShortcutsWindow>("shortcuts") {
        window.set_transient_for(Some(parent));
        window.present();
    }
}

/// The groups of shortcuts.
fn groups() -> [(String, Vec<(&'static str, String)>); 5] {
    let chats = vec![
        ("<Control>n", gettext("New chat")),
        ("<Control><Shift>t", gettext("New temporary chat")),
        ("<Control><Shift>n", gettext("New chat in a worktree")),
        ("<Control>k", gettext("Go to a chat, command, model or setting")),
        ("<Alt>Up", gettext("Previous chat")),
        ("<Alt>Down", gettext("Next chat")),
        ("<Control><Shift>f", gettext("Search chats")),
        ("F2", gettext("Rename the chat")),
        ("Delete", gettext("Delete the selected chat")),
        ("<Control><Shift>d", gettext("Pin or unpin the chat")),
        ("<Control>e", gettext("Archive the chat, or move it back to the list")),
        ("space", gettext("In the list: select several chats")),
        ("<Control>a", gettext("In the list: select all chats")),
        ("<Control>z", gettext("Undo the last deletion")),
        ("F9", gettext("Show or hide the chat list")),
    ];
    let messages = vec![
        ("<Control>l", gettext("Go to the message field")),
        ("Return", gettext("Send")),
        ("<Shift>Return", gettext("Insert a line break")),
        ("<Control>Return", gettext("Send, regardless of the Enter setting")),
        ("<Control>Return", gettext("During a reply, send with the other timing")),
        ("<Alt>Up", gettext("Move the waiting message up")),
        ("<Alt>Down", gettext("Move the waiting message down")),
        ("<Alt>Page_Up", gettext("Your previous message")),
        ("<Alt>Page_Down", gettext("Your next message")),
        ("e", gettext("On one of your messages: edit it")),
        ("<Control>f", gettext("Find in the chat")),
        ("<Control>g", gettext("Next match")),
        ("<Control><Shift>g", gettext("Previous match")),
        ("<Control>period <Control><Shift>y", gettext("Go to the next pending question")),
        ("<Control><Shift>a", gettext("Attach files")),
        ("<Control>m", gettext("Choose a model")),
        ("<Control>o", gettext("Choose a folder to work in")),
        ("Escape", gettext("Stop the reply (press twice)")),
        ("<Control><Shift>c", gettext("Copy the last reply")),
    ];
    let general = vec![
        ("F10", gettext("Main menu")),
        ("<Control>plus", gettext("Larger text")),
        ("<Control>minus", gettext("Smaller text")),
        ("<Control>0", gettext("Normal text size")),
        ("<Control>comma", gettext("Preferences")),
        ("<Control>question", gettext("Keyboard shortcuts")),
        ("<Control>w", gettext("Close the window")),
        ("<Control>q", gettext("Quit")),
    ];
    let files = vec![
        ("F8", gettext("Show or hide the files and editor")),
        ("<Control>p", gettext("Find a file")),
        ("<Control>s", gettext("Save the file")),
        ("<Control><Shift>s", gettext("Save the file under a new name")),
        ("<Control>f", gettext("Find in the file")),
        ("<Control>h", gettext("Find and replace")),
        ("<Control>i", gettext("Go to a line")),
        ("<Control>Page_Down", gettext("Next file")),
        ("<Control>Page_Up", gettext("Previous file")),
        ("<Control>slash", gettext("Comment or uncomment lines")),
        ("<Control>w", gettext("Close the file")),
    ];
    let changes = vec![
        ("<Control><Shift>r", gettext("Review changes")),
        ("j", gettext("Next change")),
        ("k", gettext("Previous change")),
        ("a", gettext("Accept the change or file")),
        ("r", gettext("Reject the change or file")),
        ("<Control>z", gettext("Undo the last decision")),
        ("Return", gettext("Expand or collapse the file, or open the change in the editor")),
    ];
    [
        (gettext("Chats"), chats),
        (gettext("Messages"), messages),
        (gettext("Files"), files),
        (gettext("Changes"), changes),
        (gettext("General"), general),
    ]
}

/// GTK 4.8 can build the window only from XML.
fn window_xml() -> String {
    let mut xml = String::from(
        "<interface><object class=\"GtkShortcutsWindow\" id=\"shortcuts\">\
         <property name=\"modal\">1</property><child><object class=\"GtkShortcutsSection\">\
         <property name=\"section-name\">shortcuts</property>\
         <property name=\"max-height\">20</property>",
    );
    for (title, keys) in groups() {
        let title = glib::markup_escape_text(&title);
        let _ = write!(
            xml,
            "<child><object class=\"GtkShortcutsGroup\"><property name=\"title\">{title}</property>"
        );
        for (key, title) in keys {
            let (key, title) = (glib::markup_escape_text(key), glib::markup_escape_text(&title));
            let _ = write!(
                xml,
                "<child><object class=\"GtkShortcutsShortcut\">\
                 <property name=\"accelerator\">{key}</property>\
                 <property name=\"title\">{title}</property></object></child>"
            );
        }
        xml.push_str("</object></child>");
    }
    xml.push_str("</object></child></object></interface>");
    xml
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::main_loop::until;

    #[gtk::test]
    fn the_list_of_shortcuts_is_drawn_without_a_warning() {
        adw::init().expect("a display");
        crate::init();
        let fatal = glib::log_set_always_fatal(
            glib::LogLevels::LEVEL_WARNING | glib::LogLevels::LEVEL_CRITICAL,
        );
        let parent = adw::ApplicationWindow::builder().build();
        show_window(&parent);
        let mut windows = gtk::Window::list_toplevels().into_iter();
        let window = windows.find_map(|it| it.downcast::<gtk::ShortcutsWindow>().ok());
        let window = window.expect("the list");
        until("the list to be drawn", || window.is_mapped() && window.height() > 100);
        window.destroy();
        glib::log_set_always_fatal(fatal);
    }

    #[test]
    fn every_key_of_an_action_is_shown_and_used_once() {
        let keys = groups().into_iter().flat_map(|(_, keys)| keys);
        let shown: Vec<&str> = keys.flat_map(|(keys, _)| keys.split(' ')).collect();
        let mut used = std::collections::HashSet::new();
        for &action in Action::VARIANTS {
            for key in action.keys() {
                assert!(used.insert(*key), "{key} is used twice");
                // Other ways to type what is shown.
                let again = key.contains("KP_") || ["<Alt>Left", "<Control>equal"].contains(key);
                assert!(shown.contains(key) || again, "{key} is not shown");
            }
        }
    }
}
