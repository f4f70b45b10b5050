//! Tests that every kind of error has a sentence.

use std::path::PathBuf;
use std::time::Duration;

use chat_core::error::{
    AttachmentFault, BrokenAgent, BudgetLimit, ChatImportFault, Error, Feature, FileFault,
    ImportFault, Kind, MissingMessages, NoAgent, NoReview, PageFault, ServerFailure, ServerFault,
    ServerItem, WorktreeFault,
};

use super::{advice, sentence};

/// One error of each kind, and of each shape that has words of its own.
fn all_kinds() -> Vec<Kind> {
    let path = || PathBuf::from("/home/ada/.config/natter/config.toml");
    let name = || "code-assistant".to_owned();
    let of_server = |item, why| Kind::ServerContext {
        failure: Box::new(ServerFailure { server: name(), item, why }),
    };
    let attached = |fault| Kind::Attachment { name: "thesis.pdf".to_owned(), fault };
    vec![
        Kind::Unreachable,
        Kind::UnknownHost { host: "ollama.example".to_owned() },
        Kind::ContentFiltered,
        Kind::ConnectTimeout,
        Kind::Tls,
        Kind::WrongUrl,
        Kind::InvalidUrl,
        Kind::InvalidProxy,
        Kind::InvalidHeader { name: "X-Team".to_owned() },
        Kind::CertificateFile { path: PathBuf::from("/etc/ssl/ours.pem") },
        attached(AttachmentFault::Missing),
        attached(AttachmentFault::Unreadable),
        attached(AttachmentFault::Folder),
        attached(AttachmentFault::NotAFile),
        attached(AttachmentFault::TooLarge { limit: 200 }),
        attached(AttachmentFault::Unsupported),
        attached(AttachmentFault::Broken),
        attached(AttachmentFault::Encrypted),
        attached(AttachmentFault::NoText),
        attached(AttachmentFault::TooMuch),
        attached(AttachmentFault::NoDecoder),
        attached(AttachmentFault::NotConfined),
        Kind::Unauthorized { signin_url: None, keyless: true },
        Kind::Unauthorized { signin_url: None, keyless: false },
        Kind::Unauthorized {
            signin_url: Some("https://ollama.com/connect".to_owned()),
            keyless: true,
        },
        Kind::Forbidden,
        Kind::ModelNotFound { model: "qwen3:8b".to_owned() },
        Kind::InputTooLong { window: Some(8_192), largest: Some(40_960) },
        Kind::InputTooLong { window: Some(8_192), largest: None },
        Kind::InputTooLong { window: Some(40_960), largest: Some(40_960) },
        Kind::InputTooLong { window: None, largest: Some(4_096) },
        Kind::InputTooLong { window: None, largest: None },
        Kind::Unsupported { feature: Feature::Chat },
        Kind::Unsupported { feature: Feature::Models },
        Kind::Unsupported { feature: Feature::Tools },
        Kind::Unsupported { feature: Feature::Thinking },
        Kind::Unsupported { feature: Feature::Images },
        Kind::BadRequest,
        Kind::Busy,
        Kind::RateLimited { retry_after: None },
        Kind::RateLimited { retry_after: Some(Duration::from_secs(1)) },
        Kind::RateLimited { retry_after: Some(Duration::from_hours(1)) },
        Kind::NoCredit,
        Kind::ServerFailed,
        Kind::InvalidResponse,
        Kind::LineTooLong,
        Kind::Cut,
        Kind::Stalled,
        Kind::EmptyReply,
        Kind::DiskFull,
        Kind::ReadOnly { path: path() },
        Kind::DatabaseDamaged { kept_as: path() },
        Kind::DatabaseRepaired { kept_as: path(), missing: Vec::new(), from_backup: false },
        Kind::DatabaseRepaired { kept_as: path(), missing: Vec::new(), from_backup: true },
        Kind::DatabaseRepaired { kept_as: path(), missing: missing(1), from_backup: true },
        Kind::DatabaseRepaired { kept_as: path(), missing: missing(7), from_backup: false },
        Kind::DatabaseInUse,
        Kind::MessageDamaged,
        Kind::DatabaseNewer { version: 7 },
        Kind::Storage,
        Kind::ConfigInvalid { path: path() },
        Kind::ConfigLocked { path: path() },
        Kind::ConfigUnknown { path: path() },
        Kind::SessionNotFound { fid: "2026-01-15-14-30-45".to_owned() },
        Kind::SessionInUse,
        Kind::SessionAtWork,
        Kind::AgentAtWork { name: name() },
        Kind::AgentMissing { name: name(), why: NoAgent::default() },
        Kind::AgentMissing { name: name(), why: NoAgent::Unknown { nearest: Some(name()) } },
        Kind::AgentMissing { name: name(), why: NoAgent::Untrusted },
        Kind::AgentMissing {
            name: name(),
            why: NoAgent::Broken(Box::new(BrokenAgent {
                path: path(),
                line: Some(2),
                problem: None,
            })),
        },
        Kind::SkillUnreadable { name: name() },
        Kind::OutsideParent { path: path() },
        Kind::AgentBudget { limit: BudgetLimit::Tokens(2_000_000) },
        Kind::AgentBudget { limit: BudgetLimit::Turns(100) },
        Kind::AgentBudget { limit: BudgetLimit::Minutes(1) },
        Kind::Worktree { fault: WorktreeFault::NoCommits },
        Kind::Worktree { fault: WorktreeFault::BranchExists { name: name() } },
        Kind::Worktree { fault: WorktreeFault::CheckedOut { path: path() } },
        Kind::Worktree { fault: WorktreeFault::FolderGone { path: path() } },
        Kind::Worktree { fault: WorktreeFault::Restored { name: name(), path: path() } },
        Kind::Worktree {
            fault: WorktreeFault::Removed { merged_into: Some(name()), has_snapshot: true },
        },
        Kind::Worktree { fault: WorktreeFault::Removed { merged_into: None, has_snapshot: true } },
        Kind::Worktree { fault: WorktreeFault::Removed { merged_into: None, has_snapshot: false } },
        Kind::Worktree { fault: WorktreeFault::Several { name: name(), paths: vec![path()] } },
        Kind::ProjectMissing { path: path() },
        Kind::ProjectRefused { path: path() },
        Kind::NoReview { why: NoReview::Home },
        Kind::ReviewFailed,
        Kind::NothingChanged,
        Kind::PageNotFetched { url: name(), why: PageFault::NoText },
        of_server(ServerItem::List, ServerFault::Unknown),
        of_server(ServerItem::List, ServerFault::SignIn),
        of_server(ServerItem::Resource("note://a".to_owned()), ServerFault::Empty),
        of_server(
            ServerItem::Resource("note://a".to_owned()),
            ServerFault::Refused { message: "No such note.".to_owned() },
        ),
        of_server(
            ServerItem::Prompt("review".to_owned()),
            ServerFault::ArgumentMissing { argument: "code".to_owned() },
        ),
        Kind::ConnectionMissing { name: name() },
        Kind::NoModel,
        Kind::NothingToSend,
        Kind::RuleMismatch,
        Kind::FormMismatch,
        Kind::NameTaken { name: name() },
        Kind::KeyUnavailable,
        Kind::RoundLimit { rounds: 25 },
        Kind::Internal,
        Kind::Repetition { fresh: Some(20) },
        Kind::RepeatedCalls { tool: "read_file".to_owned(), times: 5 },
        Kind::ContextFull { window: 2048 },
        Kind::ModelFile { path: path(), fault: FileFault::NotGguf },
        Kind::ModelFile {
            path: path(),
            fault: FileFault::Truncated { expected: 2_000_000_000, found: 1_500_000_000 },
        },
        Kind::ModelFile { path: path(), fault: FileFault::HeaderTooLarge },
        Kind::ModelFile { path: path(), fault: FileFault::Corrupt },
        Kind::ModelFile { path: path(), fault: FileFault::Version },
        Kind::ModelFile { path: path(), fault: FileFault::Alone },
        Kind::ModelFile { path: path(), fault: FileFault::Name },
        Kind::ModelFile { path: path(), fault: FileFault::NoModel },
        Kind::ModelFileMissing { path: path() },
        Kind::FileNotFound { path: path() },
        Kind::ModelStorage,
        Kind::HubUnreachable,
        Kind::HubFailed,
        Kind::HubTokenRefused,
        Kind::RepositoryNotFound { repository: "ada/tiny".to_owned() },
        Kind::RepositoryClosed { repository: "ada/tiny".to_owned() },
        Kind::RepositoryFileNotFound {
            repository: "ada/tiny".to_owned(),
            file: "*Q4_K_M.gguf".to_owned(),
        },
        Kind::DiskTooSmall { needed: 2_000_000_000, free: 1_500_000 },
        Kind::DownloadInterrupted,
        Kind::DownloadDiffers { file: "tiny.gguf".to_owned() },
        Kind::DownloadElsewhere { file: "tiny.gguf".to_owned() },
        Kind::EngineMissing,
        Kind::EngineFailed,
        Kind::ProcessorTooOld { lacks: "AVX2".to_owned() },
        Kind::ModelTooLarge { needed: 20_000_000_000, available: 7_500_000_000 },
        Kind::ModelNotLoaded,
        Kind::TemplateFailed,
        Kind::ImportFile { path: path(), fault: ImportFault::Unreadable },
        Kind::ImportFile { path: path(), fault: ImportFault::Empty },
        Kind::ImportFile { path: path(), fault: ImportFault::Unknown },
        Kind::ImportFile { path: path(), fault: ImportFault::Truncated },
        Kind::ImportFile { path: path(), fault: ImportFault::Archive },
        Kind::ImportFile { path: path(), fault: ImportFault::UnsafePath },
        Kind::ImportFile { path: path(), fault: ImportFault::Bomb },
        Kind::ImportChat { fault: ChatImportFault::Form },
        Kind::ImportChat { fault: ChatImportFault::TooLarge },
        Kind::ImportChat { fault: ChatImportFault::Empty },
        Kind::ImportChat { fault: ChatImportFault::Newer },
    ]
}

