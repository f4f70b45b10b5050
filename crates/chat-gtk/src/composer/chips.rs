//! Shows what is attached to a message: one removable chip each.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use chat_core::attachment::Thumbnail;
use chat_presentation::words::{fill, one_line, visible};
use gettextrs::gettext;
use gtk::{gdk, glib};
use relm4::gtk::prelude::*;

use crate::layout::{self, Layout};
use crate::wrap::wrap;
use crate::{accessible, pictures};

/// More chips than fit in this height are scrolled, in pixels.
const HIGHEST: i32 = 150;
/// The size of a thumbnail, in pixels.
const THUMBNAIL: i32 = 32;

/// Gives a scrolled row the height that its lines need, up to the limit: a scrolled window of the toolkit does not ask
/// how many lines there are at its width.
struct Capped(gtk::Box);

impl Layout for Capped {
    fn measure(
        &self,
        widget: &gtk::Widget,
        orientation: gtk::Orientation,
        for_size: i32,
    ) -> (i32, i32) {
        if orientation == gtk::Orientation::Vertical {
            let high = layout::height_of(self.0.upcast_ref(), for_size).min(HIGHEST);
            return (high, high);
        }
        let (_, wanted) = layout::width_of(self.0.upcast_ref());
        let scroller = layout::children(widget).next();
        let least = scroller.map_or(0, |scroller| layout::width_of(&scroller).0);
        (least, wanted.max(least))
    }

    fn allocate(&self, widget: &gtk::Widget, width: i32, height: i32) {
        if let Some(scroller) = layout::children(widget).next() {
            layout::place(&scroller, width, 0, 0, (width, height));
        }
    }
}

/// What is attached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Along {
    /// The active file.
    Active,
    /// The names of the other open files.
    Others,
    /// A pin, by its index.
    Pin(usize),
}

/// A chip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chip {
    pub(crate) along: Along,
    pub(crate) icon: &'static str,
    /// A small picture in place of the icon, PNG or JPEG of our own decoder.
    pub(crate) thumbnail: Option<Thumbnail>,
    /// Whether it is still being fetched.
    pub(crate) is_coming: bool,
    /// The action of a click on it, if it has one.
    pub(crate) act: Option<String>,
    /// Its text.
    pub(crate) label: String,
    /// What is said of it below, if anything.
    pub(crate) detail: Option<String>,
    /// What exactly is attached.
    pub(crate) tooltip: String,
}

impl Chip {
    /// Whether both look and do the same. Of several pins each has its own index.
    fn is_like(&self, other: &Self) -> bool {
        let along = match (self.along, other.along) {
            (Along::Pin(_), Along::Pin(_)) => true,
            (one, other) => one == other,
        };
        along && self.look() == other.look()
    }

    /// All that is seen of it.
    fn look(&self) -> impl PartialEq + '_ {
        let words = (&self.act, &self.label, &self.detail, &self.tooltip);
        (self.icon, &self.thumbnail, self.is_coming, words)
    }
}

/// The row of chips.
pub(super) struct Chips {
    root: gtk::Box,
    row: gtk::Box,
    current: RefCell<Vec<Chip>>,
    widgets: RefCell<Vec<ChipWidget>>,
    handler: RefCell<Option<ChipHandler>>,
}

impl std::fmt::Debug for Chips {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Chips").field("shown", &self.current).finish_non_exhaustive()
    }
}

/// Receives the user's actions on chips.
type ChipHandler = Rc<dyn Fn(ChipAction)>;

/// The user's action on a chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChipAction {
    /// Do not attach it.
    Removed(Along),
    /// It was clicked.
    Activated(Along),
}

impl Default for Chips {
    fn default() -> Self {
        let row = wrap();
        row.add_css_class("chips");
        accessible::set_label(&row, &gettext("Attachments"));
        let scroller = gtk::ScrolledWindow::builder()
            .child(&row)
            .hscrollbar_policy(gtk::PolicyType::Never)
            .build();
        let root = gtk::Box::builder().visible(false).build();
        root.append(&scroller);
        root.set_layout_manager(Some(layout::manager(Capped(row.clone()))));
        Self {
            root,
            row,
            current: RefCell::default(),
            widgets: RefCell::default(),
            handler: RefCell::default(),
        }
    }
}

impl Chips {
    pub(super) fn widget(&self) -> &gtk::Box {
        &self.root
    }

    /// Sets what receives the user's actions on chips.
    pub(super) fn connect(&self, handler: impl Fn(ChipAction) + 'static) {
        self.handler.replace(Some(Rc::new(handler)));
    }

    /// Shows these. Of many chips only those are touched that change; one whose text alone changes is kept, since
    /// it may have the focus.
    pub(super) fn show(&self, chips: Vec<Chip>) {
        let Some(handler) = self.handler.borrow().clone() else { return };
        let mut widgets = self.widgets.borrow_mut();
        let current = self.current.replace(chips);
        let chips = self.current.borrow();
        if current == *chips {
            return;
        }
        let is_like = |(old, new): &(&Chip, &Chip)| old.is_like(new);
        let before = current.iter().zip(&*chips).take_while(is_like).count();
        let (old, new) = (&current[before..], &chips[before..]);
        let after = old.iter().rev().zip(new.iter().rev()).take_while(is_like).count();
        let (old, new) = (&old[..old.len() - after], &new[..new.len() - after]);
        let kept = old.iter().zip(new).take_while(|(old, new)| has_shape_of(old, new)).count();
        for gone in widgets.splice(before + kept..before + old.len(), []) {
            self.row.remove(&gone.root);
        }
        for (at, chip) in new.iter().enumerate() {
            let place = before + at;
            if at >= kept {
                let made = ChipWidget::new(chip, &handler);
                let previous = place.checked_sub(1).map(|at| widgets[at].root.clone());
                self.row.insert_child_after(&made.root, previous.as_ref());
                widgets.insert(place, made);
            }
            widgets[place].describe(chip, old.get(at).filter(|_| at < kept));
        }
        for (widget, chip) in widgets.iter().zip(&*chips).skip(before) {
            widget.along.set(chip.along);
        }
        self.root.set_visible(!chips.is_empty());
    }
}

