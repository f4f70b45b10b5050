//! Defines the commands for models.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// What to do with models.
#[derive(Debug, Subcommand)]
pub enum Models {
    /// List the models of all connections
    List(ListModels),
    /// Show details of a model: an installed model, one from the catalog, a Hugging Face
    /// repository, or a GGUF file
    Info {
        /// Model name, OWNER/REPOSITORY, or file
        model: String,
        /// Print one JSON object per line
        #[arg(long)]
        json: bool,
    },
    /// Search Hugging Face for models
    Search {
        /// Search terms
        words: String,
        /// Print one JSON object per line
        #[arg(long)]
        json: bool,
    },
    /// Download a model, or resume a stopped download
    Pull {
        /// Name in the catalog, OWNER/REPOSITORY on Hugging Face, or CONNECTION/MODEL on an Ollama server
        model: String,
        /// File in the repository: its name, or a pattern such as `*Q8_0.gguf`
        #[arg(short, long, value_name = "PATTERN")]
        file: Option<String>,
        /// Print one JSON object per line for each event
        #[arg(long)]
        json: bool,
    },
    /// Add a GGUF file from this computer; the file stays where it is
    Add {
        /// The file, or any one of the files of a split model
        file: PathBuf,
        /// Move the file to Natter’s models folder; removing the model then deletes it
        #[arg(long = "move")]
        take: bool,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Remove a model from the list, and delete its file if it’s in Natter’s models folder; delete
    /// CONNECTION/MODEL from an Ollama server
    Remove {
        /// Name of the model
        model: String,
    },
    /// Free the memory of a model that an Ollama server has loaded
    Unload {
        /// CONNECTION/MODEL
        model: String,
    },
}

/// Which models to list.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "options on the command line are flags")]
pub struct ListModels {
    /// Print one JSON object per line
    #[arg(long)]
    pub json: bool,
    /// Only models that are installed or being downloaded
    #[arg(long, group = "which")]
    pub installed: bool,
    /// Only models from the catalog that can be downloaded
    #[arg(long, group = "which")]
    pub offered: bool,
    /// Only models of other programs on this computer that can be added
    #[arg(long, group = "which")]
    pub found: bool,
    /// Only models that Ollama servers have in memory
    #[arg(long, group = "which")]
    pub loaded: bool,
}
