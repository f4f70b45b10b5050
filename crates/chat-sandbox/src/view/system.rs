//! Builds the system's part of the view: programs and libraries, and from `/etc` only what is
//! listed here.

use std::io;
use std::path::{Path, PathBuf};

use super::View;

/// Programs, libraries, and what package managers install elsewhere.
const FOLDERS: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/opt",
    "/nix/store",
    "/gnu/store",
    "/run/current-system",
    "/home/linuxbrew/.linuxbrew",
    "/var/lib/ca-certificates",
    // The number of processors.
    "/sys/devices/system",
];

/// What programs read in `/etc`. Left out are passwords (`shadow`, `gshadow`), keys (`ssh`,
/// `ssl/private`, `pki/tls/private`), who may become root (`sudoers`), networks and their secrets,
/// and anything else. Each folder but the smallest costs a mount at every start.
const ETC: &[&str] = &[
    "alternatives",
    "crypto-policies",
    "fonts",
    "group",
    "hosts",
    "java-11-openjdk",
    "java-17-openjdk",
    "java-21-openjdk",
    "java-25-openjdk",
    "ld.so.cache",
    "localtime",
    "mime.types",
    "nsswitch.conf",
    "os-release",
    "passwd",
    "pki/ca-trust",
    "pki/tls/cert.pem",
    "pki/tls/certs",
    "pki/tls/openssl.cnf",
    "protocols",
    "services",
    "ssl/cert.pem",
    "ssl/certs",
    "ssl/openssl.cnf",
    "static/ssl",
    "timezone",
];

/// What only a command with the network needs from `/etc`.
const ETC_NETWORK: &[&str] = &["gai.conf", "resolv.conf"];

/// Adds the system's part.
pub(super) fn add(view: &mut View, network: bool) {
    for folder in FOLDERS {
        let folder = Path::new(folder);
        match folder.read_link() {
            // `/bin` is a link on merged systems: the same link is created.
            Ok(target) if folder.exists() => view.links.push((target, folder.to_owned())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            _ => view.show(folder.to_owned()),
        }
    }
    let names = ETC.iter().chain(if network { ETC_NETWORK } else { &[] });
    for name in names {
        etc(view, Path::new("/etc").join(name));
    }
}

/// Shows an entry of `/etc`. If it is a link to something visible, the same link is created (the
/// time zone's name is read from it); otherwise its target is shown.
fn etc(view: &mut View, entry: PathBuf) {
    match entry.read_link() {
        Ok(target) => match entry.canonicalize() {
            Ok(real) if real.starts_with("/usr") => view.links.push((target, entry)),
            Ok(real) => view.readable.push((real, entry)),
            Err(_) => {}
        },
        // It exists and is not a link.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
            view.readable.push((entry.clone(), entry));
        }
        Err(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_is_shown_of_the_system_holds_a_secret() {
        let secrets = [
            "/etc/shadow",
            "/etc/gshadow",
            "/etc/sudoers",
            "/etc/ssh/ssh_host_ed25519_key",
            "/etc/ssl/private",
            "/etc/pki/tls/private",
            "/etc/NetworkManager/system-connections",
        ];
        let etc = ETC.iter().chain(ETC_NETWORK);
        let shown = etc.map(|name| Path::new("/etc").join(name));
        for shown in shown.chain(FOLDERS.iter().map(PathBuf::from)) {
            for secret in secrets {
                assert!(!Path::new(secret).starts_with(&shown), "{}", shown.display());
            }
        }
    }
}
