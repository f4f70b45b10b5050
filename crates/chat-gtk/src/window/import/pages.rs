//! Draws the pages of the import dialog.

use adw::prelude::*;
use chat_presentation::words::{fill, importing};
use gettextrs::{gettext, ngettext};

use crate::accessible;

/// The names of the pages.
const CHOICE: &str = "choice";
const READING: &str = "reading";
const RESULT: &str = "result";
const PROGRESS: &str = "progress";

/// The most problems that are listed.
const MOST_PROBLEMS: usize = 50;

/// The pages, one of which is shown, with the buttons on them.
pub(super) struct Pages {
    stack: gtk::Stack,
    pub(super) files: gtk::Button,
    pub(super) folder: gtk::Button,
    /// Ends reading.
    pub(super) cancel: gtk::Button,
    /// Ends an import.
    pub(super) stop: gtk::Button,
    pub(super) import: gtk::Button,
    /// Chooses other files.
    pub(super) again: gtk::Button,
    pub(super) close: gtk::Button,
    bar: gtk::ProgressBar,
    result: adw::StatusPage,
    problems: gtk::Label,
    frame: gtk::ScrolledWindow,
}

impl Pages {
    pub(super) fn new() -> Self {
        let files = pill(&gettext("Choose Files…"));
        files.add_css_class("suggested-action");
        let folder = pill(&gettext("Choose Folder…"));
        let choice = adw::StatusPage::builder()
            .icon_name("document-open-symbolic")
            .title(gettext("Import Chats"))
            .description(gettext(
                "Choose the archive that ChatGPT, Claude.ai or Natter on another computer exported, its JSON files, or the history folder of OLLMchat.",
            ))
            .child(&column(&[&files, &folder]))
            .vexpand(true)
            .css_classes(["compact"])
            .build();
        let cancel = pill(&gettext("Cancel"));
        let spinner = gtk::Spinner::builder().spinning(true).width_request(32).build();
        spinner.set_height_request(32);
        spinner.set_halign(gtk::Align::Center);
        let parts = gtk::Box::new(gtk::Orientation::Vertical, 18);
        parts.append(&spinner);
        parts.append(&column(&[&cancel]));
        let reading = adw::StatusPage::builder()
            .title(gettext("Reading the Files…"))
            .child(&parts)
            .vexpand(true)
            .css_classes(["compact"])
            .build();
        let stop = pill(&gettext("Stop"));
        let bar = gtk::ProgressBar::builder().show_text(true).build();
        accessible::set_label(&bar, &gettext("Progress"));
        let parts = gtk::Box::new(gtk::Orientation::Vertical, 18);
        parts.append(&bar);
        parts.append(&column(&[&stop]));
        let progress = adw::StatusPage::builder()
            .title(gettext("Importing Chats…"))
            .description(gettext("If you stop, the chats imported so far stay."))
            .child(&parts)
            .vexpand(true)
            .css_classes(["compact"])
            .build();
        let import = pill(&gettext("Import"));
        import.add_css_class("suggested-action");
        let again = pill(&gettext("Choose Other Files"));
        let close = pill(&gettext("Close"));
        let problems = gtk::Label::builder()
            .wrap(true)
            .wrap_mode(gtk::pango::WrapMode::WordChar)
            .xalign(0.0)
            .selectable(true)
            .use_markup(false)
            .margin_top(6)
            .margin_bottom(6)
            .margin_start(9)
            .margin_end(9)
            .build();
        let frame = gtk::ScrolledWindow::builder()
            .child(&problems)
            .hscrollbar_policy(gtk::PolicyType::Never)
            .has_frame(true)
            .max_content_height(140)
            .propagate_natural_height(true)
            .build();
        let parts = gtk::Box::new(gtk::Orientation::Vertical, 18);
        parts.append(&frame);
        parts.append(&column(&[&import, &close, &again]));
        let result =
            adw::StatusPage::builder().child(&parts).vexpand(true).css_classes(["compact"]).build();
        let stack = gtk::Stack::new();
        stack.add_named(&choice, Some(CHOICE));
        stack.add_named(&reading, Some(READING));
        stack.add_named(&progress, Some(PROGRESS));
        stack.add_named(&result, Some(RESULT));
        Self {
            stack,
            files,
            folder,
            cancel,
            stop,
            import,
            again,
            close,
            bar,
            result,
            problems,
            frame,
        }
    }

