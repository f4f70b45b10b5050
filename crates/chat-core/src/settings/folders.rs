//! Where everything is kept.

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

    /// What tools wrote at length, a folder for each session.
    pub fn outputs(&self) -> PathBuf {
        self.data.join("outputs")
    }

    /// All of them: no tool may touch what lies there.
    pub fn all(&self) -> Vec<PathBuf> {
        [&self.config, &self.data, &self.state, &self.runtime].map(PathBuf::clone).into()
    }

    /// All of them below one folder, for tests.
    pub fn below(root: impl Into<PathBuf>) -> Self {
        let root = root.into();
        let [config, data, state, runtime] =
            ["config", "data", "state", "run"].map(|name| root.join(name));
        Self { config, data, state, runtime }
    }
}
