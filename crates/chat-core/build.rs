//! Lets a build break the engine on purpose, to prove that the tests notice:
//! `NATTER_SABOTAGE=drop_delta cargo nextest run …` must fail. `scripts/lib/sabotage` does that.

fn main() {
    println!("cargo::rerun-if-env-changed=NATTER_SABOTAGE");
    println!(
        "cargo::rustc-check-cfg=cfg(sabotage, values(\"drop_delta\", \"skip_journal\", \"forget_answer\"))"
    );
    if let Ok(sabotage) = std::env::var("NATTER_SABOTAGE") {
        println!("cargo::rustc-cfg=sabotage=\"{sabotage}\"");
    }
}
