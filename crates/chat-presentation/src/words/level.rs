//! Names the levels of thinking, the same in every language.

use chat_core::message::Thinking;

/// The levels of thinking, in the order in which they are offered.
pub fn thinking_levels() -> [Thinking; 7] {
    [
        Thinking::Default,
        Thinking::Off,
        Thinking::On,
        Thinking::Low,
        Thinking::Medium,
        Thinking::High,
        Thinking::Max,
    ]
}

/// The name of a level on command lines and in widgets that keep it; the same in every language.
pub fn thinking_name(level: Thinking) -> &'static str {
    match level {
        Thinking::Default => "default",
        Thinking::Off => "off",
        Thinking::On => "on",
        Thinking::Low => "low",
        Thinking::Medium => "medium",
        Thinking::High => "high",
        Thinking::Max => "max",
    }
}

/// The name that the default level had before; it is still read.
pub const OLD_DEFAULT_THINKING: &str = "habit";

/// Reads what [`thinking_name`] gives, and what it gave before.
pub fn thinking_from_name(name: &str) -> Option<Thinking> {
    if name == OLD_DEFAULT_THINKING {
        return Some(Thinking::Default);
    }
    thinking_levels().into_iter().find(|level| thinking_name(*level) == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_can_be_named() {
        for level in thinking_levels() {
            assert_eq!(thinking_from_name(thinking_name(level)), Some(level));
        }
        assert_eq!(thinking_from_name("habit"), Some(Thinking::Default));
        assert_eq!(thinking_from_name("much"), None);
    }
}