    /// The title, the lines and the problems of the result.
    #[cfg(test)]
    pub(super) fn shown(&self) -> [String; 3] {
        let lines = self.result.description().unwrap_or_default();
        [self.result.title().into(), lines.into(), self.problems.label().into()]
    }

    /// Which part of an import is done.
    #[cfg(test)]
    pub(super) fn progress(&self) -> f64 {
        self.bar.fraction()
    }

    pub(super) fn widget(&self) -> &gtk::Stack {
        &self.stack
    }

    pub(super) fn is_importing(&self) -> bool {
        self.stack.visible_child_name().as_deref() == Some(PROGRESS)
    }

    pub(super) fn show_choice(&self) {
        self.stack.set_visible_child_name(CHOICE);
        self.files.grab_focus();
    }

    pub(super) fn show_reading(&self) {
        self.stack.set_visible_child_name(READING);
        self.cancel.grab_focus();
    }

    /// How many chats were read, and which part of all that is.
    pub(super) fn show_progress(&self, chats: usize, part: f64) {
        let begins = !self.is_importing();
        self.stack.set_visible_child_name(PROGRESS);
        self.bar.set_fraction(part.clamp(0.0, 1.0));
        self.bar.set_text(Some(&importing(chats)));
        if begins {
            self.stop.grab_focus();
        }
    }

    /// What is in the files, and whether there is something new to import.
    pub(super) fn show_preview(&self, lines: &[String], problems: &[String], has_new: bool) {
        self.show_result(&gettext("Found Chats"), lines, problems);
        self.import.set_visible(has_new);
        self.again.set_visible(true);
        self.close.set_visible(false);
        if has_new {
            self.import.grab_focus();
        } else {
            self.again.grab_focus();
        }
    }

    /// What was imported.
    pub(super) fn show_report(&self, lines: &[String], problems: &[String]) {
        self.show_result(&gettext("Import Finished"), lines, problems);
        self.end(false);
    }

    /// Why nothing, or nothing more, was imported.
    pub(super) fn show_failure(&self, sentences: &[String]) {
        self.show_result(&gettext("Couldn’t Import"), sentences, &[]);
        self.end(true);
    }

    fn end(&self, can_choose: bool) {
        self.import.set_visible(false);
        self.again.set_visible(can_choose);
        self.close.set_visible(true);
        self.close.grab_focus();
    }

    fn show_result(&self, title: &str, lines: &[String], problems: &[String]) {
        self.result.set_title(title);
        self.result.set_description(Some(&gtk::glib::markup_escape_text(&lines.join("\n"))));
        let mut shown: Vec<_> = problems.iter().take(MOST_PROBLEMS).cloned().collect();
        if let Some(more @ 1..) = problems.len().checked_sub(MOST_PROBLEMS) {
            let number = u32::try_from(more).unwrap_or(u32::MAX);
            let text = ngettext("And {n} more.", "And {n} more.", number);
            shown.push(fill(&text, &[("n", &more.to_string())]));
        }
        self.problems.set_label(&shown.join("\n"));
        self.frame.set_visible(!shown.is_empty());
        self.stack.set_visible_child_name(RESULT);
    }
}

fn pill(label: &str) -> gtk::Button {
    gtk::Button::builder().label(label).css_classes(["pill"]).build()
}

fn column(buttons: &[&gtk::Button]) -> gtk::Box {
    let column = gtk::Box::builder()
        .orientation(gtk::Orientation::Vertical)
        .spacing(9)
        .halign(gtk::Align::Center)
        .build();
    for button in buttons {
        column.append(*button);
    }
    column
}
