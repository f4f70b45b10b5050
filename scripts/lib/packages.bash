# Finds out what the machine lacks and has its package manager install that. To be sourced, after
# say.bash. Knows Debian and Ubuntu (apt), Fedora (dnf) and Arch (pacman).
#
# A need is judged by what it gives (a command, a library of a version, a file), never by a
# package's name, so that what came another way counts too and nothing is installed twice.

# What the program is built from. Each line: probe | apt | dnf | pacman.
packages_to_build='
command cc                          | gcc libc6-dev          | gcc                   | gcc
command pkg-config                  | pkg-config             | pkgconf-pkg-config    | pkgconf
library gtk4 4.8                    | libgtk-4-dev           | gtk4-devel            | gtk4
library libadwaita-1 1.2            | libadwaita-1-dev       | libadwaita-devel      | libadwaita
library gtksourceview-5 5.6         | libgtksourceview-5-dev | gtksourceview5-devel  | gtksourceview5
command glib-compile-resources      | libglib2.0-dev         | glib2-devel           | glib2-devel
command msgfmt                      | gettext                | gettext               | gettext
command cmake                       | cmake                  | cmake                 | cmake
command make                        | make                   | make                  | make
command c++                         | g++                    | gcc-c++               | gcc
command clang                       | clang                  | clang                 | clang
libclang                            | libclang-dev           | clang-devel           | clang
'

# What the small model to begin with is fetched with.
packages_to_fetch='
venv                                | python3-venv           | python3               | python
'

# What a window needs besides, to look as it should, what keeps a model's commands in bounds, and what keeps
# what they change.
packages_to_show='
command git                         | git                    | git                   | git
command bwrap                       | bubblewrap             | bubblewrap            | bubblewrap
icons                               | adwaita-icon-theme librsvg2-common | adwaita-icon-theme | adwaita-icon-theme
fonts                               | fontconfig fonts-cantarell fonts-dejavu-core | fontconfig abattis-cantarell-fonts dejavu-sans-mono-fonts | fontconfig cantarell-fonts ttf-dejavu
'

# What a window without a screen needs, and the driver that works it.
packages_to_drive='
command Xvfb                        | xvfb                   | xorg-x11-server-Xvfb  | xorg-server-xvfb
command dbus-run-session            | dbus-daemon            | dbus-daemon           | dbus
accessibility                       | at-spi2-core           | at-spi2-core          | at-spi2-core
command xdotool                     | xdotool                | xdotool               | xdotool
command xwininfo                    | x11-utils              | xwininfo              | xorg-xwininfo
command import                      | imagemagick            | ImageMagick           | imagemagick
command sway                        | sway                   | sway                  | sway
command wtype                       | wtype                  | wtype                 | wtype
command grim                        | grim                   | grim                  | grim
'

# What the other checks need. Images of containers lack even the plainest tools.
packages_to_check='
command find                        | findutils              | findutils             | findutils
command awk                         | gawk                   | gawk                  | gawk
command diff                        | diffutils              | diffutils             | diffutils
command xgettext                    | gettext                | gettext               | gettext
command desktop-file-validate       | desktop-file-utils     | desktop-file-utils    | desktop-file-utils
command appstreamcli                | appstream              | appstream             | appstream
command shellcheck                  | shellcheck             | ShellCheck            | shellcheck
command meson                       | meson                  | meson                 | meson
command ninja                       | ninja-build            | ninja-build           | ninja
command ip                          | iproute2               | iproute               | iproute2
command unshare                     | util-linux             | util-linux            | util-linux
command setpriv                     | util-linux             | util-linux            | util-linux
command flock                       | util-linux             | util-linux            | util-linux
command curl                        | curl                   | curl                  | curl
command gnome-keyring-daemon        | gnome-keyring          | gnome-keyring         | gnome-keyring
venv                                | python3-venv           | python3               | python
'

# What the servers of tools that tests talk to are fetched with, and run by in part.
packages_to_serve='
command node                        | nodejs                 | nodejs                | nodejs
command npm                         | npm                    | nodejs-npm            | npm
venv                                | python3-venv           | python3               | python
'

