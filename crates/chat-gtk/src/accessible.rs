//! Sets accessible names on widgets that have no text of their own.
//!
//! gtk4-rs hides GTK's accessibility calls below GTK 4.10 although they have existed since 4.0.
//! This is the only module that calls C: it declares the one function that is needed.
#![allow(unsafe_code, reason = "the binding of one C function that gtk4-rs leaves out")]

use gtk::AccessibleProperty;
use gtk::ffi::GtkAccessible;
use gtk::glib::gobject_ffi::GValue;
use gtk::glib::prelude::*;
use gtk::glib::translate::{IntoGlib, ToGlibPtr};

unsafe extern "C" {
    fn gtk_accessible_update_property_value(
        accessible: *mut GtkAccessible,
        count: i32,
        properties: *mut i32,
        values: *const GValue,
    );
}

/// Names a widget for screen readers and tests.
pub fn set_label(widget: &impl IsA<gtk::Widget>, label: &str) {
    set_text(widget, AccessibleProperty::Label, label);
}

/// Describes a widget for screen readers, beyond its name.
pub fn set_description(widget: &impl IsA<gtk::Widget>, description: &str) {
    set_text(widget, AccessibleProperty::Description, description);
}

fn set_text(widget: &impl IsA<gtk::Widget>, property: AccessibleProperty, text: &str) {
    let value = text.to_value();
    let accessible: *mut gtk::ffi::GtkWidget = widget.as_ref().to_glib_none().0;
    let mut properties = [property.into_glib()];
    // SAFETY: every widget implements Accessible, and this one is alive during the call. Both
    // arrays have exactly the one element that the count says, both properties take a string, and
    // GTK copies the value.
    unsafe {
        gtk_accessible_update_property_value(
            accessible.cast::<GtkAccessible>(),
            1,
            properties.as_mut_ptr(),
            value.to_glib_none().0,
        );
    }
}
