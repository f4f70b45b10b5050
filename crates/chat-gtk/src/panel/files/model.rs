//! Lists the entries of one folder, and creates them only when they are needed.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chat_project::tree::{Folder, Kind};
use gtk::subclass::prelude::*;
use gtk::{gio, glib};
use relm4::gtk::prelude::*;

/// In a folder with more entries than this, only both ends are compared when it changes.
const MANY: usize = 4_000;

/// An entry of the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Node {
    /// Relative to the project.
    pub(super) path: PathBuf,
    pub(super) kind: Kind,
}

mod imp {
    use super::{
        Arc, Folder, ListModelImpl, Node, ObjectImpl, ObjectSubclass, PathBuf, RefCell, gio, glib,
    };
    use relm4::gtk::prelude::*;

    #[derive(Default)]
    pub struct FolderModel {
        pub path: RefCell<PathBuf>,
        pub listed: RefCell<ListedEntries>,
    }

    /// The listed entries: the first ones of the old folder, and then those of the new one from an
    /// index on. When no update is in progress, these are all of the new one.
    #[derive(Clone, Default)]
    pub struct ListedEntries {
        pub old: Option<Arc<Folder>>,
        pub until: usize,
        pub new: Option<Arc<Folder>>,
        pub from: usize,
    }

    #[glib::object_subclass]
    impl ObjectSubclass for FolderModel {
        const NAME: &'static str = "NatterFolderModel";
        type Type = super::FolderModel;
        type Interfaces = (gio::ListModel,);
    }

    impl ObjectImpl for FolderModel {}

    impl ListModelImpl for FolderModel {
        fn item_type(&self) -> glib::Type {
            glib::BoxedAnyObject::static_type()
        }

        fn n_items(&self) -> u32 {
            let listed = self.listed.borrow();
            let new = listed.new.as_ref().map_or(0, |folder| folder.len());
            (listed.until + new - listed.from) as u32
        }

        fn item(&self, position: u32) -> Option<glib::Object> {
            let listed = self.listed.borrow();
            let position = position as usize;
            let entry = match position.checked_sub(listed.until) {
                None => listed.old.as_ref()?.get(position)?,
                Some(behind) => listed.new.as_ref()?.get(listed.from + behind)?,
            };
            let path = self.path.borrow().join(entry.name);
            Some(glib::BoxedAnyObject::new(Node { path, kind: entry.kind }).upcast())
        }
    }
}

glib::wrapper! {
    /// The list.
    pub struct FolderModel(ObjectSubclass<imp::FolderModel>) @implements gio::ListModel;
}

impl FolderModel {
    /// The entries of a folder at this path relative to the project.
    pub(super) fn new(path: &Path, folder: Option<Arc<Folder>>) -> Self {
        let model = glib::Object::new::<Self>();
        model.imp().path.replace(path.to_owned());
        model.imp().listed.borrow_mut().new = folder;
        model
    }

    pub(super) fn path(&self) -> PathBuf {
        self.imp().path.borrow().clone()
    }

    /// Updates the folder. Entries that stay keep their rows.
    pub(super) fn set(&self, new: Option<Arc<Folder>>) {
        let old = self.imp().listed.borrow().new.clone();
        let is_same = match (&old, &new) {
            (Some(old), Some(new)) => Arc::ptr_eq(old, new),
            (old, new) => old.is_none() && new.is_none(),
        };
        if is_same {
            return;
        }
        let listed = imp::ListedEntries { old, until: 0, new, from: 0 };
        // From the end, so that earlier entries are still as they were.
        for change in changes(listed.old.as_deref(), listed.new.as_deref()).into_iter().rev() {
            let (until, from) = (change.old.start, change.new.start);
            self.imp().listed.replace(imp::ListedEntries { until, from, ..listed.clone() });
            let (removed, added) = (change.old.len() as u32, change.new.len() as u32);
            self.items_changed(until as u32, removed, added);
        }
        self.imp().listed.replace(imp::ListedEntries { old: None, ..listed });
    }
}

