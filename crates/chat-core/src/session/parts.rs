//! What a session is made of. Each part owns its state and changes it at once, behind the session's lock;
//! none of them knows the session, the store or whoever watches.

pub(crate) mod asked;
pub(crate) mod title;
pub(crate) mod transcript;
