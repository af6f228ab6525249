//! The preview: what it answers, and that it follows the files.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::project::Project;

/// The preview of a folder, on a port of its own, until it is dropped.
struct Preview {
    child: Child,
    address: String,
}

impl Preview {
    fn of(project: &Project) -> Preview {
        let mut child = Command::new(env!("CARGO_BIN_EXE_kafka-sim-site"))
            .args(["serve", "--hostname", "127.0.0.1", "--port", "0"])
            .current_dir(project.path(""))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program runs");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("its result is piped");
        BufReader::new(stdout).read_line(&mut line).expect("it says where it listens");
        let rest = line.split_once("http://").expect("an address").1;
        let (address, path) = rest.split_once('/').expect("a path");
        assert!(path.starts_with("kafka-simulator/ "), "{line}");
        Preview { child, address: address.to_owned() }
    }

    /// Sends a request as it is and reads until the server closes.
    fn raw(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).expect("the server listens");
        stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a time-out can be set");
        stream.write_all(request.as_bytes()).expect("the request is sent");
        let mut answer = Vec::new();
        // A server that refuses may close before all is read.
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    fn ask(&self, method: &str, path: &str) -> String {
        self.raw(&format!("{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"))
    }

    fn get(&self, path: &str) -> String {
        self.ask("GET", path)
    }

    /// The news, line by line.
    fn news(&self) -> impl Iterator<Item = String> + use<> {
        let mut stream = TcpStream::connect(&self.address).expect("the server listens");
        stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a time-out can be set");
        stream
            .write_all(b"GET /__preview/events HTTP/1.1\r\nHost: x\r\n\r\n")
            .expect("the request is sent");
        BufReader::new(stream)
            .lines()
            .map_while(Result::ok)
            .filter_map(|line| line.strip_prefix("data: ").map(ToOwned::to_owned))
    }
}

impl Drop for Preview {
    fn drop(&mut self) {
        self.child.kill().expect("it is still there");
        self.child.wait().expect("it ends");
    }
}

fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or("none")
}

#[test]
fn pages_are_served_under_the_sites_own_path_with_the_script_that_waits_for_news() {
    let project = Project::small();
    let preview = Preview::of(&project);
    let home = preview.get("/kafka-simulator/");
    assert_eq!(status(&home), "200", "{home}");
    assert!(home.contains("content-security-policy: default-src 'self'"), "{home}");
    assert!(home.contains("<script src=\"/__preview/reload.js?version=1\" defer></script></head>"));
    for (path, location) in [
        ("/", "/kafka-simulator/"),
        ("/kafka-simulator", "/kafka-simulator/"),
        ("/kafka-simulator/scenarios?level=beginner", "/kafka-simulator/scenarios/?level=beginner"),
    ] {
        let answer = preview.get(path);
        assert_eq!(status(&answer), "307", "{path}");
        assert!(answer.contains(&format!("location: {location}\r\n")), "{answer}");
    }
    let built = project.build();
    let page = built.read("book/index.html");
    assert!(!page.contains("__preview"), "the published site knows nothing of the preview");
}

#[test]
fn nothing_but_the_site_is_reachable() {
    let project = Project::small();
    let preview = Preview::of(&project);
    for path in [
        "/kafka-simulator/../book.toml",
        "/kafka-simulator/%2e%2e/book.toml",
        "/kafka-simulator/..%2fbook.toml",
        "/kafka-simulator//etc/passwd",
        "/book.toml",
        "/etc/passwd",
        "//evil.example/",
    ] {
        assert_eq!(status(&preview.get(path)), "404", "{path}");
    }
    assert_eq!(status(&preview.get("/kafka-simulator/%ff")), "400");
    for method in ["POST", "DELETE", "PUT", "BREW"] {
        assert_eq!(status(&preview.ask(method, "/kafka-simulator/")), "405", "{method}");
    }
    let head = preview.ask("HEAD", "/kafka-simulator/");
    assert!(status(&head) == "200" && head.ends_with("\r\n\r\n"), "{head}");
    let many = "X: y\r\n".repeat(5000);
    let huge = preview.raw(&format!("GET / HTTP/1.1\r\nHost: x\r\n{many}\r\n"));
    assert_eq!(status(&huge), "431");
    assert_eq!(status(&preview.raw("nonsense\r\n\r\n")), "400");
    assert_eq!(status(&preview.get("/kafka-simulator/")), "200", "and it goes on");
}

#[test]
fn a_change_is_news_and_with_errors_the_last_good_site_stays() {
    let project = Project::small();
    let preview = Preview::of(&project);
    let mut news = preview.news();
    assert_eq!(news.next().as_deref(), Some(r#"{"version":1,"problems":""}"#));

    project.write("content/index.md", b"# Another home\n\nIts lead.\n");
    assert_eq!(news.next().as_deref(), Some(r#"{"version":2,"problems":""}"#));
    assert!(preview.get("/kafka-simulator/").contains("Another home"));

    project.write("book.toml", b"[book]\ntitel = \"Small\"\n");
    let told = news.next().expect("there is news");
    assert!(told.contains("book.toml:2:1") && told.contains("titel"), "{told}");
    assert!(preview.get("/kafka-simulator/").contains("Another home"));

    project.write("book.toml", b"[book]\ntitle = \"Mended\"\n");
    assert_eq!(news.next().as_deref(), Some(r#"{"version":4,"problems":""}"#));
    assert!(preview.get("/kafka-simulator/").contains("Mended"));
}

#[test]
fn a_first_build_with_errors_is_a_page_that_shows_them() {
    let project = Project::small().file("book.toml", "[book]\ntitel = \"<b>\"\n");
    let preview = Preview::of(&project);
    let page = preview.get("/kafka-simulator/");
    assert_eq!(status(&page), "500");
    assert!(page.contains("unknown key `titel`") && page.contains("&lt;b&gt;"), "{page}");
}

#[test]
fn a_folder_that_is_gone_is_told_and_the_last_site_stays() {
    let project = Project::small();
    let preview = Preview::of(&project);
    let mut news = preview.news();
    assert_eq!(news.next().as_deref(), Some(r#"{"version":1,"problems":""}"#));
    std::fs::remove_dir_all(project.path("")).expect("the folder can go");
    assert!(news.any(|told| told.contains("cannot read") || told.contains("holds no site")));
    assert_eq!(status(&preview.get("/kafka-simulator/")), "200");
}

#[test]
fn a_port_in_use_is_said_in_one_line() {
    let project = Project::small();
    let preview = Preview::of(&project);
    let (_, port) = preview.address.rsplit_once(':').expect("a port");
    let outcome = project.run(&["serve", "--hostname", "127.0.0.1", "--port", port]);
    let expected = format!(
        "error: cannot listen on 127.0.0.1:{port}: the port is in use; choose another one with \
         `--port`\n"
    );
    assert_eq!((outcome.status, outcome.stderr), (2, expected));
}
