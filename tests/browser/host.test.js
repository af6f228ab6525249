// A page of somebody else and the player in its frame: what they say to each other.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

import { folder, open, serve, skip } from "./site.js";

const site = skip ? null : await serve();
const EMBED = "embed/write-path/";

/** A page on another origin with `body`, which keeps the messages that it gets. */
async function host(body, options) {
  const keep = "<script>heard=[];onmessage=({data})=>heard.push(data)</script>";
  const text = `<!DOCTYPE html><html lang="en"><title>Post</title>${keep}${body}</html>`;
  const other = await serve({ "/post.html": text });
  const page = await open(options);
  await page.goto(`${other.origin}/post.html`);
  return page;
}

const frame = (query = "") =>
  `<iframe src="${site?.url(EMBED)}${query}" title="Player" width="640" height="300"
    sandbox="allow-scripts"></iframe>`;

const heard = (page, event) =>
  page.waitForFunction(
    (event) => globalThis.heard.findLast((message) => message.event === event),
    event,
  );

const say = (page, message) =>
  page.evaluate(
    (message) => document.querySelector("iframe").contentWindow.postMessage(message, "*"),
    message,
  );

const step = (page, number) =>
  page.frameLocator("iframe").locator(".caps .cap.now .no", { hasText: number }).waitFor();

test("the page is told of steps and steers", { skip }, async () => {
  const page = await host(frame());
  const ready = await (await heard(page, "ready")).jsonValue();
  assert.equal(ready.kafkaSim, 1);
  assert.deepEqual([ready.step, ready.of, ready.timeMs, ready.playing], [1, 6, 0, false]);

  await say(page, { kafkaSim: 1, command: "goto", step: 3 });
  await step(page, "3");
  const told = await (await heard(page, "step")).jsonValue();
  assert.equal(told.step, 3);
  assert.match(told.title, /Leader append/);

  await say(page, { kafkaSim: 1, command: "variant", variant: "acks-1" });
  await page.waitForFunction(() => globalThis.heard.at(-1).variant === "acks-1");
  await step(page, "3");
  await say(page, { kafkaSim: 1, command: "play" });
  await page.waitForFunction(() => globalThis.heard.at(-1).playing);
  await say(page, { kafkaSim: 1, command: "pause" });
  await page.waitForFunction(() => globalThis.heard.at(-1).playing === false);
  await say(page, { kafkaSim: 1, command: "theme", theme: "dark" });
  const player = page.frames().at(-1);
  await player.waitForFunction(() => document.documentElement.dataset.theme === "dark");
});

test("what is not understood and who is not the page changes nothing", { skip }, async () => {
  const page = await host(frame());
  await heard(page, "ready");
  for (const message of [
    "goto",
    null,
    { command: "goto", step: 3 },
    { kafkaSim: 2, command: "goto", step: 3 },
    { kafkaSim: 1, command: "goto", step: 99 },
    { kafkaSim: 1, command: "goto", step: "<b>" },
    { kafkaSim: 1, command: "theme", theme: "x" },
    { kafkaSim: 1, command: "variant", variant: "none" },
    { kafkaSim: 1, command: "constructor" },
  ]) {
    await say(page, message);
  }
  // Another frame on the same page is not the page.
  const intruder = "parent.frames[0].postMessage({kafkaSim:1,command:'goto',step:5},'*')";
  await page.evaluate((code) => {
    const other = document.createElement("iframe");
    other.srcdoc = `<script>${code}</script>`;
    document.body.append(other);
    return new Promise((resolve) => (other.onload = resolve));
  }, intruder);
  await page.waitForTimeout(300);
  assert.deepEqual(await page.evaluate(() => globalThis.heard.map(({ event }) => event)), ["ready"]);
  assert.equal(await page.frames()[1].evaluate(() => document.documentElement.dataset.theme), undefined);
  assert.deepEqual(page.errors, []);
});

test("without being asked it tells no height, and with frame.js it fits", { skip }, async () => {
  const plain = await host(frame());
  await heard(plain, "ready");
  await plain.waitForTimeout(200);
  assert.ok(!(await plain.evaluate(() => globalThis.heard.some(({ event }) => event === "height"))));

  const script = `<script src="${site?.url("assets/frame.js")}" async></script>`;
  for (const body of [frame() + script, script + frame()]) {
    const page = await host(body, { viewport: { width: 700, height: 900 } });
    const inside = page.frameLocator("iframe").locator(".player");
    await page.waitForFunction(() => document.querySelector("iframe").offsetHeight > 400);
    const outer = () => page.evaluate(() => document.querySelector("iframe").clientHeight);
    const whole = async () => Math.ceil((await inside.boundingBox()).height);
    await page.waitForTimeout(200);
    assert.equal(await outer(), await whole());
    const before = await outer();
    await say(page, { kafkaSim: 1, command: "goto", step: 5 });
    await step(page, "5");
    assert.equal(await outer(), before, "no step has a height of its own");
  }
  assert.ok(readFileSync(join(folder, "assets/frame.js")).length <= 1024);
});

