//! What a project of many files costs. `examples/project-files.rs` measures one of 100,000.

use std::fs;
use std::sync::atomic::AtomicBool;

use chat_project::tree::walk;
use chat_project::{PreferredFiles, search};

use crate::world::World;

const FILES: usize = 10_000;
/// Bytes that a file may cost: 80 MB for 100,000.
const EACH: usize = 800;

#[test]
fn each_file_of_a_large_tree_costs_little() {
    let world = World::new(&[]);
    world.write(".gitignore", "*.o\n/build/\n!keep.o\n");
    for folder in 0..FILES / 20 {
        let path = world.path(format!("crates/part-{}/src/module_{folder}", folder % 70));
        fs::create_dir_all(&path).unwrap();
        for file in 0..20 {
            fs::File::create(path.join(format!("source_file_{file}.rs"))).unwrap();
        }
    }
    let (project, given_up) = (world.project(), AtomicBool::new(false));
    let tree = walk(&project, &given_up, |_| {}).unwrap().unwrap();
    assert_eq!(tree.paths().len(), FILES + 1);
    assert!(tree.memory() < FILES * EACH / 4, "{} bytes", tree.memory());
    let found = search(tree.paths(), "mod 411 file_7", &PreferredFiles::default(), 50, &given_up);
    assert!(found.unwrap()[0].display_path.ends_with("module_411/source_file_7.rs"));
}
