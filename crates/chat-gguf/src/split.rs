//! Finds the parts of models in several files: `name-00001-of-00003.gguf`.

use std::path::{Path, PathBuf};

/// More parts than this has no model.
const PART_LIMIT: usize = 1_000;

/// All files of a model in several, in their order, given any of them by its name. None where the
/// name is not that of a part. Looks at no file.
pub fn parts(path: &Path) -> Option<Vec<PathBuf>> {
    let name = path.file_name()?.to_str()?;
    let stem = name.strip_suffix(".gguf")?;
    let (rest, count) = stem.rsplit_once("-of-")?;
    let (base, number) = rest.rsplit_once('-')?;
    let digits = |text: &str| text.len() == 5 && text.bytes().all(|b| b.is_ascii_digit());
    if base.is_empty() || !digits(number) || !digits(count) {
        return None;
    }
    let (number, count): (usize, usize) = (number.parse().ok()?, count.parse().ok()?);
    if number == 0 || number > count || count > PART_LIMIT {
        return None;
    }
    let part = |number| path.with_file_name(format!("{base}-{number:05}-of-{count:05}.gguf"));
    Some((1..=count).map(part).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_part_names_them_all() {
        let all = parts(Path::new("/m/big-00002-of-00003.gguf")).unwrap();
        let names = ["/m/big-00001-of-00003.gguf", "/m/big-00002-of-00003.gguf"];
        assert_eq!(all[..2], names.map(PathBuf::from));
        assert_eq!(all.len(), 3);
    }

    #[test]
    fn other_names_are_of_one_file() {
        for name in [
            "small.gguf",
            "big-1-of-3.gguf",
            "big-00004-of-00003.gguf",
            "big-00000-of-00003.gguf",
            "-00001-of-00001.gguf",
            "big-00001-of-99999.gguf",
            "big-00001-of-00003.bin",
            "big-+0001-of-00003.gguf",
        ] {
            assert_eq!(parts(Path::new(name)), None, "{name}");
        }
    }
}