# What Natter is measured against.
packages_to_measure='
command rg                          | ripgrep                | ripgrep               | ripgrep
'

# packages_has PROBE…: whether the machine gives what the probe asks for.
packages_has() {
    case $1 in
    command) command -v "$2" >/dev/null ;;
    library) command -v pkg-config >/dev/null && pkg-config --exists "$2 >= $3" ;;
    icons)
        [ -e /usr/share/icons/Adwaita/index.theme ] || return 1
        # Elsewhere the toolkit brings its own reader of SVG.
        ! command -v apt-get >/dev/null ||
            compgen -G '/usr/lib/*/gdk-pixbuf-2.0/*/loaders/*svg*' >/dev/null
        ;;
    fonts)
        # Newer systems show their interface in Adwaita Sans.
        command -v fc-list >/dev/null &&
            [ -n "$(fc-list Cantarell)$(fc-list 'Adwaita Sans')" ] &&
            [ -n "$(fc-list :spacing=100)" ]
        ;;
    accessibility)
        [ -x /usr/libexec/at-spi2-registryd ] || [ -x /usr/lib/at-spi2-registryd ] ||
            [ -x /usr/lib/at-spi2-core/at-spi2-registryd ]
        ;;
    libclang)
        # Where the bindings of C++ are made from what it knows.
        compgen -G '/usr/lib*/libclang*.so*' >/dev/null ||
            compgen -G '/usr/lib/*/libclang*.so*' >/dev/null ||
            compgen -G '/usr/lib/llvm*/lib/libclang*.so*' >/dev/null
        ;;
    venv) command -v python3 >/dev/null && python3 -c 'import ensurepip, venv' 2>/dev/null ;;
    *) fail "No such probe: $*" ;;
    esac
}

# packages_as_root COMMAND…: as root, by sudo where that is needed.
packages_as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        fail "This needs root, and there is no sudo: $*"
    fi
}

# packages_missing LIST…: prints the unmet needs of the lists, a line each.
packages_missing() {
    local line probe
    while IFS= read -r line; do
        [ -n "${line// /}" ] || continue
        read -ra probe <<<"${line%%|*}"
        packages_has "${probe[@]}" || printf '%s\n' "$line"
    done < <(printf '%s\n' "$@")
}

# packages_install LIST…: installs what is missing of the lists, and makes sure that it is there.
packages_install() {
    local missing manager column names
    missing=$(packages_missing "$@")
    [ -n "$missing" ] || return 0

    if command -v apt-get >/dev/null; then
        manager=apt column=2
    elif command -v dnf >/dev/null; then
        manager=dnf column=3
    elif command -v pacman >/dev/null; then
        manager=pacman column=4
    else
        fail "Missing, and neither apt, dnf nor pacman is here to install it:
$(cut -d'|' -f1 <<<"$missing")"
    fi
    mapfile -t names < <(cut -d'|' -f"$column" <<<"$missing" | tr -s ' ' '\n' | sed '/^$/d' | sort -u)
    say "Installing with $manager: ${names[*]}"
    case $manager in
    apt)
        packages_as_root apt-get -q update
        # A machine that has just started may be at its own updates: wait for them.
        packages_as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y \
            -o DPkg::Lock::Timeout=300 install --no-install-recommends "${names[@]}"
        ;;
    dnf) packages_as_root dnf -q -y install "${names[@]}" ;;
    pacman)
        # Arch knows no partial upgrades: new lists with old packages break what is installed.
        say "pacman upgrades the system along with it, as Arch wants."
        packages_as_root pacman -Syu --noconfirm --needed "${names[@]}"
        ;;
    esac </dev/null >&2

    hash -r
    missing=$(packages_missing "$@")
    [ -z "$missing" ] || fail "Still missing after installing:
$(cut -d'|' -f1 <<<"$missing")
This system may be too old: Natter needs Debian 12, Ubuntu 24.04, or newer."
}
