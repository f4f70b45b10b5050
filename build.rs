//! Gives the program its app id, which stands in `data/app-id` alone.

use std::fs;

fn main() {
    println!("cargo:rerun-if-changed=data/app-id");
    let id = fs::read_to_string("data/app-id").expect("data/app-id can be read");
    println!("cargo:rustc-env=APP_ID={}", id.trim());
}