/// A range of entries that differ.
#[derive(Debug, PartialEq, Eq)]
struct Differing {
    old: std::ops::Range<usize>,
    new: std::ops::Range<usize>,
}

/// The differences between two lists of entries.
fn changes(old: Option<&Folder>, new: Option<&Folder>) -> Vec<Differing> {
    fn entry(folder: Option<&Folder>, at: usize) -> Option<(&OsStr, Kind)> {
        folder?.get(at).map(|entry| (entry.name, entry.kind))
    }
    let count = |folder: Option<&Folder>| folder.map_or(0, Folder::len);
    let (before, after) = (count(old), count(new));
    if before.max(after) > MANY {
        let least = before.min(after);
        let start = (0..least).take_while(|at| entry(old, *at) == entry(new, *at)).count();
        let end = (0..least - start)
            .take_while(|at| entry(old, before - 1 - at) == entry(new, after - 1 - at))
            .count();
        return vec![Differing { old: start..before - end, new: start..after - end }];
    }
    let (mut all, mut i, mut j) = (Vec::new(), 0, 0);
    for at in 0..before {
        let same = entry(old, at).and_then(|(name, kind)| {
            let place = new?.position(name)?;
            (new?.get(place)?.kind == kind && place >= j).then_some(place)
        });
        let Some(place) = same else { continue };
        if at > i || place > j {
            all.push(Differing { old: i..at, new: j..place });
        }
        (i, j) = (at + 1, place + 1);
    }
    if i < before || j < after {
        all.push(Differing { old: i..before, new: j..after });
    }
    all
}

#[cfg(test)]
mod tests {
    use chat_permission::path::{PathEnvironment, Project};
    use chat_project::tree::walk;
    use proptest::prelude::*;

    use super::*;

    /// A folder of a project with these entries; a name that ends with a slash is a folder.
    fn folder(names: &[String]) -> Arc<Folder> {
        let place = tempfile::tempdir().unwrap();
        for name in names {
            let path = place.path().join(name);
            if name.ends_with('/') {
                std::fs::create_dir_all(path).unwrap();
            } else {
                std::fs::write(path, "").unwrap();
            }
        }
        let project = Project::open(place.path(), &PathEnvironment::default()).unwrap();
        let given_up = std::sync::atomic::AtomicBool::new(false);
        let tree = walk(&project, &given_up, |_| {}).unwrap().unwrap();
        Arc::clone(tree.root())
    }

    fn names(model: &FolderModel) -> Vec<PathBuf> {
        let item = |at| {
            let item = model.item(at).and_downcast::<glib::BoxedAnyObject>().unwrap();
            item.borrow::<Node>().path.clone()
        };
        (0..model.n_items()).map(item).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn a_list_that_follows_what_it_is_told_is_the_folder(
            old in proptest::collection::hash_set("[a-e]/?", 0..6),
            new in proptest::collection::hash_set("[a-e]/?", 0..6),
        ) {
            // A name is either a file or a folder.
            let plain = |names: std::collections::HashSet<String>| {
                let mut names: Vec<_> = names.into_iter().collect();
                names.sort();
                names.dedup_by(|one, other| one.trim_end_matches('/') == other.trim_end_matches('/'));
                names
            };
            let (old, new) = (folder(&plain(old)), folder(&plain(new)));
            let model = FolderModel::new(Path::new(""), Some(old));
            let followed = std::rc::Rc::new(RefCell::new(names(&model)));
            let list = std::rc::Rc::clone(&followed);
            model.connect_items_changed(move |model, at, removed, added| {
                let (at, until) = (at as usize, (at + removed) as usize);
                let came = names(model)[at..at + added as usize].to_vec();
                list.borrow_mut().splice(at..until, came);
                assert_eq!(list.borrow().len(), model.n_items() as usize);
            });
            model.set(Some(Arc::clone(&new)));
            let expected: Vec<_> = new.entries().map(|entry| PathBuf::from(entry.name)).collect();
            prop_assert_eq!(&*followed.borrow(), &expected);
            prop_assert_eq!(names(&model), expected);
        }
    }
}
