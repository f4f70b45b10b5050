//! Shows the stored permission rules: one row each, to edit, remove or export.

mod editor;

use std::cell::RefCell;
use std::rc::Rc;

use adw::prelude::*;
use chat_core::permission::Effect;
use chat_core::settings::{Remembered, Settings};
use chat_presentation::words;
use gettextrs::gettext;
use gtk::{gio, glib};

use super::super::rows::{PreferencesContext, icon_button, plain_row};
use crate::{file_dialog, projects};

/// The group. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct RulesGroup {
    inner: Rc<Inner>,
}

#[derive(Debug)]
struct Inner {
    group: adw::PreferencesGroup,
    export: gtk::Button,
    rows: RefCell<Vec<adw::ActionRow>>,
    shown: RefCell<Vec<Remembered>>,
    context: PreferencesContext,
}

impl RulesGroup {
    pub(super) fn new(context: &PreferencesContext) -> Self {
        // A text label would leave no space for the title in a narrow window.
        let export = icon_button("document-save-symbolic", &gettext("Export…"));
        let add = icon_button("list-add-symbolic", &gettext("Add Rule…"));
        let buttons = gtk::Box::new(gtk::Orientation::Horizontal, 6);
        buttons.append(&add);
        buttons.append(&export);
        let group = adw::PreferencesGroup::builder()
            .title(gettext("Permission Rules"))
            .description(gettext("Permissions that apply beyond a single chat"))
            .header_suffix(&buttons)
            .build();
        let inner = Rc::new(Inner {
            group,
            export,
            rows: RefCell::default(),
            shown: RefCell::default(),
            context: context.clone(),
        });
        let weak = Rc::downgrade(&inner);
        inner.export.connect_clicked(move |_| {
            if let Some(inner) = weak.upgrade() {
                inner.ask_where();
            }
        });
        let weak = Rc::downgrade(&inner);
        add.connect_clicked(move |_| {
            if let Some(inner) = weak.upgrade() {
                editor::open(&inner.context, None);
            }
        });
        let this = Self { inner };
        this.fill();
        this
    }

    pub(super) fn widget(&self) -> &adw::PreferencesGroup {
        &self.inner.group
    }

    /// Shows the current rules.
    pub(super) fn fill(&self) {
        let inner = &self.inner;
        let rules = inner.context.manager.settings().current().permissions.rules.clone();
        if *inner.shown.borrow() == rules && !inner.rows.borrow().is_empty() {
            return;
        }
        for row in inner.rows.take() {
            inner.group.remove(&row);
        }
        let mut rows: Vec<adw::ActionRow> = rules.iter().map(|rule| inner.row(rule)).collect();
        if rows.is_empty() {
            rows.push(plain_row(
                &gettext("No rules yet"),
                &gettext("To add a rule, choose “Always Allow” or “Always Deny” when a tool asks"),
            ));
        }
        for row in &rows {
            inner.group.add(row);
        }
        inner.export.set_sensitive(!rules.is_empty());
        inner.rows.replace(rows);
        inner.shown.replace(rules);
    }
}

impl Inner {
    fn row(self: &Rc<Self>, rule: &Remembered) -> adw::ActionRow {
        let row = plain_row(&shown(rule), &meaning(rule));
        row.add_css_class("rule");
        let icon = match rule.effect {
            Effect::Allow => "object-select-symbolic",
            Effect::Deny => "action-unavailable-symbolic",
        };
        row.add_prefix(&gtk::Image::from_icon_name(icon));
        let edit = icon_button("document-edit-symbolic", &gettext("Edit this rule"));
        let (context, known) = (self.context.clone(), rule.clone());
        edit.connect_clicked(move |_| editor::open(&context, Some(known.clone())));
        row.add_suffix(&edit);
        let remove = icon_button("user-trash-symbolic", &gettext("Remove this rule"));
        let (weak, rule) = (Rc::downgrade(self), rule.clone());
        remove.connect_clicked(move |_| {
            if let Some(inner) = weak.upgrade() {
                inner.forget(rule.clone());
            }
        });
        row.add_suffix(&remove);
        row
    }

