//! Shows on a button for a moment that it copied something.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use gettextrs::gettext;
use gtk::glib;
use relm4::gtk::prelude::*;

use crate::accessible;

/// The icon of buttons that copy.
pub(crate) const COPY: &str = "edit-copy-symbolic";
/// The icon of one that has copied.
const COPIED: &str = "object-select-symbolic";
/// How long that is shown: long enough to be read and heard.
const SHOWN: Duration = Duration::from_millis(1500);

/// How a button looks, usually and once it has copied. Cheap to clone.
#[derive(Clone)]
pub(crate) struct CopyMark {
    button: glib::WeakRef<gtk::Widget>,
    icon: &'static str,
    name: Rc<str>,
    /// How often it was shown.
    count: Rc<Cell<u32>>,
}

impl CopyMark {
    /// Gives a button (or a menu button) its icon and its name.
    pub(crate) fn on(button: &impl IsA<gtk::Widget>, icon: &'static str, name: &str) -> Self {
        let mark = Self {
            button: button.upcast_ref().downgrade(),
            icon,
            name: name.into(),
            count: Rc::default(),
        };
        mark.look(icon, name);
        mark
    }

    /// Shows that it has copied, for a moment.
    pub(crate) fn show(&self) {
        let count = self.count.get().wrapping_add(1);
        self.count.set(count);
        // A screen reader says the new name of what has the keyboard.
        self.look(COPIED, &gettext("Copied"));
        if let Some(button) = self.button.upgrade() {
            button.add_css_class("copied");
        }
        let mark = self.clone();
        glib::timeout_add_local_once(SHOWN, move || {
            // Pressed again meanwhile, it is shown for longer.
            if mark.count.get() == count {
                mark.look(mark.icon, &mark.name);
                if let Some(button) = mark.button.upgrade() {
                    button.remove_css_class("copied");
                }
            }
        });
    }

    fn look(&self, icon: &str, name: &str) {
        let Some(button) = self.button.upgrade() else { return };
        button.set_property("icon-name", icon);
        button.set_tooltip_text(Some(name));
        accessible::set_label(&button, name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::main_loop::until;

    #[gtk::test]
    fn a_button_says_that_it_copied_and_then_what_it_does() {
        crate::init();
        let button = gtk::Button::new();
        let mark = CopyMark::on(&button, COPY, "Copy Message");
        let looks = || (button.icon_name().unwrap_or_default(), button.tooltip_text());
        let usual = (COPY.into(), Some("Copy Message".into()));
        assert_eq!(looks(), usual);
        mark.show();
        mark.show();
        assert_eq!(looks(), (COPIED.into(), Some("Copied".into())));
        until("the usual icon", || looks() == usual);
        assert!(!button.has_css_class("copied"));
    }

    #[gtk::test]
    fn so_does_a_menu_button() {
        crate::init();
        let button = gtk::MenuButton::new();
        let mark = CopyMark::on(&button, COPY, "Copy Table");
        mark.show();
        assert_eq!(button.icon_name().as_deref(), Some(COPIED));
        until("the usual icon", || button.icon_name().as_deref() == Some(COPY));
    }
}
