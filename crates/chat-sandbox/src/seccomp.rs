//! Lists the system calls that a command may not make, for every back end, and compiles them into
//! filter programs for the kernel. Calls that are not listed here are allowed: namespaces or
//! Landlock confine files, network and processes, and this filter closes the ways around them.
//!
//! Tracing is allowed: sanitizers and debuggers need it, and both back ends keep it inside.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::fd::OwnedFd;
use std::sync::{Mutex, PoisonError};

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, sock_filter,
};

use crate::error::Error;

/// What the filter must also forbid because nothing else does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each restriction holds or not, whatever others are"
)]
pub(crate) struct SyscallRestrictions {
    /// No Internet sockets.
    pub(crate) internet: bool,
    /// No sockets by path: where they cannot be hidden, the session bus would start any program.
    pub(crate) local: bool,
    /// No shared memory and queues that are found by a number or a name: the screen's contents may
    /// be in such memory.
    pub(crate) shared: bool,
    /// No truncating of files that are not open for writing: the first two versions of Landlock
    /// cannot forbid it.
    pub(crate) truncate: bool,
}

impl SyscallRestrictions {
    /// What bubblewrap leaves to the filter: its namespaces do the rest. But the session's abstract
    /// sockets come with the network, unless `scoped`: then no program inside may use sockets by
    /// path, either.
    pub(crate) fn of_namespaces(network: bool, scoped: bool) -> Self {
        Self { internet: false, local: network && !scoped, shared: false, truncate: false }
    }

    /// What this version of Landlock leaves to the filter.
    pub(crate) fn of_landlock(network: bool, version: u8) -> Self {
        // No version restricts sockets by path.
        Self { internet: !network, local: true, shared: true, truncate: version < 3 }
    }
}

/// Calls that nobody in a sandbox needs and that affect the machine or other processes.
const FORBIDDEN: &[libc::c_long] = &[
    libc::SYS_acct,
    libc::SYS_add_key,
    libc::SYS_bpf,
    libc::SYS_clock_adjtime,
    libc::SYS_clock_settime,
    libc::SYS_delete_module,
    libc::SYS_finit_module,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_init_module,
    libc::SYS_kexec_file_load,
    libc::SYS_kexec_load,
    libc::SYS_keyctl,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_name_to_handle_at,
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    libc::SYS_perf_event_open,
    libc::SYS_pivot_root,
    libc::SYS_quotactl,
    libc::SYS_reboot,
    libc::SYS_request_key,
    libc::SYS_setns,
    libc::SYS_settimeofday,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_syslog,
    libc::SYS_umount2,
    libc::SYS_userfaultfd,
    libc::SYS_vhangup,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_modify_ldt,
];

/// Calls for which programs have a fallback if the kernel lacks them.
const UNKNOWN: &[libc::c_long] = &[
    // Its flags are in memory, where no filter can see them; the C library falls back to `clone`.
    libc::SYS_clone3,
    // Does the work of other calls, unseen by the filter.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
];

/// What programs of one user share by numbers and names.
const SHARED: &[libc::c_long] =
    &[libc::SYS_mq_open, libc::SYS_msgget, libc::SYS_semget, libc::SYS_shmat, libc::SYS_shmget];

/// The maximum size of a shared memory segment, in bytes. A segment remains even if nobody has it
/// mapped, so it does not count towards a command's memory. There are at most 4,096 segments, so
/// this limits them to a gigabyte.
const LARGEST_PIECE: u64 = 256 << 10;

/// New namespaces would give privileges that the sandbox has removed.
const NAMESPACES: &[libc::c_int] = &[
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWCGROUP,
    // CLONE_NEWTIME, which `clone` interprets as a signal: forbidden only for `unshare`, below.
];

