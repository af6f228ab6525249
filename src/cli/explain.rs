//! `explain`: what a problem code means, from the one table of codes.

use std::fmt::Write as _;

use clap::Args;

use crate::diag::Code;
use crate::project::Error;

use super::{Outcome, print_result};

/// The arguments of `explain`.
#[derive(Clone, Debug, Args)]
pub struct Arguments {
    /// A problem code, such as KS0101; all codes with their titles if left out.
    #[arg(value_name = "CODE", value_parser = code)]
    code: Option<Code>,
}

/// Prints one code's row, or all titles.
///
/// # Errors
/// When it cannot be printed.
pub fn run(arguments: &Arguments) -> Result<Outcome, Error> {
    print_result(&arguments.code.map_or_else(titles, row))?;
    Ok(Outcome::Fine)
}

fn code(text: &str) -> Result<Code, String> {
    Code::parse(text)
        .ok_or_else(|| "`explain` without a code lists those that there are".to_owned())
}

fn titles() -> String {
    Code::ALL.iter().fold(String::new(), |mut text, code| {
        let _ = writeln!(text, "{code}  {}", code.title());
        text
    })
}

fn row(code: Code) -> String {
    let (title, explanation, example) = (code.title(), code.explanation(), code.example());
    format!("{code}: {title}\n\n{explanation}\n\nFor example:\n\n    {example}\n")
}
