//! Compiles `ggml.cpp`, which registers our weights with llama.cpp.

fn main() {
    println!("cargo:rerun-if-changed=src/ggml.cpp");
    if std::env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "x86_64") {
        cc::Build::new().cpp(true).std("c++17").file("src/ggml.cpp").compile("natter_products");
    }
}