/// Inserts characters into a terminal's input, or reads its screen.
const TERMINAL: &[u64] = &[0x5412 /* TIOCSTI */, 0x541C /* TIOCLINUX */];

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// The filter program, or none if the run is sabotaged. The kernel runs it for each system call.
pub(crate) fn program(restrictions: SyscallRestrictions) -> Result<Option<BpfProgram>, Error> {
    if chat_sabotage::is_sabotaged("no_seccomp") {
        return Ok(None);
    }
    let mut one = joined(vec![
        refusing(forbidden(restrictions)?, libc::EPERM)?,
        refusing(unknown(restrictions), libc::ENOSYS)?,
        refusing(families()?, libc::EAFNOSUPPORT)?,
    ]);
    if cfg!(target_arch = "x86_64") {
        one.splice(0..0, SECOND_NUMBERS);
    }
    Ok(Some(one))
}

/// The program as a file, in the format that bubblewrap reads.
pub(crate) fn file(restrictions: SyscallRestrictions) -> Result<Option<OwnedFd>, Error> {
    static MADE: Mutex<Vec<(SyscallRestrictions, Vec<u8>)>> = Mutex::new(Vec::new());
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    if !made.iter().any(|(other, _)| *other == restrictions) {
        let Some(program) = program(restrictions)? else { return Ok(None) };
        made.push((restrictions, program.iter().flat_map(bytes).collect()));
    }
    let Some((_, text)) = made.iter().find(|(other, _)| *other == restrictions) else {
        return Ok(None);
    };
    Ok(Some(sealed(text).map_err(Error::Filter)?))
}

/// A file in memory that cannot be changed.
fn sealed(text: &[u8]) -> io::Result<OwnedFd> {
    let how = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let mut file = File::from(memfd_create("seccomp", how)?);
    file.write_all(text)?;
    file.rewind()?;
    fcntl_add_seals(&file, SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK)?;
    Ok(file.into())
}

/// Joins several programs into one; each is asked if those before it allowed a call. A single
/// program is faster to load into the kernel.
fn joined(programs: Vec<BpfProgram>) -> BpfProgram {
    let last = programs.len().saturating_sub(1);
    let mut one = BpfProgram::new();
    for (at, mut program) in programs.into_iter().enumerate() {
        let length = program.len();
        for (line, instruction) in program.iter_mut().enumerate() {
            if at < last && (instruction.code, instruction.k) == (RETURN, ALLOW) {
                // Jumps are relative to the next instruction.
                *instruction = sock_filter { code: JUMP, k: (length - line - 1) as u32, ..NOTHING };
            }
        }
        one.append(&mut program);
    }
    one
}

fn forbidden(restrictions: SyscallRestrictions) -> Result<Rules, Error> {
    let shared = if restrictions.shared { SHARED } else { &[] };
    let always = FORBIDDEN.iter().chain(shared);
    let mut rules: Rules = always.map(|call| (*call, Vec::new())).collect();
    let mut add = |call, conditions| rule(&mut rules, call, conditions);

    if !restrictions.shared {
        let large = SeccompCmpOp::Gt;
        let large = SeccompCondition::new(1, SeccompCmpArgLen::Qword, large, LARGEST_PIECE);
        add(libc::SYS_shmget, vec![large.map_err(wrong)?])?;
    }
    for namespace in NAMESPACES {
        let flag = *namespace as u64;
        add(libc::SYS_unshare, vec![masked(0, flag, flag)?])?;
        add(libc::SYS_clone, vec![masked(0, flag, flag)?])?;
    }
    let time = libc::CLONE_NEWTIME as u64;
    add(libc::SYS_unshare, vec![masked(0, time, time)?])?;
    for request in TERMINAL {
        add(libc::SYS_ioctl, vec![equal(1, *request)?])?;
    }
    // The mark that identifies a command's processes, see `processes`.
    let mark = u64::from(libc::RLIMIT_RSS);
    add(libc::SYS_setrlimit, vec![equal(0, mark)?])?;
    let changes = SeccompCondition::new(2, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0);
    let changes = changes.map_err(wrong)?;
    add(libc::SYS_prlimit64, vec![equal(1, mark)?, changes.clone()])?;
    // Limits of other processes, which may be the user's programs.
    let others = condition(0, SeccompCmpOp::Ne, 0)?;
    add(libc::SYS_prlimit64, vec![others, changes])?;
    if restrictions.internet {
        add(libc::SYS_socket, vec![equal(0, libc::AF_INET as u64)?])?;
        add(libc::SYS_socket, vec![equal(0, libc::AF_INET6 as u64)?])?;
    }
    if restrictions.local {
        // Socket pairs are allowed: they reach nobody else.
        add(libc::SYS_socket, vec![equal(0, libc::AF_UNIX as u64)?])?;
    }
    if restrictions.truncate {
        let reading = (libc::O_ACCMODE | libc::O_TRUNC) as u64;
        let emptying = libc::O_TRUNC as u64;
        add(libc::SYS_openat, vec![masked(2, reading, emptying)?])?;
        #[cfg(target_arch = "x86_64")]
        add(libc::SYS_open, vec![masked(1, reading, emptying)?])?;
        rules.insert(libc::SYS_truncate, Vec::new());
    }
    Ok(rules)
}

