//! Enforces the view and the limits with Landlock,
//! <https://docs.kernel.org/userspace-api/landlock.html>, where bubblewrap cannot start.
//!
//! Both Landlock and the filter apply to a thread and whatever it starts. So a new thread restricts
//! itself and then starts the command; none of our code runs between fork and exec.
//!
//! Landlock can only grant access, and what it grants for a folder applies to everything below. So
//! in a project with protected files, access is granted entry by entry: nothing new can be created
//! at its top except the folders that builds write to, which are created beforehand.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError, RulesetStatus, Scope, path_beneath_rules,
};

use crate::error::Error;
use crate::seccomp::{self, SyscallRestrictions};
use crate::view::{ProgramFiles, Protection, View};

/// The supported versions of Landlock, the newest first. On a kernel with a newer version, these
/// are used.
const KNOWN: [ABI; 6] = [ABI::V6, ABI::V5, ABI::V4, ABI::V3, ABI::V2, ABI::V1];

/// The version that confines signals and abstract sockets.
pub(crate) const SCOPES: u8 = 6;

/// Devices that every command may use.
const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// Folders that builds write to, and files in a project that show that they will.
const BUILDS: &[(&str, &[&str])] = &[
    ("Cargo.toml", &["target"]),
    ("package.json", &["node_modules", "dist", "build", "coverage"]),
    ("CMakeLists.txt", &["build"]),
    ("meson.build", &["build", "builddir"]),
    ("pyproject.toml", &[".venv", ".pytest_cache", "build", "dist"]),
    ("setup.py", &[".venv", ".pytest_cache", "build", "dist"]),
    ("build.gradle", &[".gradle", "build"]),
    ("build.gradle.kts", &[".gradle", "build"]),
    ("pom.xml", &["target"]),
];

/// The kernel's version, as far as it is supported here; none if it has no Landlock or Landlock is
/// switched off.
pub(crate) fn version() -> Option<u8> {
    static VERSION: OnceLock<Option<u8>> = OnceLock::new();
    *VERSION.get_or_init(find_version)
}

fn find_version() -> Option<u8> {
    // Creating rules restricts nothing yet.
    let has = |abi: &ABI| {
        let rules = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
        let rules = rules.handle_access(AccessFs::from_all(*abi));
        let rules = if *abi >= ABI::V4 {
            rules.and_then(|rules| rules.handle_access(AccessNet::from_all(*abi)))
        } else {
            rules
        };
        let rules = if *abi >= ABI::V6 {
            rules.and_then(|rules| rules.scope(Scope::from_all(*abi)))
        } else {
            rules
        };
        rules.and_then(Ruleset::create).is_ok()
    };
    KNOWN.iter().find(|abi| has(abi)).map(|abi| *abi as u8)
}

/// Confines the signals and abstract sockets of programs that this thread starts.
pub(crate) fn scope_this_thread() -> Result<(), RulesetError> {
    Ruleset::default().scope(Scope::from_all(ABI::V6))?.create()?.restrict_self()?;
    Ok(())
}

/// A command's restrictions, computed before its thread is restricted.
#[derive(Debug)]
pub(crate) struct Bounds {
    readable: Vec<PathBuf>,
    /// Folders that may be listed, whatever in them may be read.
    listed: Vec<PathBuf>,
    devices: Vec<PathBuf>,
    writable: Vec<PathBuf>,
    network: bool,
    restrictions: SyscallRestrictions,
}

impl Bounds {
    /// The restrictions for the view, with `scratch` as a second writable folder.
    pub(crate) fn of(
        view: &View,
        scratch: &Path,
        network: bool,
        version: u8,
    ) -> Result<Self, Error> {
        if let Some(hidden) = view.hidden.first() {
            // Nothing can be excluded from what is granted.
            return Err(Error::OwnFolder(hidden.clone()));
        }
        let mut readable: Vec<PathBuf> =
            view.readable.iter().map(|(from, _)| from.clone()).collect();
        readable.push("/proc".into());
        let mut listed = Vec::new();
        for folder in view.folders() {
            if view.masked.iter().any(|masked| masked.starts_with(folder)) {
                listed.push(folder.to_owned());
            }
            grant_reading(folder, &view.masked, &mut readable)?;
        }
        for repository in &view.git {
            grant_reading(repository, &view.emptied, &mut readable)?;
            if !view.emptied.is_empty() {
                listed.push(repository.clone());
                let kept = view.protected.iter().filter_map(Protection::pinned);
                readable.extend(kept.filter(|it| it.starts_with(repository)).map(Path::to_owned));
            }
        }
        let mut writable = vec![scratch.to_owned()];
        // Git replaces references, for which it needs more than can be granted.
        let git = view.git.iter().filter(|_| view.access.is_none());
        let folders = std::iter::once(&*view.project).chain(view.writable());
        for folder in folders.chain(git.map(PathBuf::as_path)) {
            grant(folder, &view.protected, &view.masked, &mut writable)?;
        }
        // They are not shown elsewhere, so programs are pointed to them.
        writable.extend(view.program.iter().map(ProgramFiles::caches));
        Ok(Self {
            readable,
            listed,
            devices: DEVICES.iter().map(PathBuf::from).collect(),
            writable,
            network,
            restrictions: SyscallRestrictions::of_landlock(network, version),
        })
    }

