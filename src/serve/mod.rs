//! The preview server: the site in memory under its own sub-path, reloaded when a file changes.
//! The only module that uses the network. It must not know how a page looks or where a site comes
//! from: it is given a function that builds one.

pub mod http;
pub mod preview;
pub mod watch;

use std::io;
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::mpsc;

use tokio::sync::watch as latest;

use crate::project::Error;

pub use preview::{Built, Site};

use preview::Preview;
use watch::Watcher;

/// Where to listen and what to watch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The name or address to listen on: `localhost`.
    pub hostname: String,
    /// The port; 0 takes any that is free.
    pub port: u16,
    /// The site's folder.
    pub folder: PathBuf,
}

/// Builds the site, serves it, and builds it again whenever a file changes, until Ctrl-C.
///
/// `ready` is told the home page's address when the server listens and the first build is done.
///
/// # Errors
/// When the system refuses to listen or to watch.
pub fn run<B>(settings: &Settings, mut build: B, ready: impl FnOnce(&str)) -> Result<(), Error>
where
    B: FnMut() -> Built + Send + 'static,
{
    // Before the first build, so that a port in use is told at once.
    let listener = listen(settings)?;
    let port = listener.local_addr().map_err(io_error("listen on", settings))?.port();
    let first = build();
    let folders = first.folders.clone();
    let home = format!("http://{}:{port}{}", settings.hostname, first.base_path);
    let (changes, news) = mpsc::channel();
    let mut watcher = Watcher::new(&settings.folder, changes)?;
    watcher.follow(&folders)?;
    let (publish, preview) = latest::channel(Preview::first(first));
    rebuild_on_change(build, watcher, news, publish);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(io_error("listen on", settings))?;
    let served = runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        ready(&home);
        tokio::select! {
            served = axum::serve(listener, http::router(preview)) => served,
            stopped = tokio::signal::ctrl_c() => stopped,
        }
    });
    // Open pages hold their connections for news; nobody waits for them.
    runtime.shutdown_background();
    served.map_err(io_error("serve on", settings))
}

fn listen(settings: &Settings) -> Result<TcpListener, Error> {
    let listener = TcpListener::bind((settings.hostname.as_str(), settings.port))
        .map_err(|cause| match cause.kind() {
            io::ErrorKind::AddrInUse => {
                let text = "the port is in use; choose another one with `--port`";
                io::Error::new(cause.kind(), text)
            }
            _ => cause,
        })
        .map_err(io_error("listen on", settings))?;
    listener.set_nonblocking(true).map_err(io_error("listen on", settings))?;
    Ok(listener)
}

fn io_error(operation: &'static str, settings: &Settings) -> impl FnOnce(io::Error) -> Error {
    let path = format!("{}:{}", settings.hostname, settings.port).into();
    move |cause| Error::Io { operation, path, cause }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the server goes on answering while the site is built"
)]
fn rebuild_on_change<B>(
    mut build: B,
    mut watcher: Watcher,
    news: mpsc::Receiver<()>,
    publish: latest::Sender<Preview>,
) where
    B: FnMut() -> Built + Send + 'static,
{
    std::thread::spawn(move || {
        while news.recv().is_ok() {
            // What came in meanwhile is part of the same build.
            while news.try_recv().is_ok() {}
            let result = build();
            // A folder that cannot be watched is worth no more than a missed reload.
            let _ = watcher.follow(&result.folders);
            publish.send_modify(|preview| preview.replace(result));
        }
    });
}
