//! Shows the dialog to add or edit a rule.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::rc::Rc;

use adw::prelude::*;
use chat_core::permission::{Effect, Rule};
use chat_core::settings::Remembered;
use chat_presentation::words;
use gettextrs::gettext;
use gtk::glib;

use super::super::super::rows::PreferencesContext;
use crate::projects;

/// The dialog's response for saving.
const SAVE: &str = "save";
const EFFECTS: [Effect; 2] = [Effect::Allow, Effect::Deny];

/// The dialog's widgets.
struct Editor {
    dialog: adw::MessageDialog,
    rule: adw::EntryRow,
    effect: adw::ComboRow,
    project: adw::ComboRow,
    /// The folders in `project`, after the first choice, which means everywhere.
    folders: Vec<PathBuf>,
    wrong: gtk::Label,
}

/// Opens the dialog for an existing rule, or for a new one.
pub(super) fn open(context: &PreferencesContext, old: Option<Remembered>) {
    let context = context.clone();
    glib::spawn_future_local(async move {
        let chats = context.manager.sessions().list().await.unwrap_or_default();
        let rules = context.manager.settings().current().permissions.rules.clone();
        let folders: BTreeSet<PathBuf> = chats
            .into_iter()
            .filter_map(|chat| chat.meta.project)
            .chain(rules.into_iter().filter_map(|rule| rule.project))
            .collect();
        let Some(window) = context.window.upgrade() else { return };
        let editor = Editor::new(&window, old.as_ref(), folders.into_iter().collect());
        editor.dialog.present();
        let editor = Rc::new(editor);
        let kept = Rc::clone(&editor);
        editor.dialog.connect_response(Some(SAVE), move |_, _| {
            let Some(new) = kept.written() else { return };
            let (context, old) = (context.clone(), old.clone());
            glib::spawn_future_local(async move {
                context
                    .change(move |settings| settings.permissions.replace(old.as_ref(), new))
                    .await;
            });
        });
    });
}

impl Editor {
    fn new(
        window: &adw::PreferencesWindow,
        old: Option<&Remembered>,
        folders: Vec<PathBuf>,
    ) -> Self {
        let heading = if old.is_some() { gettext("Edit Rule") } else { gettext("Add Rule") };
        let body = gettext(
            "For example, run:cargo test *, run+network:cargo fetch, run+background:npm start, write:src/**, read:/etc/hosts, network:*.example.org, or mcp:github/*",
        );
        let dialog = adw::MessageDialog::new(Some(window), Some(&heading), Some(&body));
        let rule = adw::EntryRow::builder().title(gettext("Rule")).build();
        let effects = EFFECTS.map(|effect| match effect {
            Effect::Allow => gettext("Allow"),
            Effect::Deny => gettext("Deny"),
        });
        let effect = adw::ComboRow::builder()
            .title(gettext("Effect"))
            .model(&gtk::StringList::new(&effects.each_ref().map(String::as_str)))
            .build();
        let mut places = vec![gettext("Everywhere")];
        places.extend(folders.iter().map(|folder| projects::display_path(folder)));
        let places: Vec<&str> = places.iter().map(String::as_str).collect();
        let project = adw::ComboRow::builder()
            .title(gettext("Applies to"))
            .model(&gtk::StringList::new(&places))
            .build();
        let list = gtk::ListBox::builder()
            .selection_mode(gtk::SelectionMode::None)
            .css_classes(["boxed-list"])
            .build();
        list.append(&rule);
        list.append(&effect);
        list.append(&project);
        let wrong = gtk::Label::builder()
            .wrap(true)
            .xalign(0.0)
            .visible(false)
            .css_classes(["error", "caption"])
            .build();
        let all = gtk::Box::new(gtk::Orientation::Vertical, 6);
        all.append(&list);
        all.append(&wrong);
        dialog.set_extra_child(Some(&all));
        dialog.add_response("cancel", &gettext("_Cancel"));
        dialog.add_response(SAVE, &gettext("_Save"));
        dialog.set_response_appearance(SAVE, adw::ResponseAppearance::Suggested);
        dialog.set_default_response(Some(SAVE));
        dialog.set_close_response("cancel");
        if let Some(old) = old {
            rule.set_text(&old.rule.to_string());
            effect.set_selected(u32::from(old.effect == Effect::Deny));
            let at = old.project.as_ref().and_then(|old| folders.iter().position(|it| it == old));
            project.set_selected(at.map_or(0, |at| at as u32 + 1));
        }
        let this = Self { dialog, rule, effect, project, folders, wrong };
        this.judge();
        let (dialog, wrong) = (this.dialog.downgrade(), this.wrong.downgrade());
        this.rule.connect_changed(move |rule| {
            if let (Some(dialog), Some(wrong)) = (dialog.upgrade(), wrong.upgrade()) {
                judge(rule, &dialog, &wrong);
            }
        });
        this
    }

    fn judge(&self) {
        judge(&self.rule, &self.dialog, &self.wrong);
    }

    /// The current input.
    fn written(&self) -> Option<Remembered> {
        let effect = *EFFECTS.get(self.effect.selected() as usize)?;
        let folder = (self.project.selected() as usize).checked_sub(1);
        let project = folder.and_then(|at| self.folders.get(at)).cloned();
        Some(Remembered { rule: read(&self.rule).ok()?, effect, project })
    }
}

fn read(rule: &adw::EntryRow) -> Result<Rule, chat_core::permission::InvalidRule> {
    rule.text().trim().parse()
}

/// Shows what is wrong with a rule, and enables saving only if nothing is.
fn judge(rule: &adw::EntryRow, dialog: &adw::MessageDialog, wrong: &gtk::Label) {
    let found = read(rule);
    dialog.set_response_enabled(SAVE, found.is_ok());
    // No error is shown before anything is typed.
    let error = found.err().filter(|_| !rule.text().is_empty());
    wrong.set_visible(error.is_some());
    wrong.set_label(&error.as_ref().map(words::bad_rule).unwrap_or_default());
}
