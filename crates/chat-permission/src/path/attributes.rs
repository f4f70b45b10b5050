//! Copies a file's access control list and extended attributes.

use std::ffi::CString;
use std::fs::File;
use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags, XattrFlags, fgetxattr, flistxattr, fsetxattr, openat};

/// Who else may use a file, `acl(5)`. If there is such a list, the group's permissions are the
/// maximum for everybody in the list, rather than those of the group.
const ACCESS: &[u8] = b"system.posix_acl_access";

/// More than a file system keeps of one file, or of one attribute.
const LARGEST: usize = 64 * 1024;

/// The attributes of a file.
pub(super) struct Attributes(Vec<(CString, Vec<u8>)>);

impl Attributes {
    /// The readable attributes of the file of this name.
    pub(super) fn of(folder: &OwnedFd, name: &std::ffi::OsStr) -> Self {
        Self(read(folder, name).unwrap_or_default())
    }

    /// Sets them on a file, as far as that is allowed. Returns whether nobody gets more access to
    /// it than to the original.
    pub(super) fn give(&self, file: &File) -> bool {
        let mut is_as_closed = true;
        for (name, value) in &self.0 {
            let given = fsetxattr(file, name, value, XattrFlags::empty());
            is_as_closed &= given.is_ok() || name.as_bytes() != ACCESS;
        }
        is_as_closed
    }
}

fn read(folder: &OwnedFd, name: &std::ffi::OsStr) -> rustix::io::Result<Vec<(CString, Vec<u8>)>> {
    let how = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = openat(folder, name, how, Mode::empty())?;
    let mut names = vec![0; LARGEST];
    let length = flistxattr(&file, &mut names[..])?;
    let mut found = Vec::new();
    for name in names[..length].split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        // Attributes that the system sets (such as additional capabilities of a program) belonged
        // to the old contents.
        if name != ACCESS && !name.starts_with(b"user.") {
            continue;
        }
        let Ok(name) = CString::new(name) else { continue };
        let mut value = vec![0; LARGEST];
        if let Ok(length) = fgetxattr(&file, &name, &mut value[..]) {
            value.truncate(length);
            found.push((name, value));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::fs::symlink;

    use super::*;

    fn of(folder: &std::path::Path, name: &str) -> Vec<(CString, Vec<u8>)> {
        Attributes::of(&File::open(folder).unwrap().into(), OsStr::new(name)).0
    }

    #[test]
    fn a_files_own_attributes_are_read_and_none_behind_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let file = File::create(folder.path().join("file")).unwrap();
        fsetxattr(&file, c"user.author", b"me", XattrFlags::empty()).unwrap();
        symlink("file", folder.path().join("link")).unwrap();
        assert_eq!(of(folder.path(), "file"), [(c"user.author".to_owned(), b"me".to_vec())]);
        assert_eq!(of(folder.path(), "link"), []);
        assert_eq!(of(folder.path(), "missing"), []);
    }

    #[test]
    fn only_a_list_of_who_may_use_a_file_must_be_given() {
        // Files here have no attributes.
        let file = File::open("/proc/self/status").unwrap();
        let list = (CString::new(ACCESS).unwrap(), b"list".to_vec());
        let note = (c"user.author".to_owned(), b"me".to_vec());
        assert!(Attributes(vec![note.clone()]).give(&file));
        assert!(!Attributes(vec![list.clone()]).give(&file));
        assert!(!Attributes(vec![note.clone(), list.clone()]).give(&file));
        assert!(!Attributes(vec![list, note]).give(&file));
    }
}
