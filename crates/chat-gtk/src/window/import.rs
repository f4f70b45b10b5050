//! Imports chats: says where they can come from, what is in the files, how far it is, and what came of it.

mod pages;

use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::pin::pin;
use std::rc::Rc;

use adw::prelude::*;
use chat_core::error::{Error, Kind, Result};
use chat_core::manager::{
    ImportPreview, ImportProgress, ImportReport, Manager, MissingParts, UnreadableChat,
};
use chat_presentation::words;
use gettextrs::gettext;
use gtk::{gdk, gio, glib};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use self::pages::Pages;
use crate::close_keys::close_with_escape;
use crate::dates::local_date;
use crate::file_dialog;

/// The dialog.
pub(super) struct Importing {
    window: adw::Window,
    manager: Manager,
    pages: Pages,
    /// The files, once they are chosen.
    paths: RefCell<Vec<PathBuf>>,
    /// How many bytes they have, as they were read for the preview.
    bytes: Cell<u64>,
    /// What is done now; ended with the window.
    work: RefCell<Option<glib::JoinHandle<()>>>,
}

/// Opens the dialog above a window.
pub(super) fn open(parent: &adw::ApplicationWindow, manager: &Manager) -> Rc<Importing> {
    let pages = Pages::new();
    let content = gtk::Box::new(gtk::Orientation::Vertical, 0);
    content.append(&adw::HeaderBar::builder().css_classes(["flat"]).build());
    content.append(pages.widget());
    let window = adw::Window::builder()
        .transient_for(parent)
        .modal(true)
        .destroy_with_parent(true)
        .title(gettext("Import Chats"))
        .default_width(460)
        .default_height(440)
        .width_request(300)
        .content(&content)
        .build();
    close_with_escape(&window);
    let importing = Rc::new(Importing {
        window,
        manager: manager.clone(),
        pages,
        paths: RefCell::default(),
        bytes: Cell::new(0),
        work: RefCell::default(),
    });
    importing.connect();
    importing.window.present();
    importing
}

impl Importing {
    fn connect(self: &Rc<Self>) {
        let on = |button: &gtk::Button, act: fn(&Rc<Self>)| {
            let weak = Rc::downgrade(self);
            button.connect_clicked(move |_| {
                if let Some(this) = weak.upgrade() {
                    act(&this);
                }
            });
        };
        on(&self.pages.files, |this| this.choose(gtk::FileChooserAction::Open));
        on(&self.pages.folder, |this| this.choose(gtk::FileChooserAction::SelectFolder));
        on(&self.pages.import, Self::import);
        on(&self.pages.again, |this| this.pages.show_choice());
        for close in [&self.pages.cancel, &self.pages.stop, &self.pages.close] {
            on(close, |this| this.window.close());
        }
        let drop = gtk::DropTarget::new(gdk::FileList::static_type(), gdk::DragAction::COPY);
        let weak = Rc::downgrade(self);
        drop.connect_drop(move |_, value, _, _| {
            let (Some(this), Ok(files)) = (weak.upgrade(), value.get::<gdk::FileList>()) else {
                return false;
            };
            let paths: Vec<_> =
                files.files().iter().filter_map(gio::prelude::FileExt::path).collect();
            let takes = !paths.is_empty() && !this.pages.is_importing();
            if takes {
                this.look(paths);
            }
            takes
        });
        self.window.add_controller(drop);
        // The window keeps this, and this keeps nothing of the window alive once that is closed.
        let kept = Cell::new(Some(Rc::clone(self)));
        self.window.connect_close_request(move |_| {
            if let Some(this) = kept.take() {
                // An import ends between two chats.
                this.work(None);
            }
            glib::Propagation::Proceed
        });
    }

    /// Does this from now on, and nothing that was begun before.
    fn work(&self, work: Option<glib::JoinHandle<()>>) {
        if let Some(before) = self.work.replace(work) {
            before.abort();
        }
    }

