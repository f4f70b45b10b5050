//! The conversation view in a window. Needs a display; `scripts/lib/headless` gives one.

mod blocks;
mod cards;
mod drawing;
mod editing;
mod finding;
mod forms;
mod keyboard;
mod loading;
mod prompts;
mod reports;
mod scene;
mod selecting;
mod switching;
mod tools;
mod waiting;