fn unknown(restrictions: SyscallRestrictions) -> Rules {
    let mut rules: Rules = UNKNOWN.iter().map(|call| (*call, Vec::new())).collect();
    if restrictions.truncate {
        // Its flags are in memory.
        rules.insert(libc::SYS_openat2, Vec::new());
    }
    rules
}

/// Socket families that are not known to be harmless: these are where kernels have had
/// vulnerabilities.
fn families() -> Result<Rules, Error> {
    let known = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];
    let mut rules = Rules::new();
    let others = known
        .iter()
        .map(|family| condition(0, SeccompCmpOp::Ne, *family as u64))
        .collect::<Result<_, _>>()?;
    rule(&mut rules, libc::SYS_socket, others)?;
    // Over netlink, only routes and addresses can be queried.
    rule(
        &mut rules,
        libc::SYS_socket,
        vec![
            equal(0, libc::AF_NETLINK as u64)?,
            condition(2, SeccompCmpOp::Ne, libc::NETLINK_ROUTE as u64)?,
        ],
    )?;
    Ok(rules)
}

/// Adds a case in which a call is refused; all conditions must be true.
fn rule(rules: &mut Rules, call: i64, conditions: Vec<SeccompCondition>) -> Result<(), Error> {
    let rule = SeccompRule::new(conditions).map_err(wrong)?;
    rules.entry(call).or_default().push(rule);
    Ok(())
}

fn equal(argument: u8, value: u64) -> Result<SeccompCondition, Error> {
    condition(argument, SeccompCmpOp::Eq, value)
}

fn masked(argument: u8, mask: u64, value: u64) -> Result<SeccompCondition, Error> {
    condition(argument, SeccompCmpOp::MaskedEq(mask), value)
}

/// Compares the lower half, which is all that the kernel uses of these arguments.
fn condition(argument: u8, how: SeccompCmpOp, value: u64) -> Result<SeccompCondition, Error> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, how, value).map_err(wrong)
}

/// A program that returns `error` if a rule matches.
fn refusing(rules: Rules, error: libc::c_int) -> Result<BpfProgram, Error> {
    let architecture = TargetArch::try_from(std::env::consts::ARCH).map_err(wrong)?;
    let filter = SeccompFilter::new(
        rules,
        SeccompAction::Allow,
        SeccompAction::Errno(error as u32),
        architecture,
    );
    BpfProgram::try_from(filter.map_err(wrong)?).map_err(wrong)
}

const LOAD: u16 = 0x20; // BPF_LD | BPF_W | BPF_ABS
const JUMP: u16 = 0x05; // BPF_JMP | BPF_JA
const JUMP_IF_SET: u16 = 0x45; // BPF_JMP | BPF_JSET | BPF_K
const RETURN: u16 = 0x06; // BPF_RET | BPF_K
const ALLOW: u32 = 0x7fff_0000; // SECCOMP_RET_ALLOW
const REFUSE: u32 = 0x0005_0000; // SECCOMP_RET_ERRNO
const NOTHING: sock_filter = sock_filter { code: 0, jt: 0, jf: 0, k: 0 };

