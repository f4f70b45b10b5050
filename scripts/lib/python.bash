# Python packages of pinned versions and checked sums, in a folder of their own. To be sourced, after say.bash.

# python_find MINOR WHAT: prints a Python here of 3.MINOR or later, which WHAT needs.
python_find() {
    local python
    for python in python3 python3.14 python3.13 python3.12 python3.11 python3.10; do
        # Its own path: what the name leads to may be a script that looks for it, each time.
        "$python" -c "import sys; sys.version_info >= (3, $1) or sys.exit(1); print(sys.executable)" \
            2>/dev/null && return
    done
    fail "Python 3.$1 or newer is needed for $2. Debian, Ubuntu and Fedora have it
as python3, Arch as python."
}

# python_version PYTHON: prints its version as it names folders, 3.11 say.
python_version() {
    "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])'
}

# python_make PYTHON LIST FOLDER: leaves FOLDER/bin/python, which has pip's packages of the list.
python_make() {
    local python=$1 list=$2 folder=$3
    local pip=(-q --disable-pip-version-check --no-deps --only-binary ':all:' --require-hashes -r "$list")
    if "$python" -m venv "$folder" >/dev/null 2>&1; then
        "$folder/bin/python" -m pip install "${pip[@]}"
        return
    fi
    # Debian keeps venv in a package of its own; pip alone will do.
    rm -rf "$folder"
    "$python" -m pip --version >/dev/null 2>&1 ||
        fail "Neither venv nor pip is here: install python3-venv (Debian, Ubuntu), python3-pip (Fedora)
or python-pip (Arch)."
    "$python" -m pip install "${pip[@]}" --target "$folder/packages"
    mkdir -p "$folder/bin"
    printf '#!/bin/sh\nPYTHONPATH=%q exec %q "$@"\n' "$folder/packages" "$python" \
        >"$folder/bin/python"
    chmod +x "$folder/bin/python"
}
