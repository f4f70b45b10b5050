//! Shows one item of the list: who asks, in which folder, and the card.

use std::cell::Cell;
use std::path::PathBuf;
use std::rc::Rc;

use adw::prelude::*;
use chat_core::event::{SessionApproval, SessionPlaceholder};
use gettextrs::gettext;
use gtk::pango;

use crate::conversation::ApprovalCard;
use crate::{accessible, projects};

/// Something that waits, and who asks.
#[derive(Clone, Debug)]
pub(super) struct Waiting {
    pub(super) approval: SessionApproval,
    /// Who asks.
    pub(super) asker: String,
    /// The folder that its chat works in.
    pub(super) folder: Option<PathBuf>,
}

impl Waiting {
    /// An approval request of a session, and the title by which that is known. A session that is not in
    /// the list yet is a new one.
    pub(super) fn new(
        approval: &SessionApproval,
        session: Option<&SessionPlaceholder>,
        title: Option<String>,
    ) -> Self {
        Self {
            approval: approval.clone(),
            asker: title.unwrap_or_else(|| gettext("New Chat")),
            folder: session.and_then(|session| session.project.clone()),
        }
    }
}

/// Whether an item still waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    Waits,
    /// It was answered in the list.
    Answered,
    /// It was answered elsewhere, or its reply was stopped.
    Ended,
}

/// An item, whose card stays the same as long as it is there.
pub(super) struct ApprovalItem {
    pub(super) root: gtk::Box,
    pub(super) approval: SessionApproval,
    pub(super) card: Rc<ApprovalCard>,
    title: gtk::Label,
    folder: gtk::Label,
    show: gtk::Button,
    is_over: Cell<bool>,
}

impl ApprovalItem {
    /// `shown` is called when the user wants to see the chat.
    pub(super) fn new(waiting: &Waiting, card: ApprovalCard, shown: impl Fn() + 'static) -> Self {
        let title = label("waiting-title", pango::EllipsizeMode::End);
        let folder = label("waiting-folder", pango::EllipsizeMode::Middle);
        let names = gtk::Box::builder()
            .orientation(gtk::Orientation::Vertical)
            .valign(gtk::Align::Center)
            .hexpand(true)
            .build();
        names.append(&title);
        names.append(&folder);
        let show = gtk::Button::builder().valign(gtk::Align::Center).css_classes(["flat"]).build();
        show.connect_clicked(move |_| shown());
        let head = gtk::Box::builder().spacing(8).build();
        head.append(&names);
        head.append(&show);
        let root = gtk::Box::builder()
            .orientation(gtk::Orientation::Vertical)
            .accessible_role(gtk::AccessibleRole::Group)
            .css_classes(["waiting-item"])
            .build();
        root.append(&head);
        root.append(card.widget());
        let item = Self {
            root,
            approval: waiting.approval.clone(),
            card: Rc::new(card),
            title,
            folder,
            show,
            is_over: Cell::default(),
        };
        item.set_progress(Progress::Waits);
        item.update(waiting);
        item
    }

    /// Shows who asks, and where.
    pub(super) fn update(&self, waiting: &Waiting) {
        if self.title.label() != waiting.asker {
            self.title.set_label(&waiting.asker);
            self.title.set_tooltip_text(Some(&waiting.asker));
            accessible::set_label(&self.root, &waiting.asker);
        }
        let path = waiting.folder.as_deref().map(projects::display_path).unwrap_or_default();
        self.folder.set_label(&path);
        self.folder.set_tooltip_text(Some(&path).filter(|path| !path.is_empty()).map(|x| &**x));
        self.folder.set_visible(!path.is_empty());
        accessible::set_description(&self.root, &path);
    }

    /// Shows whether it still waits. It keeps its place and its size.
    pub(super) fn set_progress(&self, progress: Progress) {
        self.is_over.set(progress != Progress::Waits);
        self.root.set_sensitive(progress == Progress::Waits);
        self.show.set_label(&match progress {
            Progress::Waits => gettext("Show Chat"),
            Progress::Answered => gettext("Answered"),
            Progress::Ended => gettext("No Longer Waiting"),
        });
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_over.get()
    }
}

fn label(class: &str, ellipsize: pango::EllipsizeMode) -> gtk::Label {
    gtk::Label::builder()
        .use_markup(false)
        .xalign(0.0)
        .ellipsize(ellipsize)
        .css_classes([class])
        .build()
}
