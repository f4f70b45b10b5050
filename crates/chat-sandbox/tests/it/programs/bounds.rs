//! Tests what a program can see, change and reach.

use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use chat_sandbox::{
    Ended, Error, FolderAccess, GrantedFolder, Preference, Program, Sandbox, Secrets,
};

use super::{granted, program, run};
use crate::support::{Scene, WAYS, write};
use crate::unprivileged;

#[test]
fn the_network_is_not_reached_unless_it_is_granted() {
    unprivileged::run(async || {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let text = format!("echo hello > /dev/tcp/127.0.0.1/{port} && echo reached");
        for way in WAYS {
            let Some(scene) = Scene::new(way).await else { continue };
            for network in [false, true] {
                let reach = Program { network, ..program(&scene, &text) };
                let (_, printed) = run(&scene, reach).await;
                let is_reached = network || way == Preference::None;
                assert_eq!(printed == "reached\n", is_reached, "{way:?}: {network}");
            }
        }
    });
}

fn make_repository(path: &Path) {
    let made = Command::new("git").args(["init", "-q"]).arg(path).status();
    assert!(made.unwrap().success());
}

#[test]
fn granted_folders_are_used_as_they_were_granted_and_others_are_hidden() {
    unprivileged::run(async || {
        for way in [Preference::Bubblewrap, Preference::Landlock] {
            let Some(scene) = Scene::new(way).await else { continue };
            for (access, changed) in [(FolderAccess::Read, "old\n"), (FolderAccess::Write, "new\n")]
            {
                write(&scene.project("file"), "old\n");
                write(&scene.beside("file"), "other\n");
                write(&scene.home("Documents/file"), "private\n");
                let text = format!(
                    "cat {project}/file; echo new > {project}/file; touch {project}/{access:?}; \
                     cat {beside}/file {home}/Documents/file; echo x > {beside}/new; pwd; echo y > own",
                    project = scene.project("").display(),
                    beside = scene.beside("").display(),
                    home = scene.home("").display(),
                );
                let mut server = program(&scene, &text);
                server.granted = vec![granted(&scene, access)];
                let (ended, printed) = run(&scene, server).await;
                assert_eq!(ended, Ended::Status(0), "{way:?}");
                let (first, own) = printed.split_once('\n').unwrap();
                assert_eq!(first, "old", "{way:?}: {printed}");
                let own = PathBuf::from(own.trim_end());
                assert!(own.starts_with(scene.home(".local/share/natter")), "{way:?}: {printed}");
                assert_eq!(std::fs::read_to_string(own.join("own")).unwrap(), "y\n", "{way:?}");
                let there = std::fs::read_to_string(scene.project("file")).unwrap();
                assert_eq!(there, changed, "{way:?}");
                let is_new = scene.project(&format!("{access:?}")).exists();
                assert_eq!(is_new, access == FolderAccess::Write, "{way:?}");
                assert!(!scene.beside("new").exists(), "{way:?}");
            }
        }
    });
}

#[test]
fn what_would_start_programs_later_and_secrets_are_protected_in_granted_folders() {
    unprivileged::run(async || {
        for way in [Preference::Bubblewrap, Preference::Landlock] {
            let Some(scene) = Scene::new(way).await else { continue };
            make_repository(&scene.project("inner"));
            write(&scene.project("inner/file"), "");
            write(&scene.project("inner/.env"), "secret");
            write(&scene.beside("deep/.env"), "secret");
            let text = format!(
                "echo x > inner/.git/hooks/post-commit; echo '[alias]' >> inner/.git/config; \
                 echo x > .mcp.json; cat inner/.env {}/deep/.env; echo done > inner/file",
                scene.beside("").display()
            );
            let before = std::fs::read_to_string(scene.project("inner/.git/config")).unwrap();
            let mut server = program(&scene, &text);
            let beside = scene.beside("").components().collect();
            server.granted = vec![
                granted(&scene, FolderAccess::Write),
                GrantedFolder { path: beside, access: FolderAccess::Read },
            ];
            server.folder = Some(scene.project(""));
            server.secrets = Some(Secrets {
                are_secret: Arc::new(|path| path.ends_with(".env")),
                are_granted: Arc::new(|_| false),
            });
            let (ended, printed) = run(&scene, server).await;
            assert_eq!((ended, printed.as_str()), (Ended::Status(0), ""), "{way:?}");
            let after = std::fs::read_to_string(scene.project("inner/.git/config")).unwrap();
            assert_eq!(before, after, "{way:?}");
            assert!(!scene.project("inner/.git/hooks/post-commit").exists(), "{way:?}");
            assert!(!scene.project(".mcp.json").exists(), "{way:?}");
            let done = std::fs::read_to_string(scene.project("inner/file")).unwrap();
            assert_eq!(done, "done\n", "{way:?}");
        }
    });
}

