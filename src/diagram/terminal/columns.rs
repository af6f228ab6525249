//! The two ways in which Kafka's tools line columns up. Knows no Kafka.

/// A column: its head, and how wide it is at least; none for one that ends where its text ends.
pub(super) type Column = (&'static str, Option<usize>);

/// Columns with a space between them, as `kafka-consumer-groups` prints: as wide as said, or as
/// their longest text.
pub(super) fn spaced(columns: &[Column], rows: &[Vec<String>]) -> String {
    let widths: Vec<usize> = columns
        .iter()
        .enumerate()
        .map(|(at, (_, least))| {
            let longest = rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0);
            least.map_or(0, |least| least.max(longest))
        })
        .collect();
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let cells = cells.zip(&widths).map(|(cell, &width)| format!("{cell:<width$}"));
        cells.collect::<Vec<_>>().join(" ")
    };
    let head = line(&mut columns.iter().map(|(head, _)| *head));
    let rows = rows.iter().map(|row| line(&mut row.iter().map(String::as_str)));
    std::iter::once(head).chain(rows).collect::<Vec<_>>().join("\n")
}

/// Columns as wide as their longest text, each ended by a tab, as `kafka-transactions` prints.
pub(super) fn tabbed(heads: &[&str], rows: &[Vec<String>]) -> String {
    let width = |at: usize| {
        let longest = rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0);
        longest.max(heads[at].len())
    };
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let cells =
            cells.enumerate().map(|(at, cell)| format!("{cell:<width$}\t", width = width(at)));
        cells.collect::<Vec<_>>().concat()
    };
    let head = line(&mut heads.iter().copied());
    let rows = rows.iter().map(|row| line(&mut row.iter().map(String::as_str)));
    std::iter::once(head).chain(rows).collect::<Vec<_>>().join("\n")
}
