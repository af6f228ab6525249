//! Answers requests: files of the preview's site, the news that there is another one, and what is
//! wrong with the files. Knows of a page only where its head ends.

use std::convert::Infallible;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use futures_util::stream::{self, Stream};
use percent_encoding::percent_decode_str;
use pulldown_cmark_escape::escape_html;
use tokio::sync::watch::Receiver;

use super::preview::{Found, Preview, Site};

/// Everything of the preview's own stands here, outside of every site.
const OWN: &str = "/__preview";

/// The server over the newest preview.
pub fn router(preview: Receiver<Preview>) -> Router {
    let script = || async { own("text/javascript", include_str!("reload.js")) };
    let style = || async { own("text/css", include_str!("reload.css")) };
    let author = || async { own("text/javascript", include_str!("author.js")) };
    let author_style = || async { own("text/css", include_str!("author.css")) };
    Router::new()
        .route(&format!("{OWN}/events"), get(events))
        .route(&format!("{OWN}/reload.js"), get(script))
        .route(&format!("{OWN}/reload.css"), get(style))
        .route(&format!("{OWN}/author.js"), get(author))
        .route(&format!("{OWN}/author.css"), get(author_style))
        .fallback(get(page))
        .with_state(preview)
}

/// The state now, and each one that follows.
async fn events(
    State(mut preview): State<Receiver<Preview>>,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    preview.mark_changed();
    let news = stream::unfold(preview, |mut preview| async {
        preview.changed().await.ok()?;
        let event = {
            let now = preview.borrow_and_update();
            let data = serde_json::json!({ "version": now.version, "problems": &*now.problems });
            Event::default().data(data.to_string())
        };
        Some((Ok(event), preview))
    });
    Sse::new(news).keep_alive(KeepAlive::default())
}

async fn page(State(preview): State<Receiver<Preview>>, uri: Uri) -> Response {
    let preview = preview.borrow().clone();
    let Some(site) = &preview.site else { return problem_page(&preview) };
    let Ok(path) = percent_decode_str(uri.path()).decode_utf8() else {
        return text(StatusCode::BAD_REQUEST, "The address is not UTF-8.\n");
    };
    match site.find(&path) {
        Found::File(path, bytes) => file(StatusCode::OK, path, bytes, &preview),
        Found::Folder => redirect(&with_query(&format!("{}/", uri.path()), &uri)),
        Found::Outside if matches!(&*path, "/" | "") || site.base_path() == format!("{path}/") => {
            redirect(&with_query(site.base_path(), &uri))
        }
        Found::Outside => {
            let told = format!("The site stands under {}\n", site.base_path());
            text(StatusCode::NOT_FOUND, told)
        }
        Found::Nothing => not_found(site, &preview),
    }
}

fn not_found(site: &Site, preview: &Preview) -> Response {
    let name = "404.html";
    match site.file(name) {
        Some(bytes) => file(StatusCode::NOT_FOUND, name, bytes, preview),
        None => text(StatusCode::NOT_FOUND, "There is no such page.\n"),
    }
}

fn with_query(path: &str, uri: &Uri) -> String {
    uri.query().map_or_else(|| path.to_owned(), |query| format!("{path}?{query}"))
}

fn redirect(target: &str) -> Response {
    match HeaderValue::from_str(target) {
        Ok(target) => {
            (StatusCode::TEMPORARY_REDIRECT, [(header::LOCATION, target)]).into_response()
        }
        Err(_) => text(StatusCode::NOT_FOUND, "There is no such page.\n"),
    }
}

fn file(status: StatusCode, path: &str, bytes: &Bytes, preview: &Preview) -> Response {
    let kind = mime_guess::from_path(path).first_or_octet_stream();
    let is_page = kind == mime_guess::mime::TEXT_HTML;
    let kind = match kind.type_() {
        mime_guess::mime::TEXT => format!("{kind}; charset=utf-8"),
        _ => kind.to_string(),
    };
    let body = if is_page { with_reload(bytes, preview) } else { bytes.clone() };
    answer(status, &kind, body)
}

/// A page with the script that waits for news and the one that shows authors the whole run.
/// Nothing else about it changes.
fn with_reload(bytes: &Bytes, preview: &Preview) -> Bytes {
    let head = b"</head>";
    let at = bytes.windows(head.len()).position(|part| part == head).unwrap_or(0);
    let tag = format!(
        "<link rel=\"stylesheet\" href=\"{OWN}/author.css\">\
         <script src=\"{OWN}/author.js\" defer></script>\
         <script src=\"{OWN}/reload.js?version={}\" defer></script>",
        preview.version
    );
    [&bytes[..at], tag.as_bytes(), &bytes[at..]].concat().into()
}

/// What is shown while there has been no good site yet.
fn problem_page(preview: &Preview) -> Response {
    let mut problems = String::new();
    escape_html(&mut problems, &preview.problems).expect("a String takes every text");
    let page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <title>The site has errors</title>\
         <link rel=\"stylesheet\" href=\"{OWN}/reload.css\"></head>\
         <body class=\"preview-problems\"><h1>The site has errors</h1><pre>{problems}</pre></body>\
         </html>\n"
    );
    let page = with_reload(&page.into(), preview);
    answer(StatusCode::INTERNAL_SERVER_ERROR, "text/html; charset=utf-8", page)
}

fn own(kind: &str, content: &'static str) -> Response {
    answer(StatusCode::OK, &format!("{kind}; charset=utf-8"), content)
}

fn text(status: StatusCode, content: impl Into<Body>) -> Response {
    answer(status, "text/plain; charset=utf-8", content)
}

/// An answer as a strict host would give it, so that a page that breaks there breaks here.
fn answer(status: StatusCode, kind: &str, body: impl Into<Body>) -> Response {
    let kind = HeaderValue::from_str(kind).expect("media types are ASCII");
    let fixed = |name: HeaderName, value| (name, HeaderValue::from_static(value));
    let headers = HeaderMap::from_iter([
        (header::CONTENT_TYPE, kind),
        fixed(header::CACHE_CONTROL, "no-store"),
        fixed(header::CONTENT_SECURITY_POLICY, "default-src 'self'"),
        fixed(header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ]);
    (status, headers, body.into()).into_response()
}