#[test]
fn a_folder_that_may_only_be_read_stays_so_in_one_that_may_be_written() {
    unprivileged::run(async || {
        for way in [Preference::Bubblewrap, Preference::Landlock] {
            let Some(scene) = Scene::new(way).await else { continue };
            write(&scene.project("kept/file"), "kept\n");
            write(&scene.project("free/file"), "free\n");
            make_repository(&scene.project("kept/deep/repository"));
            let text = "cd kept; echo x > file; echo x > deep/new; echo x > deep/repository/.git/HEAD; \
                cd ..; echo x > free/file; cat */file; ls kept/deep; grep -c refs kept/deep/*/.git/HEAD";
            let mut server = program(&scene, text);
            let kept = GrantedFolder { path: scene.project("kept"), access: FolderAccess::Read };
            server.granted = vec![kept, granted(&scene, FolderAccess::Write)];
            server.folder = Some(scene.project(""));
            assert_eq!(run(&scene, server).await.1, "x\nkept\nrepository\n1\n", "{way:?}");
        }
    });
}

async fn refused(sandbox: &Sandbox, program: Program) -> Option<Error> {
    sandbox.spawn_program(program).await.err()
}

#[test]
fn what_cannot_be_started_is_refused_with_the_reason() {
    unprivileged::run(async || {
        for way in WAYS {
            let Some(scene) = Scene::new(way).await else { continue };
            let sandbox = scene.sandbox();
            let change = |change: &dyn Fn(&mut Program)| {
                let mut program = program(&scene, "true");
                change(&mut program);
                refused(sandbox, program)
            };
            let missing = change(&|it| it.program = "no-such-program".into()).await;
            assert!(matches!(missing, Some(Error::NotFound(_))), "{way:?}: {missing:?}");
            let nul = change(&|it| it.arguments.push("a\0b".into())).await;
            assert!(matches!(nul, Some(Error::Nul)), "{way:?}: {nul:?}");
            let folder = change(&|it| it.folder = Some(scene.project("none"))).await;
            assert!(matches!(folder, Some(Error::Folder { .. })), "{way:?}: {folder:?}");
            symlink(scene.project(""), scene.beside("link")).unwrap();
            let link = GrantedFolder { path: scene.beside("link"), access: FolderAccess::Read };
            let link = change(&|it| it.granted = vec![link.clone()]).await;
            assert!(matches!(link, Some(Error::Folder { .. })), "{way:?}: {link:?}");
            if way == Preference::None {
                continue;
            }
            let outside = change(&|it| it.folder = Some(scene.beside(""))).await;
            assert!(matches!(outside, Some(Error::Outside(_))), "{way:?}: {outside:?}");
            let grant = |path: PathBuf| {
                let path: PathBuf = path.components().collect();
                let granted = vec![GrantedFolder { path, access: FolderAccess::Read }];
                change(&|it| it.granted.clone_from(&granted))
            };
            let wide = grant(scene.home("")).await;
            assert!(matches!(wide, Some(Error::TooWide(_))), "{way:?}: {wide:?}");
            let own = grant(scene.home(".cache")).await;
            assert!(matches!(own, Some(Error::OwnFolder(_))), "{way:?}: {own:?}");
        }
    });
}

#[test]
fn a_program_in_a_hidden_folder_is_refused_until_the_folder_is_granted() {
    unprivileged::run(async || {
        for way in WAYS {
            let Some(scene) = Scene::new(way).await else { continue };
            let tool = scene.beside("tool");
            write(&tool, "#!/bin/sh\necho tool\n");
            std::fs::set_permissions(&tool, PermissionsExt::from_mode(0o755)).unwrap();
            let hidden = Program { program: tool.clone().into(), ..program(&scene, "") };
            if way != Preference::None {
                let refused = refused(scene.sandbox(), hidden.clone()).await;
                let is_told = matches!(&refused, Some(Error::HiddenProgram(path)) if *path == tool);
                assert!(is_told, "{way:?}: {refused:?}");
            }
            let path = scene.beside("").components().collect();
            let granted = vec![GrantedFolder { path, access: FolderAccess::Read }];
            let shown = Program { granted, ..hidden };
            assert_eq!(run(&scene, shown).await, (Ended::Status(0), "tool\n".into()), "{way:?}");
        }
    });
}
