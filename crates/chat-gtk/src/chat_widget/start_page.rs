//! Shows what a new chat offers: at first whom there is to talk to, later what could be begun.

pub(super) mod contents;
pub(super) mod local_models;
