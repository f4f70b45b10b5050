//! Imports chats: says where they can come from, what is in the files, how far it is, and what came of it.

mod pages;

use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::rc::Rc;

use adw::prelude::*;
use chat_core::error::Error;
use chat_core::manager::{ImportPreview, ImportReport, Manager};
use chat_presentation::words;
use gettextrs::gettext;
use gtk::{gdk, gio, glib};

use self::pages::Pages;
use crate::preferences::close_with_escape;

/// The dialog.
struct Importing {
    window: adw::Window,
    manager: Manager,
    pages: Pages,
    /// The files, once they are chosen.
    paths: RefCell<Vec<PathBuf>>,
    /// How many chats they hold.
    chats: Cell<usize>,
    /// What is done now; ended with the window.
    work: RefCell<Option<glib::JoinHandle<()>>>,
}

/// Shows the dialog above a window.
pub(super) fn open(parent: &adw::ApplicationWindow, manager: &Manager) {
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
        chats: Cell::new(0),
        work: RefCell::default(),
    });
    importing.connect();
    importing.window.present();
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
        // Keeps the dialog alive until it is answered.
        let alive = RefCell::new(Some(chooser.clone()));
        let weak = Rc::downgrade(self);
        chooser.connect_response(move |chooser, response| {
            alive.take();
            let Some(this) = weak.upgrade().filter(|_| response == gtk::ResponseType::Accept)
            else {
                return;
            };
            let files = chooser.files();
            let paths = files.iter::<gio::File>().flatten().filter_map(|file| file.path());
            this.look(paths.collect());
        });
        chooser.show();
    }

    /// Looks what is in files.
    fn look(self: &Rc<Self>, paths: Vec<PathBuf>) {
        self.pages.show_reading();
        self.paths.replace(paths.clone());
        let (weak, import) = (Rc::downgrade(self), self.manager.import());
        self.work(Some(glib::spawn_future_local(async move {
            let preview = import.preview(&paths).await;
            if let Some(this) = weak.upgrade() {
                match preview {
                    Ok(preview) => this.show_preview(&preview),
                    Err(error) => this.fail(&error),
                }
            }
        })));
    }

    fn show_preview(&self, preview: &ImportPreview) {
        self.chats.set(preview.chats);
        let mut lines = Vec::from_iter(words::found_chats(preview));
        if let (Some(oldest), Some(newest)) = (preview.oldest, preview.newest) {
            lines.push(words::time_of_chats(&date(oldest), &date(newest)));
        }
        if preview.present > 0 {
            lines.push(words::already_here(preview.present));
        }
        let problems = preview.unreadable.iter().map(words::not_imported);
        let problems: Vec<_> = problems.chain(preview.broken.iter().map(words::sentence)).collect();
        self.pages.show_preview(&lines, &problems, preview.chats > preview.present);
    }

    fn import(self: &Rc<Self>) {
        self.pages.show_progress(0, 0.0);
        let (weak, import) = (Rc::downgrade(self), self.manager.import());
        let paths = self.paths.borrow().clone();
        self.work(Some(glib::spawn_future_local(async move {
            let seen = weak.clone();
            let report = import.run(&paths, move |done| {
                if let Some(this) = seen.upgrade() {
                    let all = this.chats.get().max(1);
                    this.pages.show_progress(done.chats, done.chats as f64 / all as f64);
                }
            });
            let report = report.await;
            if let Some(this) = weak.upgrade() {
                match report {
                    Ok(report) => this.show_report(&report),
                    Err(error) => this.fail(&error),
                }
            }
        })));
    }

    fn show_report(&self, report: &ImportReport) {
        let mut lines = vec![words::imported(report.imported.len())];
        if report.present > 0 {
            lines.push(words::already_here(report.present));
        }
        let problems = report.unreadable.iter().map(words::not_imported);
        let problems: Vec<_> = problems.chain(report.broken.iter().map(words::sentence)).collect();
        self.pages.show_report(&lines, &problems);
    }

    fn fail(&self, error: &Error) {
        self.pages.show_failure(&words::sentence(error));
    }
}

/// A day as the user's language writes it.
fn date(time: jiff::Timestamp) -> String {
    let time = glib::DateTime::from_unix_local(time.as_second());
    time.and_then(|time| time.format("%x")).map(String::from).unwrap_or_default()
}
