//! Lets a build break a bound on purpose, to prove that the tests notice:
//! `NATTER_SABOTAGE=no_address_check cargo nextest run …` must fail. `scripts/lib/sabotage` does
//! that.

fn main() {
    println!("cargo::rerun-if-env-changed=NATTER_SABOTAGE");
    println!("cargo::rustc-check-cfg=cfg(sabotage, values(\"no_address_check\"))");
    if let Ok(sabotage) = std::env::var("NATTER_SABOTAGE") {
        println!("cargo::rustc-cfg=sabotage=\"{sabotage}\"");
    }
}
