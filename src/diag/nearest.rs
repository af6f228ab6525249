//! "Did you mean": the nearest known name to one that is not known.

/// The candidate nearest to `name`, if one is near enough to be a slip of the pen. Of equally near
/// ones the first; letter case does not count.
#[must_use]
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Long garbage cannot be near to a name, and comparing costs the product of the lengths.
    if name.len() > 200 {
        return None;
    }
    let name = name.to_lowercase();
    let mut best: Option<(f64, &str)> = None;
    for candidate in candidates {
        let similarity = strsim::jaro_winkler(&name, &candidate.to_lowercase());
        let edits = strsim::damerau_levenshtein(&name, &candidate.to_lowercase());
        let near = edits <= 2 && edits < name.chars().count().max(2) || similarity > 0.88;
        if near && best.is_none_or(|(score, _)| similarity > score) {
            best = Some((similarity, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn slips_are_found_and_strangers_are_not() {
        let names = ["title", "headline", "min.insync.replicas", "linger.ms"];
        assert_eq!(nearest("titel", names), Some("title"));
        assert_eq!(nearest("Min.Insync.Replica", names), Some("min.insync.replicas"));
        assert_eq!(nearest("lnger.ms", names), Some("linger.ms"));
        assert_eq!(nearest("zookeeper", names), None);
        assert_eq!(nearest("", names), None);
        assert_eq!(nearest(&"title".repeat(100), names), None);
    }
}