    /// Restricts this thread, and everything that it starts, for good.
    pub(crate) fn bind_this_thread(&self) -> Result<(), Error> {
        drop_rights().map_err(|error| Error::Landlock(error.to_string()))?;
        match self.restrict() {
            Ok(RulesetStatus::NotEnforced) => {
                return Err(Error::Landlock("the kernel enforces nothing".into()));
            }
            Ok(_) => {}
            Err(error) => return Err(Error::Landlock(error.to_string())),
        }
        if let Some(program) = seccomp::program(self.restrictions)? {
            seccompiler::apply_filter(&program)
                .map_err(|error| Error::Filter(std::io::Error::other(error.to_string())))?;
        }
        Ok(())
    }

    fn restrict(&self) -> Result<RulesetStatus, RulesetError> {
        let all = AccessFs::from_all(ABI::V5);
        let read = AccessFs::from_read(ABI::V5);
        let device: BitFlags<AccessFs> =
            AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::IoctlDev;
        let mut rules = Ruleset::default().handle_access(all)?.scope(Scope::from_all(ABI::V6))?;
        if !self.network {
            rules = rules.handle_access(AccessNet::from_all(ABI::V4))?;
        }
        let status = rules
            .create()?
            .add_rules(path_beneath_rules(&self.readable, read))?
            .add_rules(path_beneath_rules(&self.listed, BitFlags::from(AccessFs::ReadDir)))?
            .add_rules(path_beneath_rules(&self.devices, device))?
            .add_rules(path_beneath_rules(&self.writable, all))?
            .restrict_self()?;
        Ok(status.ruleset)
    }
}

/// Grants a folder, except for what is protected in it.
fn grant(
    folder: &Path,
    protected: &[Protection],
    masked: &[PathBuf],
    writable: &mut Vec<PathBuf>,
) -> Result<(), Error> {
    if masked.iter().any(|masked| masked == folder) {
        return Ok(());
    }
    let has_masked = masked.iter().any(|it| is_in(it, folder));
    let mut inside = protected.iter().filter(|it| it.stands().is_some_and(|it| is_in(it, folder)));
    if protected.iter().any(|it| it.unchangeable() == Some(folder)) {
        // Only the exceptions in it.
        for excepted in inside {
            if let Protection::Pinned(path) = excepted {
                grant(path, protected, masked, writable)?;
            }
        }
        return Ok(());
    }
    if inside.next().is_none() && !has_masked {
        writable.push(folder.to_owned());
        return Ok(());
    }
    if is_data(folder) {
        // A link in it would make the user's git write to its target.
        return Ok(());
    }
    let failed = |error| Error::Folder { path: folder.to_owned(), error };
    for entry in folder.read_dir().map_err(failed)? {
        let entry = entry.map_err(failed)?;
        // A link's target may be anywhere.
        if !entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
            grant(&entry.path(), protected, masked, writable)?;
        }
    }
    Ok(())
}

/// Grants reading a folder, except for what is masked in it.
fn grant_reading(
    folder: &Path,
    masked: &[PathBuf],
    readable: &mut Vec<PathBuf>,
) -> Result<(), Error> {
    if !masked.iter().any(|masked| masked.starts_with(folder)) {
        readable.push(folder.to_owned());
    } else if !masked.iter().any(|masked| masked == folder) {
        let failed = |error| Error::Folder { path: folder.to_owned(), error };
        for entry in folder.read_dir().map_err(failed)? {
            let entry = entry.map_err(failed)?;
            if !entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
                grant_reading(&entry.path(), masked, readable)?;
            }
        }
    }
    Ok(())
}

/// Whether a folder is git's data, or a linked work tree's own part of it.
fn is_data(folder: &Path) -> bool {
    let has = |name| folder.join(name).symlink_metadata().is_ok();
    has("HEAD") && (has("objects") || has("commondir"))
}

fn is_in(path: &Path, folder: &Path) -> bool {
    path != folder && path.starts_with(folder)
}

/// The missing folders that builds in this project write to.
pub(crate) fn build_folders(project: &Path) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = BUILDS
        .iter()
        .filter(|(mark, _)| project.join(mark).is_file())
        .flat_map(|(_, folders)| folders.iter().map(|folder| project.join(folder)))
        .filter(|folder| folder.symlink_metadata().is_err())
        .collect();
    folders.sort();
    folders.dedup();
    folders
}

/// Drops root's privileges if Natter runs as root: Landlock would let it change limits and owners.
fn drop_rights() -> rustix::io::Result<()> {
    use rustix::thread::{
        CapabilitiesSecureBits, CapabilitySet, CapabilitySets, capabilities, set_capabilities,
        set_capabilities_secure_bits,
    };
    if capabilities(None)?.effective.is_empty() {
        return Ok(());
    }
    // Otherwise starting a program would give root everything back.
    let bits = CapabilitiesSecureBits::NO_ROOT | CapabilitiesSecureBits::NO_ROOT_LOCKED;
    // Fails if a container has already dropped this privilege: then there is little to drop.
    let _ = set_capabilities_secure_bits(bits);
    set_capabilities(
        None,
        CapabilitySets {
            effective: CapabilitySet::empty(),
            permitted: CapabilitySet::empty(),
            inheritable: CapabilitySet::empty(),
        },
    )
}