/// x86-64 has a second set of numbers for the same calls (x32), marked by one bit: they are
/// forbidden. Load the call's number; without the bit, skip the refusal.
const SECOND_NUMBERS: [sock_filter; 3] = [
    sock_filter { code: LOAD, ..NOTHING },
    sock_filter { code: JUMP_IF_SET, jf: 1, k: 0x4000_0000, ..NOTHING },
    sock_filter { code: RETURN, k: REFUSE | libc::ENOSYS as u32, ..NOTHING },
];

fn bytes(instruction: &sock_filter) -> [u8; 8] {
    let code = instruction.code.to_ne_bytes();
    let k = instruction.k.to_ne_bytes();
    [code[0], code[1], instruction.jt, instruction.jf, k[0], k[1], k[2], k[3]]
}

fn wrong(error: impl std::fmt::Display) -> Error {
    Error::Filter(std::io::Error::other(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_combination_of_doors_makes_a_program_that_the_kernel_can_take() {
        for bits in 0..16 {
            let restrictions = SyscallRestrictions {
                internet: bits & 1 != 0,
                local: bits & 2 != 0,
                shared: bits & 4 != 0,
                truncate: bits & 8 != 0,
            };
            let program = program(restrictions).unwrap().unwrap();
            // The kernel's own limit.
            assert!((4..4096).contains(&program.len()), "{}", program.len());
        }
    }

    #[test]
    fn each_of_what_is_joined_is_asked_in_turn_and_the_first_that_refuses_answers() {
        // Refuses one number, and allows all others in two ways.
        let refusing = |number, answer| {
            vec![
                sock_filter { code: LOAD, ..NOTHING },
                sock_filter { code: 0x15, jt: 2, jf: 0, k: number }, // BPF_JMP | BPF_JEQ | BPF_K
                sock_filter { code: 0x15, jt: 2, jf: 0, k: number + 1 },
                sock_filter { code: RETURN, k: ALLOW, ..NOTHING },
                sock_filter { code: RETURN, k: answer, ..NOTHING },
                sock_filter { code: RETURN, k: ALLOW, ..NOTHING },
            ]
        };
        let one = joined(vec![refusing(1, 11), refusing(2, 22), refusing(1, 33), refusing(9, 99)]);
        let answer = |number: u32| {
            let (mut at, mut loaded) = (0, 0);
            loop {
                let sock_filter { code, jt, jf, k } = one[at];
                at += 1;
                match code {
                    LOAD => loaded = number,
                    JUMP => at += k as usize,
                    RETURN => return k,
                    _ => at += usize::from(if loaded == k { jt } else { jf }),
                }
            }
        };
        assert_eq!([1, 2, 9].map(answer), [11, 22, 99]);
        assert_eq!([0, 3, 10].map(answer), [ALLOW; 3]);
        assert_eq!(joined(Vec::new()).len(), 0);
    }

    #[test]
    fn sockets_of_the_session_are_closed_by_whoever_can() {
        let local = |network, scoped| SyscallRestrictions::of_namespaces(network, scoped).local;
        assert!(local(true, false));
        assert!(!local(true, true) && !local(false, false) && !local(false, true));
        assert!(SyscallRestrictions::of_landlock(true, 6).local);
    }

    #[test]
    fn an_instruction_is_written_as_the_kernel_reads_it() {
        let [load, jump, refuse] = SECOND_NUMBERS;
        assert_eq!(bytes(&load)[..2], 0x20_u16.to_ne_bytes());
        assert_eq!(bytes(&jump)[2..4], [0, 1]);
        assert_eq!(bytes(&refuse)[4..], (0x0005_0026_u32).to_ne_bytes());
    }
}
