# Makes sure that there is a Rust that is new enough. To be sourced, after say.bash.
# Rust is never installed by these scripts: whose it is and how it is kept is the person's choice.

# What of llama.cpp needs no compiling; see there.
export CMAKE_PROJECT_INCLUDE=$root/crates/chat-engine/llama.cmake

# rust_require: ends with advice where cargo is missing or too old.
rust_require() {
    local wanted had
    wanted=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' "$root/Cargo.toml")
    # Installed by rustup, but this shell was started before.
    if ! command -v cargo >/dev/null && [ -x "${CARGO_HOME:-$HOME/.cargo}/bin/cargo" ]; then
        PATH=${CARGO_HOME:-$HOME/.cargo}/bin:$PATH
    fi
    had=$(rustc --version 2>/dev/null | cut -d' ' -f2 | cut -d- -f1) || had=''
    if [ -z "$had" ] || ! command -v cargo >/dev/null; then
        fail "Natter is built with Rust $wanted or newer, and there is none here.
Install it with rustup (rust-lang.org says how), or with your system's package of that name
followed by 'rustup default stable'. Then run this again."
    fi
    if [ "$(printf '%s\n' "$wanted" "$had" | sort -V | head -n1)" != "$wanted" ]; then
        fail "Natter is built with Rust $wanted or newer, and here is $had.
With rustup 'rustup update stable' brings a newer one; a Rust from the system's packages is
best replaced by rustup's (rust-lang.org says how). Then run this again."
    fi
}

# rust_require_checkers: the same for the formatter and the linter.
rust_require_checkers() {
    local checker
    for checker in fmt clippy; do
        cargo "$checker" --version >/dev/null 2>&1 ||
            fail "cargo $checker is missing: 'rustup component add rustfmt clippy' brings it."
    done
}

# programs_build FOLDER: builds the four programs into FOLDER/release-fast.
programs_build() {
    cargo build --manifest-path "$root/Cargo.toml" --target-dir "$1" --profile release-fast --locked \
        --package natter --package chat-cli --package chat-decoder --package chat-engine
}
