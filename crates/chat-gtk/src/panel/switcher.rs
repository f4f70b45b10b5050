//! Shows the buttons that switch between the pages of the panel.

use std::rc::Rc;

use chat_presentation::words::fill;
use gettextrs::gettext;
use relm4::gtk::prelude::*;

/// The buttons. Cheap to clone.
#[derive(Clone)]
pub(super) struct Switcher {
    root: gtk::Box,
    pages: Rc<gtk::Stack>,
}

impl Switcher {
    pub(super) fn new(pages: &gtk::Stack) -> Self {
        let root = gtk::Box::builder().css_classes(["panel-pages"]).spacing(2).build();
        Self { root, pages: Rc::new(pages.clone()) }
    }

    pub(super) fn widget(&self) -> &gtk::Box {
        &self.root
    }

    /// Adds a button for the page of this name.
    pub(super) fn add(&self, name: &'static str, title: &str) {
        let label = gtk::Label::builder()
            .label(title)
            .ellipsize(gtk::pango::EllipsizeMode::End)
            .width_chars(4)
            .build();
        let button = gtk::ToggleButton::builder().child(&label).css_classes(["flat"]).build();
        let spoken = fill(&gettext("Page: {title}"), &[("title", title)]);
        crate::accessible::set_label(&button, &spoken);
        if let Some(first) = self.root.first_child().and_downcast::<gtk::ToggleButton>() {
            button.set_group(Some(&first));
        }
        let pages = Rc::clone(&self.pages);
        button.connect_toggled(move |button| {
            if button.is_active() {
                pages.set_visible_child_name(name);
            }
        });
        let weak = button.downgrade();
        let show = move |pages: &gtk::Stack| {
            if let Some(button) = weak.upgrade() {
                button.set_active(pages.visible_child_name().as_deref() == Some(name));
            }
        };
        show(&self.pages);
        self.pages.connect_visible_child_name_notify(show);
        self.root.append(&button);
    }
}
