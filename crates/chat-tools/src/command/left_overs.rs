//! Removes what commands leave in a project where the program is killed.

use std::path::Path;

use chat_core::tool::LeftOvers;

/// Removes the placeholders of sandboxed commands.
pub struct CommandLeftOvers;

impl LeftOvers for CommandLeftOvers {
    fn clear(&self, project: &Path) {
        chat_sandbox::clear_left_over(project);
    }
}
