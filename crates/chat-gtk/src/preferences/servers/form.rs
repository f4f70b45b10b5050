//! Shows the form in which a server is added or edited.

mod build;
mod pairs;
mod paths;
mod proposals;
mod saving;
mod section;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use adw::prelude::*;
use chat_mcp::config::Server;
use chat_mcp::draft::{DraftField, DraftKind, DraftProblem, ServerDraft};
use chat_presentation::words;
use gtk::glib;

use self::pairs::Pairs;
use self::paths::Paths;
use self::proposals::Proposals;
use self::section::Section;
use super::super::rows::PreferencesContext;
use crate::close_keys::close_with_escape;

/// The kinds in the order of the row.
const KINDS: [DraftKind; 2] = [DraftKind::Program, DraftKind::Address];

/// Is told of each change in the form.
type Changed = Rc<dyn Fn()>;

/// The form with its window.
struct Form {
    context: PreferencesContext,
    window: adw::Window,
    about: Section,
    name: adw::EntryRow,
    kind: adw::ComboRow,
    program: Section,
    command: adw::EntryRow,
    address: Section,
    url: adw::EntryRow,
    variables: Pairs,
    headers: Pairs,
    sandbox: Section,
    outside: gtk::Switch,
    network: gtk::Switch,
    network_row: adw::ActionRow,
    folders: Paths,
    read_folders: Paths,
    proposals: Proposals,
    place: Section,
    working_folder: adw::EntryRow,
    result: Section,
    save: gtk::Button,
    /// The server that is edited, as it was when the form was opened.
    old: Option<Server>,
    is_saving: Cell<bool>,
    /// What the form had when folders were last looked for.
    looked: RefCell<Option<ServerDraft>>,
}

/// Opens the form for a new server.
pub(super) fn add(context: &PreferencesContext) {
    let form = Form::new(context, None);
    form.show(&ServerDraft::default());
    form.name.grab_focus();
}

/// Opens the form for a server that there is.
pub(super) fn edit(context: &PreferencesContext, name: &str) {
    let config = context.servers.servers.config();
    let Some(server) = config.server(name) else { return };
    let form = Form::new(context, Some(server.clone()));
    let draft = ServerDraft::of(server);
    form.show(&draft);
    match draft.kind {
        DraftKind::Program => form.command.grab_focus(),
        DraftKind::Address => form.url.grab_focus(),
    };
}

impl Form {
    /// Fills the form in, and shows its window.
    fn show(self: &Rc<Self>, draft: &ServerDraft) {
        self.name.set_text(&draft.name);
        let kind = KINDS.iter().position(|kind| *kind == draft.kind).unwrap_or_default();
        self.kind.set_selected(kind as u32);
        self.command.set_text(&draft.command);
        self.url.set_text(&draft.url);
        self.working_folder.set_text(&draft.working_folder);
        self.variables.fill(&draft.variables);
        self.headers.fill(&draft.headers);
        self.outside.set_active(!draft.sandbox);
        self.network.set_active(draft.network);
        self.folders.fill(&draft.folders);
        self.read_folders.fill(&draft.read_folders);
        self.connect();
        self.check();
        close_with_escape(&self.window);
        self.window.present();
    }

    /// What is filled in.
    fn draft(&self) -> ServerDraft {
        ServerDraft {
            name: self.name.text().into(),
            kind: KINDS.get(self.kind.selected() as usize).copied().unwrap_or_default(),
            command: self.command.text().into(),
            working_folder: self.working_folder.text().into(),
            variables: self.variables.filled(),
            url: self.url.text().into(),
            headers: self.headers.filled(),
            sandbox: !self.outside.is_active(),
            network: self.network.is_active(),
            folders: self.folders.filled(),
            read_folders: self.read_folders.filled(),
        }
    }