fn missing(chats: u32) -> Vec<MissingMessages> {
    (1..=chats).map(|n| MissingMessages { title: format!("Chat {n}"), count: n }).collect()
}

/// The number of variants of `Kind`: the match makes a new one fail to build, so that nobody
/// forgets to add it to [`all_kinds`].
fn place(kind: &Kind) -> usize {
    match kind {
        Kind::Unreachable => 0,
        Kind::ConnectTimeout => 1,
        Kind::Tls => 2,
        Kind::WrongUrl => 3,
        Kind::InvalidUrl => 4,
        Kind::Unauthorized { .. } => 5,
        Kind::Forbidden => 6,
        Kind::ModelNotFound { .. } => 7,
        Kind::InputTooLong { .. } => 8,
        Kind::Unsupported { .. } => 9,
        Kind::BadRequest => 10,
        Kind::Busy => 11,
        Kind::RateLimited { .. } => 12,
        Kind::NoCredit => 13,
        Kind::ServerFailed => 14,
        Kind::InvalidResponse => 15,
        Kind::LineTooLong => 16,
        Kind::Cut => 17,
        Kind::Stalled => 18,
        Kind::EmptyReply => 19,
        Kind::DiskFull => 20,
        Kind::ReadOnly { .. } => 21,
        Kind::DatabaseDamaged { .. } => 22,
        Kind::DatabaseNewer { .. } => 23,
        Kind::Storage => 24,
        Kind::ConfigInvalid { .. } => 25,
        Kind::ConfigLocked { .. } => 26,
        Kind::SessionNotFound { .. } => 27,
        Kind::SessionInUse => 28,
        Kind::AgentMissing { .. } => 29,
        Kind::ConnectionMissing { .. } => 30,
        Kind::NoModel => 31,
        Kind::NothingToSend => 32,
        Kind::NameTaken { .. } => 33,
        Kind::KeyUnavailable => 34,
        Kind::RoundLimit { .. } => 35,
        Kind::Internal => 36,
        Kind::ModelFile { .. } => 37,
        Kind::ModelFileMissing { .. } => 38,
        Kind::ModelStorage => 39,
        Kind::HubUnreachable => 40,
        Kind::HubFailed => 41,
        Kind::RepositoryNotFound { .. } => 42,
        Kind::RepositoryClosed { .. } => 43,
        Kind::RepositoryFileNotFound { .. } => 44,
        Kind::DiskTooSmall { .. } => 45,
        Kind::DownloadInterrupted => 46,
        Kind::DownloadDiffers { .. } => 47,
        Kind::DownloadElsewhere { .. } => 48,
        Kind::EngineMissing => 49,
        Kind::EngineFailed => 50,
        Kind::ProcessorTooOld { .. } => 51,
        Kind::ModelTooLarge { .. } => 52,
        Kind::ModelNotLoaded => 53,
        Kind::TemplateFailed => 54,
        Kind::HubTokenRefused => 55,
        Kind::ProjectMissing { .. } => 56,
        Kind::ProjectRefused { .. } => 57,
        Kind::FileNotFound { .. } => 58,
        Kind::NoReview { .. } => 59,
        Kind::ReviewFailed => 60,
        Kind::NothingChanged => 61,
        Kind::Repetition { .. } => 62,
        Kind::RepeatedCalls { .. } => 63,
        Kind::ContextFull { .. } => 64,
        Kind::PageNotFetched { .. } => 65,
        Kind::SessionAtWork => 66,
        Kind::DatabaseRepaired { .. } => 67,
        Kind::DatabaseInUse => 68,
        Kind::MessageDamaged => 69,
        Kind::ContentFiltered => 70,
        Kind::UnknownHost { .. } => 71,
        Kind::RuleMismatch => 72,
        Kind::OutsideParent { .. } => 73,
        Kind::AgentBudget { .. } => 74,
        Kind::Worktree { .. } => 75,
        Kind::SkillUnreadable { .. } => 76,
        Kind::AgentAtWork { .. } => 77,
        Kind::ConfigUnknown { .. } => 78,
        Kind::InvalidProxy => 79,
        Kind::InvalidHeader { .. } => 80,
        Kind::CertificateFile { .. } => 81,
        Kind::Attachment { .. } => 82,
        Kind::ImportFile { .. } => 83,
        Kind::ImportChat { .. } => 84,
        Kind::FormMismatch => 85,
        Kind::ServerContext { .. } => 86,
    }
}

