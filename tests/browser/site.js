// The built site on a server of its own, and a browser to look at it. SITE names a folder that is
// built already, KAFKA_SIM_SITE a program to build it with; otherwise cargo does both.

import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { after } from "node:test";

import { chromium } from "playwright-core";

/** The site's path on its host. */
export const BASE = "/kafka-simulator/";

const REPOSITORY = fileURLToPath(new URL("../..", import.meta.url));
const BROWSER = process.env.CHROMIUM ?? "/usr/bin/chromium";
const TYPES = {
  ".css": "text/css",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".json": "application/json",
  ".svg": "image/svg+xml",
};

/** Why browser tests cannot run, or false; in CI that is a failure of its own. */
export const skip = existsSync(BROWSER) ? false : `no browser at ${BROWSER}`;
if (skip && process.env.CI) throw new Error(`${skip}; in CI these tests must run`);
if (skip) console.log(`skipped: ${skip}`);

/** The folder of the built site. */
export const folder = skip ? null : build();

function build() {
  if (process.env.SITE) return process.env.SITE;
  const target = mkdtempSync(join(tmpdir(), "kafka-sim-site-"));
  after(() => rmSync(target, { recursive: true, force: true }));
  const [program, ...first] = process.env.KAFKA_SIM_SITE
    ? [process.env.KAFKA_SIM_SITE]
    : ["cargo", "run", "--quiet", "--release", "--"];
  execFileSync(program, [...first, "build", "--dest-dir", target], {
    cwd: REPOSITORY,
    stdio: ["ignore", "ignore", "inherit"],
  });
  return target;
}

/** Every HTML file of the site, as a path under its root. */
export function files(below = folder ?? "") {
  if (!below) return [];
  return readdirSync(below, { withFileTypes: true })
    .flatMap((entry) => {
      const path = join(below, entry.name);
      return entry.isDirectory() ? files(path) : entry.name.endsWith(".html") ? [path] : [];
    })
    .map((path) => (path.startsWith("/") ? relative(folder, path) : path))
    .sort();
}

/** Serves the site under its sub-path, and `extra` pages by their path, under a strict policy. */
export async function serve(extra = {}) {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, "http://host");
    const send = (status, type, body) => {
      const policy = type.startsWith("text/html") && pathname in extra ? "" : "default-src 'self'";
      response.writeHead(status, {
        "Content-Type": type,
        ...(policy && { "Content-Security-Policy": policy }),
      });
      response.end(body);
    };
    if (pathname === "/favicon.ico") return send(204, "text/plain", "");
    if (pathname in extra) return send(200, TYPES[".html"], extra[pathname]);
    if (!pathname.startsWith(BASE)) return send(404, "text/plain", "");
    let file = join(folder, decodeURIComponent(pathname.slice(BASE.length)));
    if (pathname.endsWith("/")) file = join(file, "index.html");
    if (!existsSync(file) || !statSync(file).isFile()) return send(404, "text/plain", "");
    send(200, TYPES[extname(file)] ?? "application/octet-stream", readFileSync(file));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  server.unref();
  const origin = `http://127.0.0.1:${server.address().port}`;
  return { origin, url: (path) => origin + BASE + path };
}

const browser = skip
  ? null
  : await chromium.launch({ executablePath: BROWSER, args: ["--no-sandbox"] });
after(() => browser?.close());

/** A page in a context of its own, which remembers what went wrong in it. */
export async function open(options = {}) {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    ...options,
  });
  const page = await context.newPage();
  page.errors = [];
  page.requests = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) page.errors.push(message.text());
  });
  page.on("pageerror", (error) => page.errors.push(String(error)));
  page.on("request", (request) => page.requests.push(request.url()));
  return page;
}
