//! Writes dates as the user's language does.

use gtk::glib;
use jiff::Timestamp;

/// The local day of a moment; empty if the calendar has none.
pub fn local_date(time: Timestamp) -> String {
    let time = glib::DateTime::from_unix_local(time.as_second());
    time.and_then(|time| time.format("%x")).map(String::from).unwrap_or_default()
}
