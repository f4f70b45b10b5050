//! Sets accessible names on widgets that have no text of their own.
//!
//! gtk4-rs hides GTK's accessibility calls below GTK 4.10 although they have existed since 4.0.
//! This is the only module that calls C: it declares the functions that are needed.
#![allow(unsafe_code, reason = "the binding of C functions that gtk4-rs leaves out")]

use gtk::ffi::GtkAccessible;
use gtk::glib::gobject_ffi::GValue;
use gtk::glib::prelude::*;
use gtk::glib::translate::{IntoGlib, ToGlibPtr};
use gtk::{AccessibleProperty, AccessibleState};

unsafe extern "C" {
    fn gtk_accessible_update_property_value(
        accessible: *mut GtkAccessible,
        count: i32,
        properties: *mut i32,
        values: *const GValue,
    );
    fn gtk_accessible_update_state_value(
        accessible: *mut GtkAccessible,
        count: i32,
        states: *mut i32,
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

/// Says of a button whether what it opens is open.
pub fn set_expanded(button: &impl IsA<gtk::Widget>, is_expanded: bool) {
    let value = i32::from(is_expanded).to_value();
    let accessible: *mut gtk::ffi::GtkWidget = button.as_ref().to_glib_none().0;
    let mut states = [AccessibleState::Expanded.into_glib()];
    // SAFETY: every widget implements Accessible, and this one is alive during the call. Both
    // arrays have exactly the one element that the count says, the state takes an integer, which
    // may be undefined, too, and GTK copies the value.
    unsafe {
        gtk_accessible_update_state_value(
            accessible.cast::<GtkAccessible>(),
            1,
            states.as_mut_ptr(),
            value.to_glib_none().0,
        );
    }
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
