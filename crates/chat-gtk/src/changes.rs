//! Shows the changes of a chat for review: files with their diffs, each change to be accepted or
//! rejected.
//!
//! [`listing`] holds the data, [`item`] decides which row shows what, and [`list`] shows the rows.
//! The page owns the view state; answers are reported to its parent.

mod actions;
mod heads;
mod item;
mod line;
mod list;
pub(crate) mod listing;
mod row;
mod text;
mod words;

use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::{Rc, Weak};

use chat_core::message::Fid;
use chat_core::review::{ReviewOutcome, ReviewScope};
use chat_presentation::words::fill;
use gettextrs::gettext;
use gtk::glib;
use relm4::gtk::prelude::*;

use crate::models::has_keyboard;
use crate::{accessible, adaptive_pair};
pub(crate) use heads::counted;
use item::{Item, ListOptions, items};
use list::List;
pub(crate) use listing::{Listing, ReviewAction, Verdict};
use row::Act;
pub(crate) use words::{answered, files_changed};

/// Below this width, old and new are not shown side by side, in pixels.
const BESIDE: i32 = 560;
/// The number of files may be cut off, but this many letters always stay visible.
const TITLE: i32 = 8;
/// This many files are open at first.
const OPEN: usize = 3;

/// Messages of the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Output {
    /// Answer changes.
    Answer(ReviewAction),
    /// Undo the last answer.
    Undo,
    /// Open this file at this line.
    Open { path: PathBuf, line: usize },
    /// Whether to show old and new side by side from now on.
    SideBySide(bool),
}

/// The review page. Cheap to clone.
#[derive(Clone)]
pub(crate) struct ChangesPage {
    inner: Rc<Inner>,
}

struct Inner {
    root: gtk::Box,
    pages: gtk::Stack,
    nothing: adw::StatusPage,
    /// Undoes the last answer when nothing is left to review.
    undo: gtk::Button,
    /// Undoes it while changes are shown.
    undo_in_bar: gtk::Button,
    title: gtk::Label,
    count: gtk::Label,
    side_by_side_button: gtk::ToggleButton,
    list: List,
    state: RefCell<State>,
    output: Box<dyn Fn(Output)>,
}

#[derive(Default)]
struct State {
    fid: Option<Fid>,
    listing: Listing,
    options: ListOptions,
    /// Whether side by side view is wanted; it is used if there is space.
    wants_side_by_side: bool,
    /// The text of the answer that can be undone.
    last: Option<String>,
}

impl std::fmt::Debug for ChangesPage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChangesPage").finish_non_exhaustive()
    }
}

impl ChangesPage {
    pub(crate) fn new(output: impl Fn(Output) + 'static) -> Self {
        let inner = Rc::new_cyclic(|weak: &Weak<Inner>| Inner::new(weak, Box::new(output)));
        let weak = Rc::downgrade(&inner);
        inner.side_by_side_button.connect_toggled(move |button| {
            if let Some(inner) = weak.upgrade() {
                inner.state.borrow_mut().wants_side_by_side = button.is_active();
                inner.lay_out();
                (inner.output)(Output::SideBySide(button.is_active()));
            }
        });
        for undo in [&inner.undo, &inner.undo_in_bar] {
            let weak = Rc::downgrade(&inner);
            undo.connect_clicked(move |_| {
                if let Some(inner) = weak.upgrade() {
                    (inner.output)(Output::Undo);
                }
            });
        }
        inner.connect_undo();
        let weak = Rc::downgrade(&inner);
        inner.list.connect_away(move || {
            if let Some(inner) = weak.upgrade() {
                inner.close_gaps();
            }
        });
        let weak = Rc::downgrade(&inner);
        inner.list.connect_width(move || {
            if let Some(inner) = weak.upgrade() {
                inner.lay_out();
            }
        });
        Self { inner }
    }

    pub(crate) fn widget(&self) -> &gtk::Box {
        &self.inner.root
    }

