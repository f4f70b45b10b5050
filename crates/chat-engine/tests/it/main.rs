//! The engine as Natter uses it: the real program with a real small model.

mod answers;
mod faults;
mod life;
mod shapes;
mod stage;
