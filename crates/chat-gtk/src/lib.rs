//! gtk
