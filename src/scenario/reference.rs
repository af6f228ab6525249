//! Holds `docs/scenario-format.md` against the tables that check files: the page is what they give.

use std::fmt::Write as _;

use super::keys::{CHAPTER, SCENARIO};
use super::observable;
use super::shape::{Need, Object, Shape};

const HEAD: &str = "# The scenario format

Every key, action and observable of a scenario file, as the program checks them. A step's `when` is
`PATH OP VALUE`, joined by `and`; `{{ path }}` in a text prints an observable, `expect` states one.
In a path `<...>` stands for a name. What the simulator does not run yet is refused with KS0011.
";

/// The page.
fn page() -> String {
    let mut page = HEAD.to_owned();
    let mut told: Vec<&str> = Vec::new();
    let mut to_tell = vec![&CHAPTER, &SCENARIO];
    while !to_tell.is_empty() {
        let object = to_tell.remove(0);
        if told.contains(&object.name) || object.keys.is_empty() {
            continue;
        }
        told.push(object.name);
        keys(object, &mut page);
        for key in object.keys {
            inner(&key.shape, &mut to_tell);
        }
    }
    page += "\n## Observables\n\n| path | value | meaning |\n| --- | --- | --- |\n";
    for row in observable::ROWS {
        let _ = writeln!(page, "| `{}` | {} | {} |", row.pattern, row.kind.describe(), row.doc);
    }
    page
}

fn keys(object: &Object, page: &mut String) {
    let _ =
        write!(page, "\n## {}\n\n| key | value | meaning |\n| --- | --- | --- |\n", object.name);
    for key in object.keys {
        let need = if key.need == Need::Required { " (required)" } else { "" };
        let value = key.shape.describe();
        let _ = writeln!(page, "| `{}`{need} | {value} | {} |", key.name, key.doc);
    }
}

/// The mappings in a shape.
fn inner(shape: &Shape, found: &mut Vec<&'static Object>) {
    match shape {
        Shape::Object(object) => found.push(object),
        Shape::List(item) | Shape::Map(_, item) => inner(item, found),
        Shape::Choice(shapes) => shapes.iter().for_each(|shape| inner(shape, found)),
        _ => {}
    }
}

#[test]
fn the_reference_page_says_what_the_tables_say() {
    let written = include_str!("../../docs/scenario-format.md");
    assert!(written == page(), "docs/scenario-format.md should be:\n{}", page());
}
