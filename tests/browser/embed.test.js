// What the site gives to other people's pages.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { folder, open, serve, skip } from "./site.js";

const site = skip ? null : await serve();
const EMBED = "embed/write-path/";

/** Somebody's page on another origin with a frame in the middle, and the frame. */
async function blog(frame, options) {
  const tall = "<p>A long post.</p>".repeat(60);
  const text = `<!DOCTYPE html><html lang="en"><title>Blog</title>${tall}${frame}${tall}</html>`;
  const other = await serve({ "/post.html": text });
  assert.notEqual(other.origin, site.origin);
  const page = await open(options);
  await page.goto(`${other.origin}/post.html`);
  const element = page.locator("iframe");
  await element.scrollIntoViewIfNeeded();
  const player = page.frameLocator("iframe");
  await player.locator(".player").waitFor();
  return { page, player };
}

const frame = (path, sandbox = 'sandbox="allow-scripts"') =>
  `<iframe src="${site?.url(path)}" title="Player" width="640" height="840" ${sandbox}></iframe>`;

test("in a sandbox on another origin it plays and leaves the page alone", { skip }, async () => {
  const { page, player } = await blog(frame(`${EMBED}?autoplay#step-2`));
  const top = await page.evaluate(() => scrollY);
  page.requests.length = 0;
  await player.locator(".msg").first().waitFor();
  await player.locator(".caps .cap.now .no", { hasText: "3" }).waitFor();
  assert.equal(await page.evaluate(() => scrollY), top, "the page was not scrolled");
  assert.equal(await page.evaluate(() => document.activeElement.tagName), "BODY");
  assert.deepEqual(page.requests, [], "nothing was asked for while playing");
  assert.deepEqual(page.errors, []);
  const all = page.frames().at(-1);
  assert.equal(await all.evaluate(() => globalThis.origin), "null", "the origin is opaque");
});

test("by keyboard in a frame the page around it does not scroll", { skip }, async () => {
  const { page, player } = await blog(frame(EMBED));
  const top = await page.evaluate(() => scrollY);
  await player.locator("[data-go=next]").focus();
  for (const key of ["Space", "End", "Home", "ArrowRight", "ArrowRight"]) {
    await page.keyboard.press(key);
  }
  await player.locator(".caps .cap.now .no", { hasText: "3" }).waitFor();
  assert.equal(await page.evaluate(() => scrollY), top);
});

test("without script the frame shows the step that its address names", { skip }, async () => {
  const { page, player } = await blog(frame(`${EMBED}#step-3`, "sandbox"));
  assert.ok(await player.locator("#step-3 .cap").isVisible());
  assert.ok(await player.locator("#step-3 .stage").isVisible());
  assert.ok(!(await player.locator("#step-1 .cap").isVisible()));
  assert.ok(!(await player.getByRole("button", { name: "Play" }).isVisible()));
  assert.deepEqual(page.requests.filter((url) => !/127\.0\.0\.1/.test(url)), []);
});

test("the snippet of the walkthrough is a frame and a link that both work", { skip }, async () => {
  const page = await open();
  await page.goto(site.url("scenarios/write-path/"));
  const snippet = await page.locator("#embed pre").first().textContent();
  // The shipped site may name its own host; here it stands on another one.
  const local = snippet.replaceAll(/(src|href)="(?:https?:\/\/[^/"]+)?\//g, `$1="${site.origin}/`);
  const { page: post, player } = await blog(local, { viewport: { width: 700, height: 900 } });
  assert.match(snippet, /title="[^"]+"/);
  assert.match(snippet, /loading="lazy"/);
  await player.locator("[data-go=next]").click();
  await player.locator(".caps .cap.now .no", { hasText: "2" }).waitFor();
  const link = post.locator("p > a");
  assert.equal((await post.request.get(await link.getAttribute("href"))).status(), 200);
});

test("the snippet's frame fits, on phones for picture and buttons", { skip }, async () => {
  const page = await open({ viewport: { width: 640, height: 900 } });
  await page.goto(site.url("scenarios/write-path/"));
  const snippet = await page.locator("#embed pre").first().textContent();
  const height = Number(/height="(\d+)"/.exec(snippet)[1]);
  await page.goto(site.url(EMBED));
  await page.setViewportSize({ width: 640, height });
  const whole = await page.evaluate(() => document.documentElement.scrollHeight);
  assert.ok(whole <= height, `${whole} px in ${height}`);
  assert.ok(height - whole < 60, `${height} px for ${whole}`);
  await page.setViewportSize({ width: 360, height });
  const box = await page.locator(".ctl").boundingBox();
  assert.ok(box.y + box.height <= height, "the text scrolls, the buttons are seen");
});

test("the query sets theme and speed, and wrong values are named", { skip }, async () => {
  const page = await open({ colorScheme: "light" });
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await page.goto(site.url(`${EMBED}?theme=dark&speed=2`));
  const dark = await ground();
  assert.equal(await page.locator(".speed").inputValue(), "2");
  assert.equal(await page.locator(".p-note").count(), 0);
  await page.goto(site.url(`${EMBED}?theme=auto`));
  const light = await ground();
  assert.notEqual(dark, light);
  await page.emulateMedia({ colorScheme: "dark" });
  assert.equal(await ground(), dark, "auto follows the reader");

  await page.goto(site.url(`${EMBED}?theme=purple&speed=9&variant=none&controls=foo&utm_source=x`));
  const note = await page.locator(".p-note").textContent();
  for (const wrong of ["theme=purple", "speed=9", "variant=none", "controls=foo"]) {
    assert.ok(note.includes(wrong));
  }
  assert.ok(!note.includes("utm_source"), "what is not ours is left alone");
  await page.goto(site.url(`${EMBED}?theme=<img src=x onerror=alert(1)>`));
  assert.equal(await page.locator(".p-note img").count(), 0);
});

test("a step in the query is the step of the address", { skip }, async () => {
  const page = await open();
  await page.goto(site.url(`${EMBED}?step=2`));
  await page.locator(".caps .cap.now .no", { hasText: "2" }).waitFor();
  await page.goto(site.url(`${EMBED}?step=2#step-3`));
  await page.locator(".caps .cap.now .no", { hasText: "3" }).waitFor();
  await page.goto(site.url(`${EMBED}?step=99`));
  assert.match(await page.locator(".p-note").textContent(), /step-99 is not a step here/);
});

test("routers lead from an id to the page and keep the query", { skip }, async () => {
  const page = await open();
  for (const kind of ["embed", "play"]) {
    await page.goto(site.url(`${kind}/?scenario=00.1.2&step=4&theme=dark`));
    await page.waitForURL(site.url(`${kind}/write-path/?theme=dark#step-4`));
    await page.goto(site.url(`${kind}/?scenario=9.9.9`));
    assert.match(await page.getByRole("status").textContent(), /9\.9\.9/);
    assert.ok(await page.getByRole("link", { name: /./ }).count());
  }
  const plain = await open({ javaScriptEnabled: false });
  await plain.goto(site.url("embed/?scenario=00.1.2"));
  await plain.locator("main a[data-scenario]").first().click();
  await plain.waitForURL(/\/embed\/[a-z0-9-]+\/$/);
});

test("the player's script is small", { skip }, async () => {
  const { gzipSync } = await import("node:zlib");
  const script = readFileSync(join(folder, "assets/player.js"));
  assert.ok(gzipSync(script).length <= 12 * 1024);
});