    fn choose(self: &Rc<Self>, action: gtk::FileChooserAction) {
        let chooser = gtk::FileChooserNative::builder()
            .title(gettext("Import Chats"))
            .action(action)
            .select_multiple(true)
            .transient_for(&self.window)
            .modal(true)
            .build();
        if action == gtk::FileChooserAction::Open {
            let exports = gtk::FileFilter::new();
            exports.set_name(Some(&gettext("Exported chats")));
            exports.add_suffix("zip");
            exports.add_suffix("json");
            chooser.add_filter(&exports);
            let all = gtk::FileFilter::new();
            all.set_name(Some(&gettext("All files")));
            all.add_pattern("*");
            chooser.add_filter(&all);
        }
        let weak = Rc::downgrade(self);
        file_dialog::ask_paths(&chooser, move |paths| {
            if let Some(this) = weak.upgrade() {
                this.look(paths);
            }
        });
    }

    /// Looks what is in files.
    fn look(self: &Rc<Self>, paths: Vec<PathBuf>) {
        self.pages.show_reading();
        self.paths.replace(paths.clone());
        let (weak, import) = (Rc::downgrade(self), self.manager.import());
        self.work(Some(glib::spawn_future_local(async move {
            let preview = away(async move { import.preview(&paths).await }).await;
            if let Some(this) = weak.upgrade() {
                match preview {
                    Ok(preview) => this.show_preview(&preview),
                    Err(error) => this.fail(&[error]),
                }
            }
        })));
    }

    fn show_preview(&self, preview: &ImportPreview) {
        if preview.chats == 0 && preview.unreadable.is_empty() {
            return self.fail(&preview.broken);
        }
        self.bytes.set(preview.bytes);
        let mut lines = Vec::from_iter(words::found_chats(preview));
        if let (Some(oldest), Some(newest)) = (preview.oldest, preview.newest) {
            lines.push(words::time_of_chats(&local_date(oldest), &local_date(newest)));
        }
        if !preview.present.is_empty() {
            lines.push(words::already_here(preview.present.len()));
        }
        let mut problems = left_out(&preview.broken, &preview.unreadable, preview.missing);
        problems.extend(preview.present.iter().map(|title| words::one_already_here(title)));
        self.pages.show_preview(&lines, &problems, preview.chats > preview.present.len());
    }

    fn import(self: &Rc<Self>) {
        self.show_progress(ImportProgress::default());
        let (weak, import) = (Rc::downgrade(self), self.manager.import());
        let paths = self.paths.borrow().clone();
        self.work(Some(glib::spawn_future_local(async move {
            let (told, mut progress) = watch::channel(ImportProgress::default());
            let run = away(async move {
                let tell = |done| {
                    told.send_replace(done);
                };
                import.run(&paths, tell).await
            });
            let mut run = pin!(run);
            let report = loop {
                tokio::select! {
                    report = &mut run => break report,
                    Ok(()) = progress.changed() => {
                        let done = *progress.borrow_and_update();
                        if let Some(this) = weak.upgrade() {
                            this.show_progress(done);
                        }
                    }
                }
            };
            if let Some(this) = weak.upgrade() {
                match report {
                    Ok(report) => this.show_report(&report),
                    Err(error) => this.fail(&[error]),
                }
            }
        })));
    }

    fn show_progress(&self, done: ImportProgress) {
        let all = self.bytes.get().max(1);
        self.pages.show_progress(done.chats, done.bytes as f64 / all as f64);
    }

    fn show_report(&self, report: &ImportReport) {
        let mut lines = vec![words::imported(report.imported.len())];
        if report.present > 0 {
            lines.push(words::already_here(report.present));
        }
        let problems = left_out(&report.broken, &report.unreadable, report.missing);
        self.pages.show_report(&lines, &problems);
    }

    fn fail(&self, errors: &[Error]) {
        self.pages.show_failure(&errors.iter().map(words::sentence).collect::<Vec<_>>());
    }
}

/// What is not imported, and why: a sentence each.
fn left_out(broken: &[Error], chats: &[UnreadableChat], missing: MissingParts) -> Vec<String> {
    let broken = broken.iter().map(words::sentence);
    let chats = chats.iter().map(words::not_imported);
    broken.chain(chats).chain(words::missing_parts(missing)).collect()
}

/// Does something away from the main loop, which thousands of chats would stall. Dropping the future cancels it.
async fn away<T: Send + 'static>(
    work: impl Future<Output = Result<T>> + Send + 'static,
) -> Result<T> {
    let wanted = CancellationToken::new();
    let _guard = wanted.clone().drop_guard();
    let done = relm4::spawn(async move { wanted.run_until_cancelled(work).await }).await;
    done.ok().flatten().unwrap_or_else(|| Err(Kind::Internal.into()))
}

#[cfg(test)]
mod tests;
