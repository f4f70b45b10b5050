//! What the program takes from itself before it reads a stranger's bytes: memory and time without end, and
//! every system call but those that compute, read and write.

use std::collections::BTreeMap;
use std::io;

use rustix::process::{
    DumpableBehavior, Resource, Rlimit, getpid, getrlimit, set_dumpable_behavior, setrlimit,
};
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
    SeccompFilter, SeccompRule, TargetArch, apply_filter_all_threads,
};

/// The address space, in bytes: a large picture, its smaller copies, and the file itself.
const MEMORY: u64 = 1_536 << 20;
/// So many seconds it may compute. A picture of a camera takes less than one.
const SECONDS: u64 = 20;

/// What computing, reading and writing needs. No call here finds a file, another process or the network.
const ALLOWED: &[libc::c_long] = &[
    libc::SYS_brk,
    libc::SYS_clock_getres,
    libc::SYS_clock_gettime,
    libc::SYS_close,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_futex,
    libc::SYS_getpid,
    libc::SYS_getrandom,
    libc::SYS_gettid,
    libc::SYS_madvise,
    libc::SYS_mremap,
    libc::SYS_munmap,
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_restart_syscall,
    libc::SYS_rseq,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_yield,
    libc::SYS_set_robust_list,
    libc::SYS_sigaltstack,
    libc::SYS_write,
    libc::SYS_writev,
];

/// Confines all threads of this process for as long as it lives.
///
/// # Errors
/// A limit cannot be set, or the kernel takes no filter: then nothing of a stranger's may be read.
pub fn confine() -> io::Result<()> {
    // What is too much ends the process, and leaves no picture of its memory behind.
    for (resource, most) in [
        (Resource::As, MEMORY),
        (Resource::Cpu, SECONDS),
        (Resource::Core, 0),
        (Resource::Fsize, 0),
    ] {
        limit(resource, most)?;
    }
    // The administrator's processes are not counted.
    let _ = limit(Resource::Nproc, 0);
    set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    let filter = filter().map_err(io::Error::other)?;
    apply_filter_all_threads(&filter).map_err(io::Error::other)
}

/// Sets a limit, or leaves a lower one.
fn limit(resource: Resource, most: u64) -> io::Result<()> {
    let most = getrlimit(resource).maximum.map_or(most, |set| set.min(most));
    Ok(setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?)
}

/// The filter for the kernel.
///
/// # Errors
/// The machine's numbers of calls are not known.
fn filter() -> Result<BpfProgram, BackendError> {
    let arch: TargetArch = std::env::consts::ARCH.try_into()?;
    let rules = rules()?;
    // Libraries go on without what they do not get, such as the time zone.
    let refused = SeccompAction::Errno(libc::EPERM as u32);
    SeccompFilter::new(rules, refused, SeccompAction::Allow, arch)?.try_into()
}

fn rules() -> Result<BTreeMap<i64, Vec<SeccompRule>>, BackendError> {
    let mut rules: BTreeMap<_, _> = ALLOWED.iter().map(|call| (*call, Vec::new())).collect();
    let when = |argument, operator, value| {
        let length = SeccompCmpArgLen::Qword;
        let condition = SeccompCondition::new(argument, length, operator, value)?;
        Ok(vec![SeccompRule::new(vec![condition])?])
    };
    // Nothing that is read may become code.
    let executable = SeccompCmpOp::MaskedEq(libc::PROT_EXEC as u64);
    for call in [libc::SYS_mmap, libc::SYS_mprotect] {
        rules.insert(call, when(2, executable.clone(), 0)?);
    }
    // It may end itself, and no other process.
    let own = getpid().as_raw_nonzero().get() as u64;
    rules.insert(libc::SYS_tgkill, when(0, SeccompCmpOp::Eq, own)?);
    Ok(rules)
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::ErrorKind;
    use std::net::UdpSocket;
    use std::process::Command;

    use rustix::process::test_kill_process;

    use super::*;

    #[test]
    fn a_filtered_thread_can_compute_and_nothing_else() {
        let filter = filter().expect("for this machine");
        let thread = std::thread::spawn(move || {
            seccompiler::apply_filter(&filter).expect("the kernel takes filters");
            let refused = [
                File::open("/etc/passwd").err().map(|error| error.kind()),
                UdpSocket::bind("127.0.0.1:0").err().map(|error| error.kind()),
                Command::new("true").spawn().err().map(|error| error.kind()),
                test_kill_process(getpid()).err().map(|error| io::Error::from(error).kind()),
            ];
            (refused, vec![1_u64; 1 << 20].iter().sum::<u64>())
        });
        let (refused, sum) = thread.join().unwrap();
        assert_eq!(refused, [Some(ErrorKind::PermissionDenied); 4]);
        assert_eq!(sum, 1 << 20);
    }
}
