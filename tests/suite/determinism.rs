//! Same input, same bytes: from another folder, with one thread or several.

use crate::project::Project;

#[test]
fn the_same_site_gives_the_same_bytes_everywhere() {
    let first = Project::shipped();
    let second = Project::shipped();
    for (project, jobs) in [(&first, "1"), (&second, "2")] {
        let outcome = project.run(&["build", "--jobs", jobs]);
        assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    }
    let (one, two) = (first.tree("book"), second.tree("book"));
    assert_eq!(
        one.keys().collect::<Vec<_>>(),
        two.keys().collect::<Vec<_>>(),
        "the same files are there"
    );
    for (path, bytes) in &one {
        assert!(two[path] == *bytes, "{path} differs");
    }
    let outcome = first.run(&["build", "-d", "elsewhere", "--jobs", "2"]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    assert!(first.tree("elsewhere") == one, "another target makes no difference");
}
