//! Finds the language of a code block, and what a file with it is called.

use gettextrs::gettext;
/// The language of a name that a model gave: an id, a common other name, or the ending of files.
pub fn find(name: &str) -> Option<sourceview5::Language> {
    if name.is_empty() {
        return None;
    }
    let name = name.to_lowercase();
    let id = match name.as_str() {
        "bash" | "shell" | "zsh" | "console" | "shell-session" | "shellscript" => "sh",
        "javascript" | "node" | "mjs" | "cjs" => "js",
        "ts" => "typescript",
        "py" | "python2" => "python",
        "c++" | "cc" | "cxx" | "hpp" => "cpp",
        "c#" | "cs" | "csharp" => "c-sharp",
        "rs" => "rust",
        "golang" => "go",
        "yml" => "yaml",
        "md" => "markdown",
        "kt" => "kotlin",
        "rb" => "ruby",
        "hs" => "haskell",
        "tex" => "latex",
        "dockerfile" => "docker",
        "make" => "makefile",
        "ps1" | "pwsh" => "powershell",
        "svg" | "xhtml" => "xml",
        "objective-c" | "objectivec" => "objc",
        "f#" => "fsharp",
        "patch" => "diff",
        other => other,
    };
    let manager = sourceview5::LanguageManager::default();
    manager.language(id).or_else(|| {
        let is_name = id.chars().all(|c| c.is_alphanumeric() || "+-_#".contains(c));
        is_name.then(|| manager.guess_language(Some(&format!("x.{id}")), None)).flatten()
    })
}

/// The name of a language for people, as a model named it.
pub fn title(name: &str, language: Option<&sourceview5::Language>) -> String {
    match language {
        _ if name.is_empty() => gettext("Code"),
        Some(language) if language.id() != name.to_lowercase() => language.name().to_string(),
        _ => name.to_owned(),
    }
}

/// What a file with code in this language may be called: with the usual ending, or the only name that it can have.
pub fn file_name(name: &str) -> String {
    let globs: Vec<String> = find(name)
        .map(|it| it.globs().iter().map(ToString::to_string).collect())
        .unwrap_or_default();
    let is_plain = |text: &str| {
        !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "._-+".contains(c))
    };
    let named = name.to_lowercase();
    let endings =
        || globs.iter().filter_map(|glob| glob.strip_prefix("*.")).filter(|it| is_plain(it));
    // The ending that the model named, where it is one.
    let ending = endings().find(|ending| **ending == *named).or_else(|| endings().next());
    match ending {
        Some(ending) => format!("code.{ending}"),
        None => globs.iter().find(|glob| is_plain(glob)).cloned().unwrap_or("code.txt".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[gtk::test]
    fn files_are_called_as_their_language_has_it() {
        crate::init();
        for (language, name) in [
            ("rust", "code.rs"),
            ("py", "code.py"),
            ("bash", "code.sh"),
            ("json", "code.json"),
            ("yml", "code.yml"),
            ("dockerfile", "Dockerfile"),
            ("", "code.txt"),
            ("no such language", "code.txt"),
            ("../../etc", "code.txt"),
        ] {
            assert_eq!(file_name(language), name, "{language}");
        }
    }
}