    /// Shows a chat's changes, or why there are none to review.
    pub(crate) fn show(&self, fid: Option<&Fid>, listing: Result<Listing, String>) {
        let inner = &self.inner;
        let mut state = inner.state.borrow_mut();
        if state.fid.as_ref() != fid {
            state.fid = fid.cloned();
            state.options.open.clear();
            state.options.notes.clear();
            state.options.gaps.clear();
        }
        let why = listing.as_ref().err().cloned();
        state.listing = listing.unwrap_or_default();
        let State { listing, options, .. } = &mut *state;
        options.notes.retain(|(path, hunk), _| {
            let file = listing.files().iter().find(|file| file.change.path == *path);
            file.is_some_and(|file| {
                hunk.is_none_or(|hunk| file.change.hunks.iter().any(|one| one.id == hunk))
            })
        });
        for file in listing.files() {
            let open = options.open.len() < OPEN;
            options.open.entry(file.change.path.clone()).or_insert(open);
        }
        let count = listing.count();
        let (added, removed) = listing.counts();
        let (files, lines) = (files_changed(count), counted(added, removed));
        inner.title.set_label(&files);
        inner.title.set_tooltip_text(Some(&files));
        inner.count.set_label(&lines);
        let page = if count == 0 { "nothing" } else { "changes" };
        let is_other = inner.pages.visible_child_name().as_deref() != Some(page);
        let had_keyboard = is_other && has_keyboard(&inner.pages);
        inner.pages.set_visible_child_name(page);
        let usual = || gettext("The assistant’s file changes appear here for you to review.");
        let mut about = why.unwrap_or_else(usual);
        if let Some(last) = &state.last {
            about.push_str("\n\n");
            about.push_str(&last_decision(last));
        }
        // Otherwise it would be parsed as markup.
        inner.nothing.set_description(Some(&glib::markup_escape_text(&about)));
        drop(state);
        inner.renew();
        match (had_keyboard, count) {
            (true, 0) => drop(inner.undo.grab_focus()),
            (true, _) => self.focus(),
            _ => {}
        }
    }

    /// Sets the text of the answer that can be undone; [`show`](Self::show) shows it.
    pub(crate) fn set_undo(&self, last: Option<String>) {
        let Inner { undo, undo_in_bar, .. } = &*self.inner;
        let tooltip =
            last.as_deref().map(|last| format!("{}\n{}", undo_words(), last_decision(last)));
        undo_in_bar.set_tooltip_text(tooltip.as_deref());
        // The keyboard must not be on a button that disappears.
        if last.is_none() && undo_in_bar.has_focus() {
            self.focus();
        }
        undo.set_visible(last.is_some());
        undo_in_bar.set_visible(last.is_some());
        self.inner.state.borrow_mut().last = last;
    }

    /// Shows why an answer was not fully applied.
    pub(crate) fn tell(&self, fid: &Fid, action: &ReviewAction, answer: &ReviewOutcome) {
        let mut state = self.inner.state.borrow_mut();
        if state.fid.as_ref() != Some(fid) {
            return;
        }
        let hunk_of = |part: &ReviewScope| match part {
            ReviewScope::Hunks(hunks) => hunks.first().copied(),
            ReviewScope::File | ReviewScope::By(_) => None,
        };
        match &action.what {
            Some((path, part)) => {
                let key = (path.clone(), hunk_of(part));
                state.options.notes.remove(&key);
                let conflict = answer.conflicts.iter().find(|conflict| conflict.path == *path);
                let words = conflict.map(|conflict| words::conflict(&conflict.reason));
                let gone = (!answer.gone.is_empty()).then(words::gone);
                if let Some(words) = words.or(gone) {
                    state.options.notes.insert(key, words);
                }
            }
            None => {
                for conflict in &answer.conflicts {
                    let key = (conflict.path.clone(), None);
                    state.options.notes.insert(key, words::conflict(&conflict.reason));
                }
            }
        }
        drop(state);
        self.inner.renew();
    }

    /// Sets whether side by side view is wanted.
    pub(crate) fn set_side_by_side(&self, side_by_side: bool) {
        self.inner.side_by_side_button.set_active(side_by_side);
    }

    /// Moves the keyboard focus to the first change.
    pub(crate) fn focus(&self) {
        self.inner.list.go(|at, item| at > 0 && item.is_stop() || item.hunk().is_some());
    }
}

