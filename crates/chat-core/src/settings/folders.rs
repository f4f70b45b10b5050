//! Defines the folders in which everything is kept.

use std::path::PathBuf;

/// The folders of one person's Natter, made when first written to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folders {
    /// `$XDG_CONFIG_HOME/natter`.
    pub config: PathBuf,
    /// `$XDG_DATA_HOME/natter`.
    pub data: PathBuf,
    /// `$XDG_STATE_HOME/natter`.
    pub state: PathBuf,
    /// `$XDG_RUNTIME_DIR/natter`, or the state's folder where there is none.
    pub runtime: PathBuf,
}

impl Folders {
    /// The folders as the environment says. None where there is no home.
    pub fn from_env() -> Option<Self> {
        let of_person = directories::ProjectDirs::from("", "", "natter")?;
        let state = of_person.state_dir()?.to_owned();
        Some(Self {
            config: of_person.config_dir().to_owned(),
            data: of_person.data_dir().to_owned(),
            runtime: of_person.runtime_dir().map_or_else(|| state.clone(), PathBuf::from),
            state,
        })
    }

    /// The user's home.
    pub fn home() -> Option<PathBuf> {
        directories::BaseDirs::new().map(|of_user| of_user.home_dir().to_owned())
    }

    /// What tools wrote at length, a folder for each session.
    pub fn outputs(&self) -> PathBuf {
        self.data.join("outputs")
    }

    /// The settings. A person may keep them elsewhere and have a link here.
    pub fn settings(&self) -> PathBuf {
        self.config.join("config.toml")
    }

    /// The chats.
    pub fn database(&self) -> PathBuf {
        self.data.join("natter.db")
    }

    /// Copies of the chats.
    pub fn backups(&self) -> PathBuf {
        self.data.join("backups")
    }

    /// All of them, and the files in them that may be links: no tool may touch what lies there, nor
    /// what those lead to.
    pub fn all(&self) -> Vec<PathBuf> {
        let folders = [&self.config, &self.data, &self.state, &self.runtime].map(PathBuf::clone);
        folders.into_iter().chain([self.settings(), self.database()]).collect()
    }

    /// All of them below one folder, for tests.
    pub fn below(root: impl Into<PathBuf>) -> Self {
        let root = root.into();
        let [config, data, state, runtime] =
            ["config", "data", "state", "run"].map(|name| root.join(name));
        Self { config, data, state, runtime }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_a_link_is_kept_from_tools_by_itself() {
        let folders = Folders::below("/nowhere");
        for file in [folders.settings(), folders.database()] {
            assert!(folders.all().contains(&file), "{}", file.display());
        }
    }
}
