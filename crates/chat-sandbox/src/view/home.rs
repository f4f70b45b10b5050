//! Builds the home folder's part of the view: toolchains, read-only, and never their passwords.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::OFlags;

use super::View;

/// A toolchain's folder: the variable that moves it, its default path, and which parts are shown
/// (everything if none is named).
#[derive(Clone, Copy)]
struct Toolchain {
    variable: Option<&'static str>,
    usual: &'static str,
    parts: &'static [&'static str],
}

const fn whole(usual: &'static str) -> Toolchain {
    Toolchain { variable: None, usual, parts: &[] }
}

const fn parts(usual: &'static str, parts: &'static [&'static str]) -> Toolchain {
    Toolchain { variable: None, usual, parts }
}

const fn moved(variable: &'static str, toolchain: Toolchain) -> Toolchain {
    Toolchain { variable: Some(variable), ..toolchain }
}

/// The known toolchains in home folders. These are left out because they store passwords:
/// `~/.cargo/credentials.toml`, `~/.npmrc`, `~/.pypirc`, `~/.netrc`, `~/.git-credentials`,
/// `~/.m2/settings.xml`, `~/.gradle/gradle.properties`, `~/.config`, `~/.docker`.
const TOOLCHAINS: &[Toolchain] = &[
    // Its own folder stays writable, and empty except for these, so that it can create locks.
    moved("CARGO_HOME", parts(".cargo", &["bin", "env", "git", "registry"])),
    // Without the last one, rustup would try to create it and fail.
    moved("RUSTUP_HOME", parts(".rustup", &["settings.toml", "toolchains", "update-hashes"])),
    moved("GOPATH", parts("go", &["bin", "pkg"])),
    moved("PYENV_ROOT", whole(".pyenv")),
    moved("NVM_DIR", whole(".nvm")),
    moved("VOLTA_HOME", parts(".volta", &["bin", "tools"])),
    moved("BUN_INSTALL", parts(".bun", &["bin", "install/global"])),
    moved("PNPM_HOME", parts(".local/share/pnpm", &["global", "nodejs", "pnpm"])),
    moved("SDKMAN_DIR", parts(".sdkman", &["candidates"])),
    moved("RBENV_ROOT", whole(".rbenv")),
    moved("ASDF_DATA_DIR", parts(".asdf", &["bin", "installs", "plugins", "shims"])),
    moved("MISE_DATA_DIR", parts(".local/share/mise", &["installs", "plugins", "shims"])),
    moved("FNM_DIR", parts(".local/share/fnm", &["aliases", "node-versions"])),
    parts(".deno", &["bin"]),
    parts(".ghcup", &["bin", "ghc"]),
    parts(".juliaup", &["bin"]),
    parts(".julia", &["juliaup"]),
    parts(".m2", &["repository", "wrapper"]),
    parts(".opam", &["default"]),
    parts(".dotnet", &["dotnet", "host", "sdk", "shared"]),
    whole(".local/bin"),
    whole(".local/lib"),
    parts(".local/share/uv", &["python", "tools"]),
    parts(".local/share/pipx", &["venvs"]),
    whole(".local/pipx/venvs"),
];

/// Cargo's settings, which may contain a password in old files.
const CARGO_SETTINGS: &[&str] = &["config", "config.toml"];

/// The path of a toolchain: from the variable that moves it, or its default.
pub(super) fn folder((variable, usual): (&'static str, &'static str), home: &Path) -> PathBuf {
    let toolchain = Toolchain { variable: Some(variable), usual, parts: &[] };
    toolchain_path(&toolchain, home, |name| std::env::var_os(name).map(PathBuf::from))
}

/// Adds the existing toolchains.
pub(super) fn add(view: &mut View, home: &Path) {
    for toolchain in TOOLCHAINS {
        let folder =
            toolchain_path(toolchain, home, |name| std::env::var_os(name).map(PathBuf::from));
        if toolchain.parts.is_empty() {
            show(view, folder);
            continue;
        }
        if !folder.exists() {
            continue;
        }
        for part in toolchain.parts {
            show(view, folder.join(part));
        }
        if toolchain.usual == ".cargo" {
            for name in CARGO_SETTINGS {
                let settings = folder.join(name);
                if text(&settings).is_some_and(|text| !text.contains("token")) {
                    show(view, settings);
                }
            }
        }
    }
}

/// Shows a part of a toolchain. The user may keep it elsewhere behind a link, even in a project. If
/// the target is in this project, the link is followed but not shown, since a command could replace
/// the target before the next command.
fn show(view: &mut View, place: PathBuf) {
    let Some(real) = followed(&place) else { return };
    let writable: Vec<&Path> = std::iter::once(&*view.project).chain(view.writable()).collect();
    let is_in = |path: &Path| writable.iter().any(|folder| path.starts_with(folder));
    if is_in(&place) {
        return;
    }
    if is_in(&real) {
        view.links.push((real, place));
    } else {
        view.add(real, place);
    }
}

/// The target of a path, through at most one link: a command may have created a second one in some
/// project that the first one leads to, and it could lead anywhere.
pub(super) fn followed(path: &Path) -> Option<PathBuf> {
    let real = path.canonicalize().ok()?;
    if real == path {
        return Some(real);
    }
    let (mut at, mut rest) = (PathBuf::new(), path.components());
    while let Some(component) = rest.next() {
        at.push(component);
        let Ok(target) = at.read_link() else { continue };
        at.pop();
        for component in target.components().chain(rest.as_path().components()) {
            match component {
                Component::ParentDir => drop(at.pop()),
                component => at.push(component),
            }
        }
        return (at == real).then_some(real);
    }
    None
}

/// The text of a file; none for a pipe, since reading it would block.
fn text(path: &Path) -> Option<String> {
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let mut file = File::options().read(true).custom_flags(flags).open(path).ok()?;
    let mut text = String::new();
    file.read_to_string(&mut text).ok()?;
    Some(text)
}

/// The path of a toolchain. A variable counts only if it names a folder that cannot be more than
/// the toolchain: neither the home folder nor a folder that contains it.
fn toolchain_path(
    toolchain: &Toolchain,
    home: &Path,
    variable: impl Fn(&str) -> Option<PathBuf>,
) -> PathBuf {
    toolchain
        .variable
        .and_then(variable)
        .filter(|path| path.is_absolute() && !home.starts_with(path))
        .unwrap_or_else(|| home.join(toolchain.usual))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_is_shown_of_a_home_holds_a_password() {
        let home = Path::new("/home/ann");
        let secrets = [
            ".cargo/credentials.toml",
            ".cargo/credentials",
            ".npmrc",
            ".pypirc",
            ".netrc",
            ".git-credentials",
            ".ssh/id_ed25519",
            ".m2/settings.xml",
            ".config/natter/config.toml",
            ".local/share/natter/natter.db",
        ];
        for toolchain in TOOLCHAINS {
            let folder = toolchain_path(toolchain, home, |_| None);
            let shown: Vec<PathBuf> = if toolchain.parts.is_empty() {
                vec![folder]
            } else {
                toolchain.parts.iter().map(|part| folder.join(part)).collect()
            };
            for (shown, secret) in shown.iter().flat_map(|s| secrets.iter().map(move |t| (s, t))) {
                assert!(!home.join(secret).starts_with(shown), "{}", shown.display());
            }
        }
    }

    #[test]
    fn one_link_is_followed_and_no_second_one() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        let real = home.join("kept/bin");
        std::fs::create_dir_all(&real).unwrap();
        std::fs::create_dir(home.join(".local")).unwrap();
        let link = |target: &str, name: &str| {
            std::os::unix::fs::symlink(target, home.join(name)).unwrap();
        };
        link("../kept/./bin", ".local/bin");
        link("kept", ".short");
        link(real.to_str().unwrap(), ".whole");
        link("kept/other", ".two");
        link("bin", "kept/other");
        link("nowhere", ".none");
        let at = |name: &str| followed(&home.join(name));
        assert_eq!(at("kept/bin"), Some(real.clone()));
        assert_eq!(at(".local/bin"), Some(real.clone()));
        assert_eq!(at(".short/bin"), Some(real.clone()));
        assert_eq!(at(".whole"), Some(real));
        assert_eq!(
            [at(".two"), at(".short/other"), at(".none"), at("missing")],
            [const { None }; 4]
        );
    }

    #[test]
    fn a_variable_moves_a_toolchain_but_never_shows_the_home() {
        let home = Path::new("/home/ann");
        let cargo = &TOOLCHAINS[0];
        let at = |path: &str| toolchain_path(cargo, home, |_| Some(PathBuf::from(path)));
        assert_eq!(at("/data/cargo"), Path::new("/data/cargo"));
        assert_eq!(at("/home"), home.join(".cargo"));
        assert_eq!(at("/home/ann"), home.join(".cargo"));
        assert_eq!(at("relative"), home.join(".cargo"));
    }
}