impl Inner {
    fn new(weak: &Weak<Self>, output: Box<dyn Fn(Output)>) -> Self {
        let owner = weak.clone();
        let list = List::new(Rc::new(move |item: &Item, act: Act| {
            if let Some(inner) = owner.upgrade() {
                inner.act(item, act);
            }
        }));
        let title = gtk::Label::builder()
            .xalign(0.0)
            .width_chars(TITLE)
            .ellipsize(gtk::pango::EllipsizeMode::End)
            .build();
        // The counts are never cut off.
        let count = gtk::Label::builder().css_classes(["change-count"]).build();
        let head = gtk::Box::builder().spacing(8).build();
        head.append(&title);
        head.append(&count);
        let side_by_side_button = gtk::ToggleButton::builder()
            .icon_name("view-dual-symbolic")
            .tooltip_text(side_by_side_words())
            .css_classes(["flat"])
            .build();
        accessible::set_label(&side_by_side_button, &side_by_side_words());
        let undo_in_bar = gtk::Button::builder()
            .icon_name("edit-undo-symbolic")
            .visible(false)
            .css_classes(["flat"])
            .build();
        accessible::set_label(&undo_in_bar, &undo_words());
        let buttons = gtk::Box::builder().spacing(4).build();
        buttons.append(&undo_in_bar);
        buttons.append(&side_by_side_button);
        for (verdict, label) in
            [(Verdict::Accept, gettext("Accept All")), (Verdict::Reject, gettext("Reject All"))]
        {
            let button = gtk::Button::builder().label(label).css_classes(["flat"]).build();
            let owner = weak.clone();
            button.connect_clicked(move |_| {
                if let Some(inner) = owner.upgrade() {
                    (inner.output)(Output::Answer(ReviewAction::all(verdict)));
                }
            });
            buttons.append(&button);
        }
        let bar = adaptive_pair::controls(&head, &buttons);
        bar.add_css_class("changes-bar");
        let changes = gtk::Box::builder().orientation(gtk::Orientation::Vertical).build();
        changes.append(&bar);
        changes.append(list.widget());
        let undo = gtk::Button::builder()
            .label(undo_words())
            .halign(gtk::Align::Center)
            .visible(false)
            .css_classes(["pill"])
            .build();
        let nothing = adw::StatusPage::builder()
            .icon_name("object-select-symbolic")
            .title(gettext("Nothing to Review"))
            .child(&undo)
            .css_classes(["compact"])
            .build();
        let pages = gtk::Stack::builder().vexpand(true).vhomogeneous(false).build();
        pages.add_named(&nothing, Some("nothing"));
        pages.add_named(&changes, Some("changes"));
        let root = gtk::Box::builder()
            .orientation(gtk::Orientation::Vertical)
            .css_classes(["changes-page"])
            .build();
        root.append(&pages);
        let state = RefCell::default();
        Self {
            root,
            pages,
            nothing,
            undo,
            undo_in_bar,
            title,
            count,
            side_by_side_button,
            list,
            state,
            output,
        }
    }

    /// Adapts the layout to the width.
    fn lay_out(&self) {
        let has_room = self.list.width() >= BESIDE;
        self.side_by_side_button.set_sensitive(has_room);
        self.side_by_side_button.set_tooltip_text(Some(&if has_room {
            side_by_side_words()
        } else {
            gettext("Too narrow for side-by-side view")
        }));
        let mut state = self.state.borrow_mut();
        let side_by_side = state.wants_side_by_side && has_room;
        if std::mem::replace(&mut state.options.side_by_side, side_by_side) != side_by_side {
            drop(state);
            self.renew();
        }
    }

    fn renew(&self) {
        let state = self.state.borrow();
        let items = items(&state.listing, &state.options);
        drop(state);
        self.list.show(&items);
    }
}

fn undo_words() -> String {
    gettext("Undo the Last Decision")
}

fn last_decision(what: &str) -> String {
    fill(&gettext("Last decision: {what}"), &[("what", what)])
}

fn side_by_side_words() -> String {
    gettext("Side-by-Side View")
}

#[cfg(test)]
mod tests;