test("the web component makes the frame, follows its attributes and fires steps", { skip }, async () => {
  const page = await host(
    `<kafka-scenario src="${site?.url(EMBED)}" step="2" theme="dark">
     <a href="${site?.url("scenarios/write-path/")}">One record</a></kafka-scenario>
     <script>document.querySelector("kafka-scenario").addEventListener("step",
     ({ detail }) => (globalThis.fired = detail.step))</script>
     <script src="${site?.url("assets/kafka-scenario.js")}" async></script>`,
    { viewport: { width: 700, height: 900 } },
  );
  await step(page, "2");
  const frame = page.locator("kafka-scenario iframe");
  assert.equal(await frame.getAttribute("title"), "One record");
  await page.evaluate(() => document.querySelector("kafka-scenario").setAttribute("step", "4"));
  await step(page, "4");
  await page.waitForFunction(() => globalThis.fired === 4);
  await page.evaluate(() => document.querySelector("kafka-scenario").goTo(6));
  await step(page, "6");
  assert.deepEqual(page.errors, []);
});

test("the builder puts step, variant and colours into every snippet", { skip }, async () => {
  const page = await open();
  await page.goto(site.url("scenarios/write-path/"));
  const texts = () => page.locator("#embed pre").allTextContents();
  const before = await texts();
  assert.equal(before.length, 5);
  await page.getByLabel("Opens at").selectOption("3");
  await page.getByLabel("Shows").selectOption({ index: 2 });
  await page.getByLabel("Colours").selectOption("dark");
  await page.getByLabel("Height in pixels").fill("700");
  const [frame, , component, picture, markdown] = await texts();
  const wanted = "embed/write-path/?variant=acks-1&amp;view=beside&amp;theme=dark#step-3\"";
  assert.ok(frame.includes(wanted), frame);
  assert.ok(frame.includes('height="700"'));
  assert.ok(component.includes(wanted), component);
  assert.ok(picture.includes("scenarios/write-path/step-3.svg"), picture);
  assert.match(markdown, /\(http[^)]+scenarios\/write-path\/step-3\.svg\)\]\(http[^)]+#step-3\)/);
  const src = /src="([^"]+)"/.exec(frame)[1].replaceAll("&amp;", "&");
  await page.goto(src);
  await page.locator(".duo:visible").waitFor();
  assert.equal(await page.locator(".p-note").count(), 0);
  assert.equal(await page.locator(".caps .cap.now .no").textContent(), "3");
});

test("the picture that plays moves what the trace has, and is small", { skip }, async () => {
  const bytes = readFileSync(join(folder, "scenarios/write-path/play.svg"));
  assert.ok(gzipSync(bytes).length < 20 * 1024);
  const page = await open();
  await page.goto(site.url("scenarios/write-path/play.svg"));
  const seen = (ms) =>
    page.evaluate((ms) => {
      const svg = document.documentElement;
      svg.pauseAnimations();
      svg.setCurrentTime(ms / 1000);
      const shown = (element) => getComputedStyle(element).opacity === "1";
      const steps = [...svg.querySelectorAll(":scope > g")];
      return {
        steps: steps.flatMap((step, i) => (shown(step) ? [i + 1] : [])),
        moving: steps.filter(shown).flatMap((step) => [...step.querySelectorAll(".v")]).filter(shown).length,
      };
    }, ms);
  assert.deepEqual(await seen(100), { steps: [1], moving: 0 });
  const all = [];
  for (let ms = 0; ms < 30_000; ms += 250) all.push(await seen(ms));
  assert.ok(all.every(({ steps }) => steps.length === 1), "one step at a time");
  assert.deepEqual([...new Set(all.map(({ steps }) => steps[0]))].sort(), [1, 2, 3, 4, 5, 6]);
  assert.ok(all.some(({ steps: [at], moving }) => at === 3 && moving >= 2), "both replies move");
  const calm = await open({ reducedMotion: "reduce" });
  // From disk: by itself under the strict policy its style is not applied.
  await calm.goto(pathToFileURL(join(folder, "scenarios/write-path/play.svg")).href);
  const display = await calm.evaluate(() => getComputedStyle(document.querySelector(".v")).display);
  assert.equal(display, "none");
});

test("the file with buttons plays when it is asked to, from disk", { skip }, async () => {
  const page = await open();
  await page.goto(pathToFileURL(join(folder, "scenarios/write-path/player.svg")).href);
  const step = () =>
    page.evaluate(() =>
      [...document.querySelectorAll("svg > g:not([id])")].findIndex(
        (each) => getComputedStyle(each).opacity === "1",
      ),
    );
  await page.waitForTimeout(600);
  assert.equal(await step(), 0, "it waits");
  await page.locator("#next").click();
  await page.locator("#next").click();
  assert.equal(await step(), 2);
  await page.keyboard.press("ArrowLeft");
  assert.equal(await step(), 1);
  const time = () => page.evaluate(() => document.documentElement.getCurrentTime());
  const before = await time();
  await page.locator("#play").click();
  await page.waitForTimeout(300);
  assert.ok((await time()) > before);
  assert.deepEqual(page.errors, []);
});
