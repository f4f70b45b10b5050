//! Offers what is selected for the middle button. The text is put together only when another program asks for it.

use std::rc::Rc;

use gtk::prelude::*;
use gtk::subclass::prelude::*;
use gtk::{gdk, glib};

use crate::conversation::view::Inner;

mod imp {
    use std::cell::RefCell;
    use std::rc::Weak;

    use gtk::prelude::*;
    use gtk::subclass::prelude::*;
    use gtk::{gdk, glib};

    use super::Inner;

    #[derive(Default)]
    pub struct SelectedText {
        pub(super) inner: RefCell<Weak<Inner>>,
    }

    #[glib::object_subclass]
    impl ObjectSubclass for SelectedText {
        const NAME: &'static str = "NatterSelectedText";
        type Type = super::SelectedText;
        type ParentType = gdk::ContentProvider;
    }

    impl ObjectImpl for SelectedText {}

    impl ContentProviderImpl for SelectedText {
        fn formats(&self) -> gdk::ContentFormats {
            gdk::ContentFormats::for_type(String::static_type())
        }

        fn value(&self, kind: glib::Type) -> Result<glib::Value, glib::Error> {
            if kind != String::static_type() {
                return self.parent_value(kind);
            }
            let inner = self.inner.borrow().upgrade();
            let text = inner.and_then(|inner| inner.selected_text()).unwrap_or_default();
            Ok(text.to_value())
        }
    }
}

glib::wrapper! {
    /// The selected text, for a clipboard.
    pub struct SelectedText(ObjectSubclass<imp::SelectedText>) @extends gdk::ContentProvider;
}

impl Inner {
    /// Offers the selected text for the middle button, if there is any and it is not offered already.
    pub(super) fn offer_selected_text(self: &Rc<Self>) {
        let is_empty = !self.state.try_borrow().is_ok_and(|state| state.selected().is_some());
        let clipboard = self.column.primary_clipboard();
        if is_empty || self.is_offered(&clipboard) {
            return;
        }
        let content: SelectedText = glib::Object::new();
        content.imp().inner.replace(Rc::downgrade(self));
        if let Err(error) = clipboard.set_content(Some(&content)) {
            tracing::debug!(%error, "the selection cannot be offered");
        }
    }

    /// Nothing is selected any more: there is nothing for the middle button.
    pub(super) fn withdraw_selected_text(self: &Rc<Self>) {
        let clipboard = self.column.primary_clipboard();
        if self.is_offered(&clipboard)
            && let Err(error) = clipboard.set_content(None::<&gdk::ContentProvider>)
        {
            tracing::debug!(%error, "the selection cannot be withdrawn");
        }
    }

    fn is_offered(self: &Rc<Self>, clipboard: &gdk::Clipboard) -> bool {
        let content = clipboard.content().and_downcast::<SelectedText>();
        content.is_some_and(|it| it.imp().inner.borrow().ptr_eq(&Rc::downgrade(self)))
    }
}
