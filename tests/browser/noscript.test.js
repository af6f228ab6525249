// With script off everything can be read, and links do what buttons did.

import assert from "node:assert/strict";
import { test } from "node:test";

import { open, serve, skip } from "./site.js";

const site = skip ? null : await serve();
const plain = (options) => open({ javaScriptEnabled: false, ...options });

test("a walkthrough has all texts, pictures and tables in its HTML", { skip }, async () => {
  const page = await plain();
  await page.goto(site.url("scenarios/write-path/"));
  for (let number = 1; number <= 6; number += 1) {
    const step = page.locator(`#step-${number}`);
    assert.ok(await step.getByRole("heading", { level: 3 }).isVisible());
    assert.ok(await step.locator("figure svg.w").first().isVisible());
    assert.match(await step.locator("figure svg.w > desc").first().textContent(), /\S/);
    assert.ok((await step.locator("table").count()) > 0, `step ${number} has its state as a table`);
    assert.ok(await step.getByRole("link", { name: "Open at this step" }).isVisible());
  }
});

for (const kind of ["play", "embed"]) {
  test(`${kind}: the address names the step, links change it`, { skip }, async () => {
    const page = await plain();
    const shown = async () => {
      const all = await page.locator(".pane > .cap").all();
      const seen = await Promise.all(all.map((caption) => caption.isVisible()));
      return seen.flatMap((is, i) => (is ? [i + 1] : []));
    };
    await page.goto(site.url(`${kind}/write-path/`));
    assert.deepEqual(await shown(), [1]);
    await page.goto(site.url(`${kind}/write-path/#step-3`));
    assert.deepEqual(await shown(), [3]);
    assert.ok(await page.locator("#step-3 svg.w").first().isVisible());
    const go = (name) => page.locator(`.pane > .steer:visible`).getByRole("link", { name });
    await page.getByRole("link", { name: "Next step" }).locator("visible=true").click();
    assert.deepEqual(await shown(), [4]);
    await go("Previous step").locator("visible=true").click();
    assert.deepEqual(await shown(), [3]);
    await page.getByRole("link", { name: /^Step 6 of 6/ }).click();
    assert.deepEqual(await shown(), [6]);
    await go("First step").locator("visible=true").click();
    assert.deepEqual(await shown(), [1]);
    assert.equal(await page.getByRole("button").locator("visible=true").count(), 0);
    assert.equal(await page.locator("select:visible").count(), 0);
  });
}

test("on a phone the buttons stand right under the picture", { skip }, async () => {
  for (const javaScriptEnabled of [true, false]) {
    const page = await open({ javaScriptEnabled, viewport: { width: 360, height: 900 } });
    await page.goto(site.url("embed/write-path/"));
    const box = (selector) => page.locator(selector).first().boundingBox();
    const [picture, strip, text] = [await box(".stage"), await box(".ctl"), await box(".cap")];
    assert.ok(Math.abs(picture.y + picture.height - strip.y) < 1);
    assert.ok(Math.abs(strip.y + strip.height - text.y) < 1);
    assert.ok(strip.y + strip.height <= 900, "picture and controls fit one screen");
  }
});
