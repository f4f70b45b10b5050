//! Gives each project its own caches for build downloads: writable, kept between commands, and
//! visible only to the project's commands. They link to the contents of the user's own caches,
//! which are mounted read-only: so builds work offline, and no command can change the originals.
//!
//! Bubblewrap only: the caches must be at the user's paths, since Cargo rebuilds everything when
//! these change.

mod folder;
mod program;
mod seed;

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

pub(crate) use self::program::ProgramFiles;
pub use self::program::remove_program_files;
use super::{View, own};

/// Where a command sees the user's own caches.
const SHARED: &str = "/run/natter";

/// Caches inside a toolchain's folder: the toolchain, their path there, and their path in the
/// project's own caches.
const PARTS: [(Toolchain, &str, &str); 3] =
    [(CARGO, "registry", "cargo/registry"), (CARGO, "git", "cargo/git"), (GO, "pkg", "go/pkg")];

/// npm's cache: its default path, and its path in the project's own caches. pip's is not filled:
/// pip does not store its index, and installs nothing from the cache without it.
const NPM: (&str, &str) = (".npm/_cacache", "npm/_cacache");

/// A toolchain: the variable that moves it, and its default path.
type Toolchain = (&'static str, &'static str);

const CARGO: Toolchain = ("CARGO_HOME", ".cargo");
const GO: Toolchain = ("GOPATH", "go");

/// The caches of a project.
#[derive(Debug)]
pub(crate) struct Caches {
    /// Their folders, and where the command sees these.
    pub(crate) mounts: Vec<(PathBuf, PathBuf)>,
    /// Variables that point programs to them.
    pub(crate) environment: Vec<(OsString, OsString)>,
}

impl Caches {
    /// The caches of the view's project or program, created and filled as needed. The view then
    /// shows the user's own caches at another path. None if they cannot be created: then nothing
    /// changes.
    pub(crate) fn of(view: &mut View) -> Option<Self> {
        let home = view.home.clone();
        let kept = kept(view)?;
        let folder = kept.join("cache");
        let place = home.join(".cache");
        if view.readable.iter().any(|(_, other)| place.starts_with(other)) {
            return None;
        }
        let mounts = vec![(folder.clone(), place.clone())];
        let mut environment = vec![("npm_config_cache".into(), place.join("npm").into())];
        environment.extend(view.program.as_ref().and_then(|_| program::pythons(&home, &place)));
        let mut seeds = Vec::new();
        for (toolchain, name, inside) in PARTS {
            let at = super::home::folder(toolchain, &home).join(name);
            if view.links.iter().any(|(_, other)| *other == at) {
                // It is in the project.
                continue;
            }
            // Outside the home folder only a mount would lead there, and a command could replace
            // its mount point by a link to any folder. So those caches stay as they are, read-only.
            if !at.starts_with(&home) {
                continue;
            }
            let aside = Path::new(SHARED).join(inside);
            if let Some(shown) = view.readable.iter_mut().find(|(_, other)| *other == at) {
                shown.1.clone_from(&aside);
                seeds.push((inside, shown.0.clone(), aside));
            }
            view.links.push((place.join(inside), at));
        }
        if let Some((.., aside)) = seeds.iter().find(|(inside, ..)| *inside == "go/pkg") {
            // Go can use its downloads as a module proxy.
            let known = aside.join("mod/cache/download");
            let proxies = format!("file://{},https://proxy.golang.org,direct", known.display());
            environment.push(("GOPROXY".into(), proxies.into()));
        }
        let mut inside = PARTS.map(|(.., inside)| inside).to_vec();
        let (usual, npm) = NPM;
        let users = super::home::followed(&home.join(usual));
        if let Some(from) = users.filter(|from| !from.starts_with(&view.project)) {
            let aside = Path::new(SHARED).join(npm);
            view.readable.push((from.clone(), aside.clone()));
            seeds.push((npm, from, aside));
            inside.push(npm);
        }
        // What is missing is downloaded again.
        let _ = seed::fill(&kept, &folder, &inside, &seeds);
        Some(Self { mounts, environment })
    }
}

/// Natter's folder for what is kept for the view's project or program.
pub(super) fn kept(view: &View) -> Option<PathBuf> {
    match &view.program {
        Some(program) => Some(program.kept().to_owned()),
        None => project_folder(&view.home, &view.project),
    }
}

/// Natter's folder for a project's caches, created if it does not exist. Commands do not see the
/// folder itself.
fn project_folder(home: &Path, project: &Path) -> Option<PathBuf> {
    let all = own::cache(home)?.join("projects");
    let kept = all.join(name(project));
    let told = kept.join("project");
    if !told.exists() {
        fs::create_dir_all(kept.join("cache")).ok()?;
        fs::write(&told, project.as_os_str().as_bytes()).ok()?;
        // Deletes in the background.
        let _ = std::thread::Builder::new().spawn(move || sweep(&all));
    }
    Some(kept)
}

/// Deletes the caches of deleted projects.
fn sweep(all: &Path) -> io::Result<()> {
    use std::os::unix::ffi::OsStringExt;
    for entry in all.read_dir()?.flatten() {
        let Ok(told) = fs::read(entry.path().join("project")) else { continue };
        if !Path::new(&OsString::from_vec(told)).exists() {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
    Ok(())
}

/// A unique name for a project's folder: its own name, and a hash of its path (FNV-1a), the same in
/// every build.
fn name(project: &Path) -> String {
    let hash =
        project.as_os_str().as_bytes().iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        });
    let name = project.file_name().unwrap_or_default().to_string_lossy();
    let name: String = name.chars().filter(char::is_ascii_alphanumeric).take(20).collect();
    format!("{name}-{hash:016x}")
}
