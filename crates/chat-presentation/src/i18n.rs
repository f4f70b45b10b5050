//! Sets up translations: binds the gettext domain before anything is said.

use std::path::{Path, PathBuf};

use gettextrs::{LocaleCategory, bind_textdomain_codeset, bindtextdomain, setlocale, textdomain};

/// The gettext domain of both programs.
pub const DOMAIN: &str = "natter";

/// Where an installation keeps its translations; set when the programs are built for one.
const LOCALE_DIR: Option<&str> = option_env!("NATTER_LOCALE_DIR");

/// Takes over the person's language. Call it first in `main`, before any thread is started.
///
/// Where something fails everything is said in English.
pub fn init() {
    #[expect(unsafe_code, reason = "called at the start of main, with no other thread about")]
    // SAFETY: the caller has started no thread yet.
    unsafe {
        setlocale(LocaleCategory::LcAll, "");
    }
    let bound = bindtextdomain(DOMAIN, locale_dir())
        .and_then(|_| bind_textdomain_codeset(DOMAIN, "UTF-8"))
        .and_then(|_| textdomain(DOMAIN));
    if let Err(error) = bound {
        tracing::warn!(%error, "no translations");
    }
}

/// The folder named when the program was built, or `share/locale` next to the folder with the
/// program: that is where a package has it, and `scripts/run` puts it in the build folder.
fn locale_dir() -> PathBuf {
    if let Some(folder) = LOCALE_DIR {
        return PathBuf::from(folder);
    }
    let program = std::env::current_exe().unwrap_or_default();
    locale_dir_of(&program)
}

fn locale_dir_of(program: &Path) -> PathBuf {
    match program.parent().and_then(Path::parent) {
        Some(prefix) => prefix.join("share/locale"),
        None => PathBuf::from("/usr/share/locale"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn translations_lie_beside_the_program() {
        assert_eq!(locale_dir_of(Path::new("/opt/n/bin/natter")), Path::new("/opt/n/share/locale"));
        // Where scripts/run puts them.
        assert_eq!(locale_dir_of(Path::new("t/release/natter")), Path::new("t/share/locale"));
        assert_eq!(locale_dir_of(Path::new("")), Path::new("/usr/share/locale"));
    }
}
