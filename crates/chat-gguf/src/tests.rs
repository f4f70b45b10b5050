//! Tests that whole files are understood, and that no other file does harm.

use std::io::Cursor;
use std::path::Path;

use proptest::prelude::*;

use crate::write::Writer;
use crate::{Error, Header};

fn parse(bytes: &[u8]) -> Result<Header, Error> {
    Header::parse(Cursor::new(bytes), bytes.len() as u64)
}

fn refused(bytes: &[u8]) -> Error {
    parse(bytes).expect_err("it was taken")
}

#[test]
fn a_whole_file_tells_its_facts() {
    for version in [2, 3] {
        let header = parse(&Writer::tiny("Tiny", 1_024).version(version).bytes()).unwrap();
        assert_eq!(header.architecture(), Some("llama"));
        assert_eq!(header.name(), Some("Tiny"));
        assert_eq!(header.license(), Some("apache-2.0"));
        assert_eq!(header.context_length(), Some(2_048));
        assert_eq!(header.embedding_length(), Some(64));
        assert_eq!(header.layers(), Some(2));
        assert_eq!((header.heads(), header.kv_heads()), (Some(4), Some(vec![2])));
        assert_eq!(header.head_lengths(), Some((16, 16)));
        assert_eq!(header.vocabulary(), Some(4));
        assert_eq!((header.parameters(), header.weights()), (256, 1_024));
        assert_eq!(header.quantization(), Some("F32"));
        assert!(header.chat_template().unwrap().starts_with("{% for"));
        assert!(header.is_model() && !header.is_embedding());
        assert_eq!(header.files(), 1);
    }
}

#[test]
fn a_file_cut_anywhere_is_truncated() {
    let whole = Writer::tiny("Tiny", 256).tensor("more", &[32, 3], 8).bytes();
    assert!(parse(&whole).is_ok());
    for length in 4..whole.len() {
        match refused(&whole[..length]) {
            Error::Truncated { expected, found } => {
                assert_eq!(found, length as u64);
                assert!(expected > found && expected <= whole.len() as u64, "{length}");
            }
            other => panic!("cut at {length}: {other:?}"),
        }
    }
    for length in 0..4 {
        assert!(matches!(refused(&whole[..length]), Error::NotGguf), "{length}");
    }
}

#[test]
fn what_follows_the_tensors_does_no_harm() {
    let mut bytes = Writer::tiny("Tiny", 256).bytes();
    bytes.extend([0; 100]);
    assert!(parse(&bytes).is_ok());
}

#[test]
fn other_files_are_no_gguf() {
    for bytes in [&b""[..], b"GGU", b"ggjt\x03\0\0\0", b"<!doctype html><title>404", b"PK\x03\x04"]
    {
        assert!(matches!(refused(bytes), Error::NotGguf), "{bytes:?}");
    }
}

#[test]
fn other_versions_are_named() {
    for (stored, version, big_endian) in
        [(1, 1, false), (4, 4, false), (3_u32.swap_bytes(), 3, true)]
    {
        let error = refused(&Writer::tiny("Tiny", 64).version(stored).bytes());
        let Error::UnsupportedVersion { version: said, big_endian: other } = error else {
            panic!("{error:?}")
        };
        assert_eq!((said, other), (version, big_endian));
    }
}

#[test]
fn absurd_counts_and_lengths_are_refused_at_once() {
    let tiny = || Writer::tiny("Tiny", 64);
    for (tensors, entries) in [(Some(u64::MAX), None), (None, Some(u64::MAX)), (Some(70_000), None)]
    {
        let error = refused(&tiny().claiming(tensors, entries).bytes());
        assert!(matches!(error, Error::HeaderTooLarge), "{error:?}");
    }
    // A string, a list of numbers, of texts, of lists, each longer than anything.
    let list = |of: u32, count: u64| [&of.to_le_bytes()[..], &count.to_le_bytes()].concat();
    let values =
        [(8, u64::MAX.to_le_bytes().to_vec()), (9, list(4, u64::MAX)), (9, list(8, u64::MAX / 2))];
    for (kind, value) in values {
        let error = refused(&tiny().entry("x", kind, &value).bytes());
        assert!(matches!(error, Error::HeaderTooLarge | Error::Truncated { .. }), "{error:?}");
    }
}

#[test]
fn what_is_kept_of_a_header_is_limited() {
    let long = "x".repeat(1 << 20);
    let mut writer = Writer::tiny("Tiny", 64);
    for n in 0..9 {
        writer = writer.text(&format!("text.{n}"), &long);
    }
    assert!(matches!(refused(&writer.bytes()), Error::HeaderTooLarge));
}