const KINDS: usize = 87;

fn errors() -> Vec<Error> {
    let kinds = all_kinds();
    let named = kinds.iter().cloned().map(|kind| Error::new(kind).on("Ollama"));
    named.chain(kinds.iter().cloned().map(Error::new)).collect()
}

#[test]
fn the_list_holds_every_kind() {
    let mut seen = [false; KINDS];
    for kind in all_kinds() {
        seen[place(&kind)] = true;
    }
    assert!(seen.iter().all(|seen| *seen), "{seen:?}");
}

#[test]
fn every_sentence_is_whole() {
    for error in errors() {
        let text = sentence(&error);
        assert!(text.ends_with('.') || text.ends_with('?'), "{error:?}: {text}");
        assert!(!text.contains('{') && !text.contains('}'), "{error:?}: {text}");
    }
}

#[test]
fn models_get_a_whole_sentence_for_each_kind_too() {
    for error in errors() {
        let text = error.for_model();
        assert!(text.ends_with('.'), "{error:?}: {text}");
        let debug = format!("{:?}", error.kind);
        let name = debug.split([' ', '{']).next().unwrap_or_default();
        // One of several words: the others are words of the language.
        let coined = name.chars().filter(|c| c.is_uppercase()).count() > 1;
        assert!(!coined || !text.contains(name), "{error:?}: {text}");
    }
}

#[test]
fn a_name_that_looks_like_a_place_is_left_alone() {
    let error = Error::new(Kind::ModelNotFound { model: "{connection}".to_owned() }).on("{model}");
    let text = sentence(&error);
    assert!(text.starts_with("“{model}” doesn’t have the model “{connection}”."), "{text}");
}

#[test]
fn a_model_that_is_not_there_is_named_by_what_can_be_typed() {
    for (connection, id) in
        [(chat_core::models::CONNECTION, "smollm2-135m"), ("Workshop", "/srv/models/tiny.gguf")]
    {
        let kind = Kind::ModelNotFound { model: id.to_owned() };
        let text = sentence(&Error::new(kind).on(connection));
        assert!(text.contains(&format!("“{id}”")), "{text}");
    }
}

#[test]
fn all_sentences() {
    let mut lines = String::new();
    for error in errors() {
        let text = sentence(&error);
        let name = error.kind.name();
        let line = format!("{name}: {text} {:?}\n", advice(&error).actions);
        if !lines.contains(&line) {
            lines.push_str(&line);
        }
    }
    insta::assert_snapshot!(lines);
}
