//! The whole process that builds the shipped site, against `cp -r` of what it writes: time, CPU
//! time and peak memory, as Linux counts them. `cargo bench --bench site`.
#![expect(clippy::print_stdout, reason = "a bench is there to print")]
#![expect(clippy::disallowed_types, reason = "a bench reads the clock")]

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How often each command runs. The system counts CPU time in steps of 10 ms, so few runs say
/// little.
const RUNS: u32 = 50;

/// What one run took, on average, and the most memory that any held.
struct Cost {
    wall: Duration,
    cpu: Duration,
    peak_kib: u64,
}

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let (site, copy) = (folder.path().join("site"), folder.path().join("copy"));
    let build = |command: &mut Command| {
        command.arg("build").arg(root).arg("--dest-dir").arg(&site);
    };
    let program = env!("CARGO_BIN_EXE_kafka-sim-site");
    let fresh = measure(program, &build, &|| remove(&site));
    let again = measure(program, &build, &|| ());
    let files = measure(
        "cp",
        &|cp| {
            cp.arg("-r").arg(&site).arg(&copy);
        },
        &|| remove(&copy),
    );
    println!("{:<28}{:>10}{:>10}{:>12}", "", "wall", "CPU", "peak");
    for (name, cost) in
        [("build", &fresh), ("build, nothing changed", &again), ("cp -r of the site", &files)]
    {
        let peak =
            format!("{:.1} MiB", f64::from(u32::try_from(cost.peak_kib).unwrap_or(0)) / 1024.0);
        println!("{name:<28}{:>10.1?}{:>10.1?}{peak:>12}", cost.wall, cost.cpu);
    }
}

fn remove(folder: &Path) {
    if folder.exists() {
        fs::remove_dir_all(folder).expect("our own folder can be removed");
    }
}

/// Runs a program often; `before` each run puts things in place and does not count.
fn measure(program: &str, arguments: &dyn Fn(&mut Command), before: &dyn Fn()) -> Cost {
    let (mut wall, mut cpu, mut peak_kib) = (Duration::ZERO, Duration::ZERO, 0);
    for _ in 0..RUNS {
        before();
        let mut command = Command::new(program);
        arguments(command.stdout(Stdio::null()).stderr(Stdio::null()));
        let cpu_before = cpu_of_children();
        let start = Instant::now();
        let mut child = command.spawn().expect("the program is there");
        peak_kib = peak_kib.max(watch(&mut child));
        wall += start.elapsed();
        cpu += cpu_of_children().saturating_sub(cpu_before);
    }
    Cost { wall: wall / RUNS, cpu: cpu / RUNS, peak_kib }
}

/// Waits for a process and returns the most memory that it was seen to hold.
fn watch(child: &mut Child) -> u64 {
    let status = format!("/proc/{}/status", child.id());
    let mut peak_kib = 0;
    loop {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let seen = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
        peak_kib = seen.unwrap_or(0).max(peak_kib);
        if let Some(status) = child.try_wait().expect("our own child can be waited for") {
            assert!(status.success(), "the program failed");
            return peak_kib;
        }
        std::thread::yield_now();
    }
}

/// The CPU time of all children that have ended.
fn cpu_of_children() -> Duration {
    let text = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // Behind the program's name, which may hold anything: the 14th and 15th field, in ticks of 10
    // ms.
    let fields = text.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: u64 = fields.skip(13).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    Duration::from_millis(10 * ticks)
}
