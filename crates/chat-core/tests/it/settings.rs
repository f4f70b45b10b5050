//! Settings and keys, with what surrounds them on a desktop.

mod keyring;
