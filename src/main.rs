//! The program: hands its arguments to the library and turns the outcome into an exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    kafka_sim_site::cli::run(std::env::args_os()).into()
}