#[test]
fn contradictions_are_corrupt() {
    let tiny = || Writer::tiny("Tiny", 64);
    let nested: Vec<u8> = (0..8)
        .flat_map(|_| [9_u32.to_le_bytes().to_vec(), 1_u64.to_le_bytes().to_vec()].concat())
        .collect();
    let cases = [
        ("an unknown type of value", tiny().entry("x", 13, &[0; 8])),
        ("twice the same name", tiny().number("x", 1).number("x", 2)),
        ("no name", tiny().number("", 1)),
        ("the alignment", tiny().number("general.alignment", 3)),
        ("no alignment at all", tiny().number("general.alignment", 0)),
        ("lists in lists", tiny().entry("x", 9, &nested)),
        ("five dimensions", tiny().tensor("x", &[1; 5], 0)),
        ("a huge tensor", tiny().tensor("x", &[1 << 40, 1 << 40], 99)),
        ("broken blocks", tiny().tensor("x", &[33], 8)),
        ("a long name", tiny().tensor(&"x".repeat(65), &[4], 0)),
        ("no tensors", Writer::new().text("general.architecture", "llama")),
    ];
    for (what, writer) in cases {
        assert!(matches!(refused(&writer.bytes()), Error::Corrupt(_)), "{what}");
    }
}

#[test]
fn tensors_do_not_lie_upon_each_other() {
    let bytes = Writer::tiny("Tiny", 64).tensor("more", &[16], 0).bytes();
    // The last tensor's offset stands last in the header, before the padding.
    let place = bytes.windows(8).rposition(|window| window == 64_u64.to_le_bytes()).unwrap();
    let with = |offset: u64| {
        let mut bytes = bytes.clone();
        bytes[place..place + 8].copy_from_slice(&offset.to_le_bytes());
        refused(&bytes)
    };
    assert!(matches!(with(32), Error::Corrupt(_)));
    assert!(matches!(with(65), Error::Corrupt(_)));
    assert!(matches!(with(1 << 30), Error::Truncated { expected, .. } if expected > 1 << 30));
    assert!(matches!(with(u64::MAX - 31), Error::Corrupt(_)));
}

#[test]
fn all_parts_of_a_model_are_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = |n| folder.path().join(format!("big-{n:05}-of-00002.gguf"));
    let first = Writer::tiny("Big", 128).number("split.count", 2).bytes();
    std::fs::write(path(1), &first).unwrap();
    let missing = Header::read_model(&path(1)).unwrap_err();
    let of_second = |error| match error {
        Error::Part { path: named, error } if named == path(2) => *error,
        other => panic!("{other:?}"),
    };
    assert!(matches!(of_second(missing), Error::Io(e) if e.kind() == std::io::ErrorKind::NotFound));
    let second = Writer::new().number("split.count", 2).tensor("more", &[32], 0).bytes();
    std::fs::write(path(2), &second).unwrap();
    for any in [1, 2] {
        let model = Header::read_model(&path(any)).unwrap();
        assert_eq!((model.name(), model.weights()), (Some("Big"), 256));
        assert_eq!(model.size(), (first.len() + second.len()) as u64);
    }
    std::fs::write(path(2), &second[..second.len() - 1]).unwrap();
    let cut = Header::read_model(&path(1)).unwrap_err();
    assert!(matches!(of_second(cut), Error::Truncated { .. }));
    // A part alone, under a name that does not say so.
    let alone = folder.path().join("alone.gguf");
    std::fs::write(&alone, &first).unwrap();
    assert!(matches!(Header::read_model(&alone), Err(Error::Alone { files: 2 })));
}

#[test]
fn embedding_models_and_projectors_are_told_apart() {
    let of = |architecture: &str| Writer::new().text("general.architecture", architecture);
    let tensor = |writer: Writer| parse(&writer.tensor("t", &[4], 0).bytes()).unwrap();
    assert!(tensor(of("bert")).is_embedding());
    assert!(tensor(of("qwen3").number("qwen3.pooling_type", 3)).is_embedding());
    assert!(!tensor(of("qwen3").number("qwen3.pooling_type", 0)).is_embedding());
    assert!(!tensor(of("clip")).is_model());
    assert!(!tensor(of("llama").text("general.type", "adapter")).is_model());
    assert!(!tensor(Writer::new()).is_model());
}

