//! The program `natter-engine`.

fn main() {}
