//! Lets a build break a bound on purpose, to prove that the tests notice:
//! `NATTER_SABOTAGE=prefix_path_check cargo nextest run …` must fail. `scripts/lib/sabotage` does that.

fn main() {
    println!("cargo::rerun-if-env-changed=NATTER_SABOTAGE");
    println!("cargo::rustc-check-cfg=cfg(sabotage, values(\"prefix_path_check\"))");
    if std::env::var("NATTER_SABOTAGE").is_ok_and(|named| named == "prefix_path_check") {
        println!("cargo::rustc-cfg=sabotage=\"prefix_path_check\"");
    }
}