#[test]
fn memory_counts_weights_window_and_buffers() {
    let model = parse(&Writer::tiny("Tiny", 1_024).bytes()).unwrap();
    // 2 layers with 2 heads of 16 keys and 16 values, 2 bytes each; 512 rows of 4 bytes.
    let per_token = 2 * 2 * 32 * 2 + 512 * 4;
    assert_eq!(model.memory(2_048) - model.memory(1_024), 1_024 * per_token);
    assert!(model.memory(0) >= 1_024 + 512 * 4 * (8 * 64 + 3 * 128));
    // Only one of these layers keeps anything.
    let mixed = Writer::new()
        .text("general.architecture", "jamba")
        .number("jamba.block_count", 2)
        .number("jamba.embedding_length", 64)
        .number("jamba.attention.head_count", 4)
        .numbers("jamba.attention.head_count_kv", &[0, 2])
        .tensor("t", &[4], 0);
    let mixed = parse(&mixed.bytes()).unwrap();
    assert_eq!(mixed.memory(2) - mixed.memory(1), 2 * 32 * 2 + 512 * 4);
}

#[test]
fn layers_that_keep_less_are_counted_as_such() {
    let per_token = |arch: &str, more: &dyn Fn(Writer) -> Writer| {
        let key = |name: &str| format!("{arch}.{name}");
        let model = Writer::new()
            .text("general.architecture", arch)
            .number(&key("block_count"), 4)
            .number(&key("embedding_length"), 64)
            .number(&key("attention.head_count"), 4)
            .number(&key("attention.head_count_kv"), 2)
            .number(&key("attention.key_length"), 64)
            .number(&key("attention.value_length"), 64);
        let model = parse(&more(model).tensor("t", &[4], 0).bytes()).unwrap();
        (model.memory(2) - model.memory(1) - 512 * 4) / (2 * 2 * 128)
    };
    assert_eq!(per_token("plain", &|model| model), 4);
    let every = |model: Writer| model.number("qwen35.full_attention_interval", 4);
    assert_eq!(per_token("qwen35", &every), 1);
    let shared = |model: Writer| {
        model
            .number("gemma4.attention.shared_kv_layers", 1)
            .number("gemma4.attention.key_length_swa", 32)
            .number("gemma4.attention.value_length_swa", 32)
            .numbers("gemma4.attention.sliding_window_pattern", &[1, 1, 0, 1])
    };
    assert_eq!(per_token("gemma4", &shared), 2);
}

#[test]
fn a_folder_is_no_model() {
    assert!(matches!(Header::read(Path::new("/")), Err(Error::NotGguf)));
    assert!(matches!(Header::read(Path::new("/nowhere/x.gguf")), Err(Error::Io(_))));
}

#[test]
fn a_pipe_is_no_model_and_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe.gguf");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let (told, heard) = std::sync::mpsc::channel();
    std::thread::spawn(move || told.send(Header::read(&pipe).map(drop)));
    let read = heard.recv_timeout(std::time::Duration::from_secs(30));
    assert!(matches!(read.expect("it waits"), Err(Error::NotGguf)));
}

#[test]
fn the_real_model_is_understood() {
    let Some(path) = std::env::var_os("NATTER_TEST_MODEL") else {
        assert!(std::env::var_os("CI").is_none(), "NATTER_TEST_MODEL is not set");
        return;
    };
    let model = Header::read_model(Path::new(&path)).unwrap();
    assert_eq!((model.architecture(), model.quantization()), (Some("llama"), Some("Q4_1")));
    assert_eq!(model.size(), 98_362_432);
    assert_eq!((model.context_length(), model.layers()), (Some(8_192), Some(30)));
    assert_eq!((model.kv_heads(), model.vocabulary()), (Some(vec![3]), Some(49_152)));
    assert!((134_000_000..136_000_000).contains(&model.parameters()), "{}", model.parameters());
    assert!(model.chat_template().unwrap().contains("<|im_start|>"));
    // It was seen to take 216 MB with a window of 4,096 tokens.
    let memory = model.memory(4_096);
    assert!((216_000_000..420_000_000).contains(&memory), "{memory}");
}

proptest! {
    #[test]
    fn no_bytes_do_harm(bytes in proptest::collection::vec(any::<u8>(), 0..512)) {
        let mut file = b"GGUF\x03\0\0\0".to_vec();
        file.extend(&bytes);
        for bytes in [&bytes, &file] {
            if let Ok(header) = parse(bytes) {
                let _ = header.memory(u32::MAX);
            }
        }
    }

    #[test]
    fn a_sound_file_with_changed_bytes_does_no_harm(
        changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut bytes = Writer::tiny("Tiny", 64).number("split.count", 1).header();
        for (place, value) in changes {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        if let Ok(header) = parse(&bytes) {
            let _ = (header.memory(u32::MAX), header.quantization(), header.is_embedding());
        }
    }
}