    fn connect(self: &Rc<Self>) {
        // The window keeps its form alive as long as it exists.
        let form = Cell::new(Some(Rc::clone(self)));
        self.window.connect_unrealize(move |_| drop(form.take()));
        let told = self.changed();
        for row in [&self.name, &self.command, &self.url, &self.working_folder] {
            let changed = Rc::clone(&told);
            row.connect_changed(move |_| changed());
            let save = self.save.downgrade();
            row.connect_entry_activated(move |_| {
                if let Some(save) = save.upgrade().filter(WidgetExt::is_sensitive) {
                    save.emit_clicked();
                }
            });
        }
        for list in [&self.variables, &self.headers] {
            list.connect_changed(Rc::clone(&told));
        }
        for list in [&self.folders, &self.read_folders] {
            list.connect_changed(Rc::clone(&told));
        }
        for switch in [&self.outside, &self.network] {
            let changed = Rc::clone(&told);
            switch.connect_active_notify(move |_| changed());
        }
        self.kind.connect_selected_notify(move |_| told());
        let weak = Rc::downgrade(self);
        self.proposals.connect_chosen(move |folder, may_change| {
            if let Some(form) = weak.upgrade() {
                let list = if may_change { &form.folders } else { &form.read_folders };
                list.add(&folder.to_string_lossy());
            }
        });
        let weak = Rc::downgrade(self);
        self.save.connect_clicked(move |_| {
            if let Some(form) = weak.upgrade() {
                form.save();
            }
        });
    }

    fn changed(self: &Rc<Self>) -> Changed {
        let weak = Rc::downgrade(self);
        Rc::new(move || {
            if let Some(form) = weak.upgrade() {
                form.check();
            }
        })
    }

    /// Shows the parts that are used, what is wrong with them, and whether the form can be saved.
    fn check(self: &Rc<Self>) {
        let draft = self.draft();
        let is_program = draft.kind == DraftKind::Program;
        let is_confined = is_program && draft.sandbox;
        for (section, is_used) in [
            (&self.program, is_program),
            (self.variables.section(), is_program),
            (&self.place, is_program),
            (&self.sandbox, is_program),
            (self.folders.section(), is_confined),
            (self.read_folders.section(), is_confined),
            (&self.address, !is_program),
            (self.headers.section(), !is_program),
        ] {
            section.group.set_visible(is_used);
        }
        self.network_row.set_visible(is_confined);
        let old = self.old.as_ref().map(|old| &*old.name);
        let problems = draft.problems(&self.context.servers.servers.config(), old);
        self.say(&problems);
        self.result.say(None);
        self.save.set_sensitive(problems.is_empty() && !self.is_saving.get());
        self.look_for_folders(draft);
    }

    /// Says of each part what is wrong with it.
    fn say(&self, problems: &[(DraftField, DraftProblem)]) {
        let single = |section, row| (section, Some(row));
        for (field, (section, row)) in [
            (DraftField::Name, single(&self.about, &self.name)),
            (DraftField::Command, single(&self.program, &self.command)),
            (DraftField::WorkingFolder, single(&self.place, &self.working_folder)),
            (DraftField::Address, single(&self.address, &self.url)),
            (DraftField::Variables, (self.variables.section(), None)),
            (DraftField::Headers, (self.headers.section(), None)),
            (DraftField::Folders, (self.folders.section(), None)),
            (DraftField::ReadFolders, (self.read_folders.section(), None)),
        ] {
            let problem = problems.iter().find(|(of, _)| *of == field);
            let sentence = problem.and_then(|(_, problem)| words::mcp_draft_problem(problem));
            section.say(sentence.as_deref());
            if let Some(row) = row {
                section::mark(row, sentence.as_deref());
            }
        }
    }

    /// Proposes the folders that the arguments name.
    fn look_for_folders(self: &Rc<Self>, draft: ServerDraft) {
        if self.looked.borrow().as_ref() == Some(&draft) {
            return;
        }
        self.looked.replace(Some(draft.clone()));
        let weak = Rc::downgrade(self);
        let servers = self.context.servers.clone();
        glib::spawn_future_local(async move {
            let asked = draft.clone();
            let finding = servers.run_blocking(move || asked.named_folders(&glib::home_dir()));
            let found = finding.await.unwrap_or_default();
            // Another answer follows if the form has changed in the meantime.
            if let Some(form) = weak.upgrade().filter(|it| *it.looked.borrow() == Some(draft)) {
                form.proposals.show(&found);
            }
        });
    }
}

#[cfg(test)]
mod tests;