/// Whether a widget for the one can show the other.
fn has_shape_of(one: &Chip, other: &Chip) -> bool {
    let shape = |chip: &Chip| (chip.act.is_some(), chip.detail.is_some());
    shape(one) == shape(other)
}

/// The widgets of a chip.
struct ChipWidget {
    root: gtk::Box,
    /// What it stands for now.
    along: Rc<Cell<Along>>,
    icon: gtk::Image,
    stack: gtk::Stack,
    spinner: gtk::Spinner,
    label: gtk::Label,
    detail: Option<gtk::Label>,
    act: Option<gtk::Button>,
    close: gtk::Button,
}

impl ChipWidget {
    fn new(chip: &Chip, handler: &ChipHandler) -> Self {
        let along = Rc::new(Cell::new(chip.along));
        let (icon, spinner) = (gtk::Image::new(), gtk::Spinner::new());
        let stack = gtk::Stack::builder().valign(gtk::Align::Center).build();
        stack.add_named(&icon, Some("icon"));
        stack.add_named(&spinner, Some("coming"));
        let label = gtk::Label::builder()
            .ellipsize(gtk::pango::EllipsizeMode::Middle)
            .width_chars(6)
            .max_width_chars(32)
            .build();
        let close = gtk::Button::builder()
            .icon_name("window-close-symbolic")
            .valign(gtk::Align::Center)
            .css_classes(["flat", "circular"])
            .build();
        let root = gtk::Box::builder().css_classes(["chip"]).spacing(4).build();
        root.append(&stack);
        let act = chip.act.is_some().then(|| {
            let button = gtk::Button::builder().child(&label).css_classes(["flat", "act"]).build();
            let (acted, along) = (Rc::clone(handler), Rc::clone(&along));
            button.connect_clicked(move |_| acted(ChipAction::Activated(along.get())));
            root.append(&button);
            button
        });
        let detail = chip.detail.is_some().then(|| {
            root.add_css_class("file");
            root.set_spacing(8);
            let detail = gtk::Label::builder()
                .ellipsize(gtk::pango::EllipsizeMode::End)
                .xalign(0.0)
                .css_classes(["chip-detail"])
                .build();
            label.set_xalign(0.0);
            let lines = gtk::Box::builder()
                .orientation(gtk::Orientation::Vertical)
                .valign(gtk::Align::Center)
                .build();
            lines.append(&label);
            lines.append(&detail);
            root.append(&lines);
            detail
        });
        if act.is_none() && detail.is_none() {
            root.append(&label);
        }
        root.append(&close);
        let (removed, removes) = (Rc::clone(handler), Rc::clone(&along));
        close.connect_clicked(move |_| removed(ChipAction::Removed(removes.get())));
        let keys = gtk::EventControllerKey::new();
        let (removed, removes) = (Rc::clone(handler), Rc::clone(&along));
        keys.connect_key_pressed(move |_, key, _, _| {
            if matches!(key, gdk::Key::Delete | gdk::Key::BackSpace) {
                removed(ChipAction::Removed(removes.get()));
                return glib::Propagation::Stop;
            }
            glib::Propagation::Proceed
        });
        root.add_controller(keys);
        Self { root, along, icon, stack, spinner, label, detail, act, close }
    }

    /// Shows this chip; `before` is the one that it shows now.
    fn describe(&self, chip: &Chip, before: Option<&Chip>) {
        let thumbnail = chip.thumbnail.as_ref();
        let is_new = before.is_none_or(|before| before.thumbnail.as_ref() != thumbnail);
        if thumbnail.is_none() {
            self.icon.set_pixel_size(-1);
            self.icon.remove_css_class("thumbnail");
            self.icon.set_icon_name(Some(chip.icon));
        } else if let Some(thumbnail) = thumbnail.filter(|_| is_new) {
            self.icon.set_icon_name(Some(chip.icon));
            self.icon.add_css_class("thumbnail");
            self.icon.set_pixel_size(THUMBNAIL);
            pictures::show(&self.icon, Arc::clone(&thumbnail.data));
        }
        self.spinner.set_spinning(chip.is_coming);
        self.stack.set_visible_child_name(if chip.is_coming { "coming" } else { "icon" });
        // File names may contain anything.
        let (name, tooltip) = (one_line(&chip.label), visible(&chip.tooltip));
        self.label.set_label(&name);
        self.root.set_tooltip_text(Some(&tooltip));
        if let (Some(label), Some(detail)) = (&self.detail, &chip.detail) {
            label.set_label(detail);
            accessible::set_label(&self.label, &format!("{name}, {detail}"));
        } else {
            accessible::set_description(&self.label, &tooltip);
        }
        if let (Some(button), Some(act)) = (&self.act, &chip.act) {
            button.set_tooltip_text(Some(act));
            accessible::set_label(button, &format!("{name}, {act}"));
        }
        let words = fill(&gettext("Remove {what}"), &[("what", &name)]);
        self.close.set_tooltip_text(Some(&words));
        accessible::set_label(&self.close, &words);
    }
}