    fn forget(self: Rc<Self>, rule: Remembered) {
        glib::spawn_future_local(async move {
            let (told, forgotten) = tokio::sync::oneshot::channel();
            let old = rule.clone();
            let change = move |settings: &mut Settings| {
                // The receiver waits below.
                let _ = told.send(settings.permissions.forget(&old));
            };
            if self.context.change(change).await
                && let Ok(Some(at)) = forgotten.await
            {
                self.offer_undo(rule, at);
            }
        });
    }

    fn offer_undo(&self, rule: Remembered, at: usize) {
        let Some(window) = self.context.window.upgrade() else { return };
        let words = words::fill(&gettext("“{rule}” removed"), &[("rule", &shown(&rule))]);
        let toast = adw::Toast::builder()
            .title(glib::markup_escape_text(&words))
            .button_label(gettext("Undo"))
            .timeout(10)
            .build();
        let context = self.context.clone();
        toast.connect_button_clicked(move |_| {
            let (context, rule) = (context.clone(), rule.clone());
            glib::spawn_future_local(async move {
                context.change(move |settings| settings.permissions.put_back(rule, at)).await;
            });
        });
        window.add_toast(toast);
    }

    fn ask_where(self: Rc<Self>) {
        let window = self.context.window.upgrade();
        let parent = window.as_ref().map(Cast::upcast_ref);
        file_dialog::ask_where(
            parent,
            &gettext("Export Rules"),
            "natter-rules.toml",
            move |file| {
                glib::spawn_future_local(async move { self.export(&file).await });
            },
        );
    }

    async fn export(&self, file: &gio::File) {
        let text = self.context.manager.settings().current().permissions.rules_as_toml();
        let words = match file_dialog::write(file, text.into_bytes()).await {
            Ok(()) => words::fill(&gettext("Saved to {file}"), &[("file", &file.parse_name())]),
            Err(reason) => {
                let text = gettext("Couldn’t write the file: {reason}");
                words::fill(&text, &[("reason", &reason)])
            }
        };
        self.context.tell(&words);
    }
}

/// A rule as text; models wrote parts of it.
fn shown(rule: &Remembered) -> String {
    words::visible(&rule.rule.to_string()).into_owned()
}

/// What a rule does, and where.
fn meaning(rule: &Remembered) -> String {
    if rule.effect == Effect::Allow && rule.rule.is_obsolete() {
        return gettext("No longer used. You now allow network access for each command.");
    }
    let text = match (rule.effect, &rule.project) {
        (Effect::Allow, None) => gettext("Allowed everywhere"),
        (Effect::Deny, None) => gettext("Denied everywhere"),
        (Effect::Allow, Some(_)) => gettext("Allowed in {folder}"),
        (Effect::Deny, Some(_)) => gettext("Denied in {folder}"),
    };
    let folder = rule.project.as_deref().map(projects::display_path).unwrap_or_default();
    words::fill(&text, &[("folder", &folder)])
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn a_rule_says_what_it_does_and_where_and_hides_nothing() {
        let rule = |effect, project: Option<&str>| Remembered {
            rule: "write:src/\u{202e}**".parse().unwrap(),
            effect,
            project: project.map(PathBuf::from),
        };
        let all = [
            rule(Effect::Allow, None),
            rule(Effect::Deny, None),
            rule(Effect::Allow, Some("/projects/natter")),
            rule(Effect::Deny, Some("/projects/natter")),
        ];
        let meanings: Vec<String> = all.iter().map(meaning).collect();
        for (context, one) in meanings.iter().enumerate() {
            assert!(!meanings[..context].contains(one), "{one}");
            assert_eq!(one.contains("/projects/natter"), context >= 2, "{one}");
        }
        assert!(!shown(&all[0]).contains('\u{202e}'));
    }
}
