//! Shows models that other programs on this computer have. Each can be added with one click and
//! stays in its folder.

use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;

use adw::prelude::*;
use chat_core::error::Error;
use chat_core::manager::Manager;
use chat_core::models::DiscoveredModel;
use chat_presentation::words::{bytes, fill, sentence};
use gettextrs::gettext;
use gtk::glib;

use crate::models::list::KeyedList;
use crate::models::row::{Act, ModelRow, RowContents};
use crate::models::words;

/// The group. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct FoundModels {
    inner: Rc<Inner>,
}

#[derive(Debug)]
struct Inner {
    group: adw::PreferencesGroup,
    models: KeyedList<PathBuf, ModelRow>,
    /// The models that the rows were created for.
    found: RefCell<Vec<DiscoveredModel>>,
    manager: Manager,
}

impl FoundModels {
    pub(super) fn new(manager: &Manager) -> Self {
        let group = adw::PreferencesGroup::builder()
            .title(gettext("In Other Apps"))
            .description(gettext("Natter uses these files in place, without copying them"))
            .visible(false)
            .build();
        let models = KeyedList::new(&gettext("Models from Other Apps"), |row: &ModelRow| {
            row.widget().clone().upcast()
        });
        group.add(models.widget());
        let found = RefCell::default();
        Self { inner: Rc::new(Inner { group, models, found, manager: manager.clone() }) }
    }

    pub(super) fn widget(&self) -> &adw::PreferencesGroup {
        &self.inner.group
    }

    /// Looks for models of other programs. Models that cannot be read now are not offered.
    pub(super) async fn look(&self) {
        let inner = &self.inner;
        let found = inner.manager.local_models().discovered().await.unwrap_or_default();
        inner.group.set_visible(!found.is_empty());
        let paths = found.iter().map(|model| model.path.clone()).collect();
        inner.found.replace(found);
        inner.models.sync(paths, |path| {
            let row = ModelRow::new("folder-symbolic", &inner.title(path));
            inner.show(&row, path, None);
            let (weak, at, path) = (Rc::downgrade(inner), row.downgrade(), path.clone());
            row.connect_act(move |_| {
                if let (Some(inner), Some(row)) = (weak.upgrade(), at.upgrade()) {
                    inner.add(row, &path);
                }
            });
            row
        });
    }
}

impl Inner {
    fn title(&self, path: &PathBuf) -> String {
        self.of(path).map(|model| model.name).unwrap_or_default()
    }

    fn of(&self, path: &PathBuf) -> Option<DiscoveredModel> {
        self.found.borrow().iter().find(|model| model.path == *path).cloned()
    }

    fn show(&self, row: &ModelRow, path: &PathBuf, error: Option<&Error>) {
        let Some(model) = self.of(path) else { return };
        let place = fill(&gettext("In {program}"), &[("program", model.program.name())]);
        row.show(RowContents {
            about: format!(
                "{place} · {} · {}\n{}",
                bytes(model.size),
                words::can(&model.facts),
                words::memory(words::need_of(&model.facts)),
            ),
            state: error.map(sentence),
            wrong: error.is_some(),
            acts: vec![Act::Add],
            fraction: None,
        });
    }

    /// Adds a model; an event reports that it is here.
    fn add(self: &Rc<Self>, row: ModelRow, path: &PathBuf) {
        let Some(model) = self.of(path) else { return };
        let (inner, path) = (Rc::clone(self), path.clone());
        glib::spawn_future_local(async move {
            if let Err(error) = inner.manager.local_models().add_discovered(model).await {
                inner.show(&row, &path, Some(&error));
            }
        });
    }
}
