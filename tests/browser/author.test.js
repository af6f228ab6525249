// What the preview adds to the page of a player: the log of everything, and a scrubber over it.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { open, serve, skip } from "./site.js";

const site = skip ? null : await serve();

test("the scrubber shows the run between two steps, and events lead to their time", { skip }, async () => {
  const page = await open();
  await page.goto(site.url("play/write-path/#step-3"));
  const script = readFileSync(new URL("../../src/serve/author.js", import.meta.url), "utf8");
  await page.evaluate(script);
  const log = page.locator(".preview-log");
  await log.locator("li").first().waitFor();
  const time = page.locator(".cap.now time");
  const seek = (ms) =>
    log.getByLabel("Time").evaluate((range, ms) => {
      range.value = ms;
      range.dispatchEvent(new Event("input"));
    }, ms);
  await seek(1550);
  assert.equal(await time.textContent(), "t = 1.550 s");
  assert.equal(await page.locator(".caps .cap.now .no").textContent(), "3");
  // Halfway through the 300 ms of both replies.
  const halfway = await page.evaluate(() => {
    const svg = document.querySelector(".pane.now svg.w");
    const { runs } = JSON.parse(document.querySelector(".player script").textContent);
    const { rails, moves } = runs[""];
    const near = (rail) => {
      const path = svg.querySelector(`[data-rail="${rails[rail]}"]`);
      const { x, y } = path.getPointAtLength(path.getTotalLength() / 2);
      return [...svg.querySelectorAll(".msg")].some((mark) => {
        const [a, b] = mark.getAttribute("transform").match(/-?[\d.]+/g).map(Number);
        return Math.hypot(a - x, b - y) < 1;
      });
    };
    const loud = moves.filter(([, , sent, arrives, role]) => role === "pend" && sent === 1400);
    return loud.map(([rail]) => near(rail));
  });
  assert.deepEqual(halfway, [true, true]);
  await log.getByLabel("Only with").fill("append");
  await log.getByRole("button", { name: /append orders-0 log end 0/ }).first().click();
  assert.equal(await time.textContent(), "t = 1.400 s");
  assert.deepEqual(page.errors, []);
});
