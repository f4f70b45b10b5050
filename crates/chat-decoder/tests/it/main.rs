//! The real program against files that are good, broken and hostile.

mod documents;
mod hostile;
mod run;
