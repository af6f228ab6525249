//! Asks Kafka's own classes, where Java and Maven are there: what they make of random inputs.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The release whose classes ours are held against.
const KAFKA: &str = "4.3.0";

/// What a program of `tests/java` prints for this text, by lines. None, with a word about it, where
/// it cannot be run; in CI that is a failure.
#[expect(clippy::print_stdout, reason = "who runs the tests learns what was left out")]
pub fn answers(program: &str, text: &str) -> Option<Vec<String>> {
    match run(program, text) {
        Ok(output) => Some(output.lines().map(str::to_owned).collect()),
        Err(why) => {
            let must = std::env::var_os("CI").is_some();
            assert!(!must, "CI has Java and Maven: {why}");
            println!("skipped, as Kafka's classes cannot be run: {why}");
            None
        }
    }
}

fn run(program: &str, text: &str) -> Result<String, String> {
    static JARS: OnceLock<Result<String, String>> = OnceLock::new();
    let jars = JARS.get_or_init(fetch).clone()?;
    let name = format!("{program}-{}.txt", std::process::id());
    let file = std::env::temp_dir().join(name);
    std::fs::write(&file, text).map_err(|error| error.to_string())?;
    let mut java = Command::new("java");
    java.args(["-cp", &jars]).arg(folder().join(format!("{program}.java"))).arg(&file);
    let outcome = java.output();
    let _ = std::fs::remove_file(&file);
    let outcome = outcome.map_err(|error| format!("java does not run: {error}"))?;
    assert!(outcome.status.success(), "{}", String::from_utf8_lossy(&outcome.stderr));
    Ok(String::from_utf8_lossy(&outcome.stdout).into_owned())
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/java")
}

/// A folder outside of the repository for what Maven fetches.
fn cache() -> PathBuf {
    let home = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home =
        home.or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(".cache")));
    home.unwrap_or_else(std::env::temp_dir).join("kafka-sim-site")
}

/// The jars of Kafka's group coordinator and clients; why there are none.
fn fetch() -> Result<String, String> {
    let jars = cache().join(format!("kafka-group-coordinator-{KAFKA}"));
    if !jars.is_dir() {
        let outcome = Command::new("mvn")
            .args(["-q", "-B", "dependency:copy-dependencies", "-f"])
            .arg(folder().join("pom.xml"))
            .arg(format!("-DoutputDirectory={}", jars.display()))
            .arg(format!("-Dkafka.version={KAFKA}"))
            .output()
            .map_err(|error| format!("mvn does not run: {error}"))?;
        if !outcome.status.success() {
            let _ = std::fs::remove_dir_all(&jars);
            return Err(format!("mvn fails: {}", String::from_utf8_lossy(&outcome.stdout)));
        }
    }
    Ok(format!("{}/*", jars.display()))
}
