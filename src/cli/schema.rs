//! `schema`: the JSON Schema of scenario files, for editors.

use crate::project::Error;
use crate::scenario::schema::scenario_schema;

use super::{Outcome, print_result};

/// Prints the schema.
///
/// # Errors
/// When it cannot be printed.
pub fn run() -> Result<Outcome, Error> {
    print_result(&scenario_schema())?;
    Ok(Outcome::Fine)
}
