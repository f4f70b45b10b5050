//! Gives the program its app id, which stands in `data/app-id` alone, and has it linked so that its
//! start reads less.

use std::fs;

fn main() {
    println!("cargo:rerun-if-changed=data/app-id");
    let id = fs::read_to_string("data/app-id").expect("data/app-id can be read");
    println!("cargo:rustc-env=APP_ID={}", id.trim());
    // The addresses that the start of the program puts in place take 0.03 MB of the file instead of
    // 2.2 MB, all of which is read. glibc knows this since 2.36, which is as old as GTK 4.8.
    let is_gnu = std::env::var("CARGO_CFG_TARGET_ENV").is_ok_and(|env| env == "gnu");
    if is_gnu && std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        println!("cargo:rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}
