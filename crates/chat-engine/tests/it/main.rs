//! The engine as Natter uses it: the real program with a real small model.

mod answers;
mod drafts;
mod faults;
mod life;
mod mamba;
mod recurrent;
mod shapes;
mod stage;
mod tools;
