//! Natter's relm4 front end.

pub mod accessible;
pub mod conversation;
pub mod markdown;
