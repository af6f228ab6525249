// The player on a page of its own: keys, motion, what it leaves alone.

import assert from "node:assert/strict";
import { test } from "node:test";

import { open, serve, skip } from "./site.js";

const PLAY = "play/write-path/";

const site = skip ? null : await serve();

/** Opens the player's page with a clock that stands still until it is told to run. */
async function paused(path, options) {
  const page = await open(options);
  await page.clock.install({ time: 0 });
  await page.goto(site.url(path));
  await page.clock.pauseAt(60_000);
  return page;
}

/** The step that is shown, by everything that shows it. */
async function shown(page, player = page.locator(".player")) {
  const visible = async (selector) => {
    const parts = await player.locator(selector).all();
    const seen = await Promise.all(parts.map((part) => part.isVisible()));
    return seen.flatMap((is, i) => (is ? [i + 1] : []));
  };
  const cells = await player.locator(".cells a").all();
  const current = await Promise.all(cells.map((cell) => cell.getAttribute("aria-current")));
  const steps = [
    await visible(".stage"),
    await visible(".cap"),
    current.flatMap((is, i) => (is === "step" ? [i + 1] : [])),
  ];
  assert.deepEqual(steps[1], steps[0], "text and picture are of one step");
  assert.deepEqual(steps[2], steps[0], "the strip marks the step shown");
  assert.equal(steps[0].length, 1, "one step is shown");
  return steps[0][0];
}

test("it opens paused at the step that the address names", { skip }, async () => {
  const page = await paused(`${PLAY}#step-3`);
  assert.equal(await shown(page), 3);
  await page.clock.runFor(20_000);
  assert.equal(await shown(page), 3);
  const [third] = await page.locator(".cells a").nth(2).all();
  assert.match(await third.getAttribute("aria-label"), /^Step 3 of 6: \S/);
});

test("a step that does not exist is named, not replaced in silence", { skip }, async () => {
  const page = await paused(`${PLAY}#step-7`);
  assert.match(await page.locator(".p-note").textContent(), /#step-7 is not a step here/);
  assert.equal(await shown(page), 1);
});

test("keys move through the steps while the focus is inside, and only then", { skip }, async () => {
  const page = await paused(PLAY);
  await page.keyboard.press("ArrowRight");
  await page.clock.runFor(10_000);
  assert.equal(await shown(page), 1, "without focus a key is not the player's");

  await page.locator("[data-go=next]").focus();
  for (const [key, expected] of [
    ["ArrowRight", 2],
    ["End", 6],
    ["ArrowLeft", 5],
    ["Home", 1],
    ["ArrowLeft", 1],
  ]) {
    await page.keyboard.press(key);
    await page.clock.runFor(5000);
    assert.equal(await shown(page), expected, key);
  }
  await page.keyboard.press("Control+End");
  assert.equal(await shown(page), 1, "keys with modifiers are the browser's");
});

test("pressing on does not wait for what is on its way", { skip }, async () => {
  const page = await paused(PLAY);
  await page.locator("[data-go=next]").focus();
  for (let i = 0; i < 3; i += 1) await page.keyboard.press("ArrowRight");
  await page.clock.runFor(5000);
  assert.equal(await shown(page), 4);
});

test("space plays and stops, wherever in the player the focus is", { skip }, async () => {
  const page = await paused(PLAY);
  const button = page.getByRole("button", { name: /Play|Pause/ });
  for (const part of [button, page.locator(".cells a").first()]) {
    await part.focus();
    await page.keyboard.press("Space");
    assert.equal(await button.getAttribute("aria-label"), "Pause");
    await page.keyboard.press("Space");
    assert.equal(await button.getAttribute("aria-label"), "Play");
  }
});

test("playing goes through all steps and ends at the last", { skip }, async () => {
  const page = await paused(PLAY);
  await page.getByRole("button", { name: "Play" }).click();
  assert.equal(await page.locator("[aria-live]").getAttribute("aria-live"), "off");
  const seen = new Set();
  for (let i = 0; i < 150 && !seen.has(6); i += 1) {
    seen.add(await shown(page));
    await page.clock.runFor(400);
  }
  assert.deepEqual([...seen], [1, 2, 3, 4, 5, 6]);
  await page.clock.runFor(1000);
  assert.equal(await page.locator("[aria-live]").getAttribute("aria-live"), "polite");
  await page.getByRole("button", { name: "Play" }).click();
  assert.equal(await shown(page), 1, "from the last step it plays again from the first");
});

/** Times and places of the marks that are drawn, and where the trace has them at that time. */
function marks() {
  const data = JSON.parse(document.querySelector(".player script").textContent);
  const stage = document.querySelector(".pane.now .stage");
  const svg = [...stage.querySelectorAll("svg")].find((one) => one.getClientRects().length);
  const time = 1000 * /[\d.]+/.exec(document.querySelector(".cap.now time").textContent)[0];
  const drawn = [...svg.querySelectorAll(".msg")].map((mark) =>
    mark.getAttribute("transform").match(/-?[\d.]+/g).map(Number),
  );
  const expected = data.runs[""].moves
    .filter(([, , sent, arrives]) => sent <= time && time < arrives)
    .map(([rail, back, sent, arrives]) => {
      const path = svg.querySelector(`[data-rail="${data.runs[""].rails[rail]}"]`);
      const part = (time - sent) / (arrives - sent);
      const { x, y } = path.getPointAtLength(path.getTotalLength() * (back ? 1 - part : part));
      return [x, y];
    });
  return { time, drawn, expected, view: svg.viewBox.baseVal.width };
}

for (const width of [1280, 360]) {
  test(`messages stand where the trace has them, ${width} px wide`, { skip }, async () => {
    const page = await paused(`${PLAY}#step-3`, { viewport: { width, height: 900 } });
    await page.locator("[data-go=next]").click();
    let loaded = 0;
    for (let i = 0; i < 40 && (await shown(page)) === 3; i += 1) {
      const { drawn, expected } = await page.evaluate(marks);
      assert.equal(drawn.length, expected.length);
      // The time shown is rounded to a millisecond, the place to a hundredth.
      drawn.forEach(([x, y], k) => {
        assert.ok(Math.hypot(x - expected[k][0], y - expected[k][1]) < 3, `message ${k}`);
      });
      loaded = Math.max(loaded, drawn.length);
      await page.clock.runFor(50);
    }
    assert.ok(loaded >= 2, "both followers get a reply between steps 3 and 4");
    assert.equal(await shown(page), 4);
    assert.equal(await page.locator(".msg").count(), 0, "at rest nothing of the motion is left");
  });
}

test("with reduced motion steps change without movement", { skip }, async () => {
  const page = await paused(PLAY, { reducedMotion: "reduce" });
  await page.locator("[data-go=next]").click();
  assert.equal(await shown(page), 2);
  await page.getByRole("button", { name: "Play" }).click();
  assert.equal(await shown(page), 3);
  await page.clock.runFor(200);
  assert.equal(await page.locator(".msg").count(), 0);
  await page.clock.runFor(6000);
  assert.equal(await shown(page), 4);
});

test("nothing moves its place while stepping", { skip }, async () => {
  for (const width of [1280, 640, 360]) {
    const page = await open({ viewport: { width, height: 900 } });
    await page.addInitScript(() => {
      globalThis.shift = 0;
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) globalThis.shift += entry.value;
      }).observe({ type: "layout-shift", buffered: true });
    });
    await page.goto(site.url(PLAY));
    const places = () =>
      page.$$eval(".steer > *, .cells li, .p-in", (all) =>
        all.map((part) => JSON.stringify(part.getBoundingClientRect())),
      );
    const before = await places();
    const loaded = await page.evaluate(() => globalThis.shift);
    for (let step = 1; step <= 6; step += 1) {
      await page.locator(".cells a").nth(step - 1).click();
      assert.deepEqual(await places(), before, `step ${step}, ${width} px`);
    }
    assert.equal(await page.evaluate(() => globalThis.shift), loaded, `${width} px`);
    // While the page comes in pieces its parts may settle, within what counts as good.
    assert.ok(loaded < 0.1, `${width} px, loading: ${loaded}`);
    await page.context().close();
  }
});

test("over a walkthrough it shows the pictures of the articles", { skip }, async () => {
  const page = await open();
  await page.goto(site.url("scenarios/write-path/"));
  const titles = (of) => page.locator(of).evaluateAll((all) => all.map((it) => it.textContent));
  for (const step of [1, 4, 6]) {
    await page.locator(".player .cells a").nth(step - 1).click();
    const shown = await titles(".player .pane.now .stage > .pic > svg > title");
    assert.deepEqual(shown, await titles(`#step-${step} .pic > svg > title`));
    assert.equal(shown.length, 2, "wide and narrow");
    const sequence = await titles(".player .pane.now .seq svg > title");
    assert.deepEqual(sequence, await titles(`#step-${step} .seq svg > title`));
  }
});

test("the strip is a scrubber for a pressed pointer", { skip }, async () => {
  const page = await paused(PLAY);
  const cells = page.locator(".cells a");
  const middle = async (i) => {
    const box = await cells.nth(i).boundingBox();
    return [box.x + box.width / 2, box.y + box.height / 2];
  };
  await page.mouse.move(...(await middle(0)));
  await page.mouse.down();
  await page.mouse.move(...(await middle(2)));
  assert.equal(await shown(page), 3);
  await page.mouse.move(...(await middle(4)));
  assert.equal(await shown(page), 5);
  await page.mouse.up();
  assert.equal(await shown(page), 5);
});

test("it works by touch", { skip }, async () => {
  const viewport = { width: 360, height: 740 };
  const page = await open({ hasTouch: true, isMobile: true, viewport });
  await page.goto(site.url(PLAY));
  await page.locator(".cells a").nth(3).tap();
  assert.equal(await shown(page), 4);
  await page.locator("[data-go=back]").tap();
  assert.equal(await shown(page), 3);
  const sizes = await page.$$eval(".steer > *, .opt > *, .cells a", (all) =>
    all.map((part) => part.getBoundingClientRect().height).filter((height) => height > 0),
  );
  assert.ok(sizes.every((height) => height >= 44), `${sizes}`);
});

test("it takes no focus by itself and keeps the focus that it has", { skip }, async () => {
  const page = await paused(`${PLAY}?autoplay`);
  await page.clock.runFor(3000);
  assert.equal(await page.evaluate(() => document.activeElement.tagName), "BODY");
  await page.locator("[data-go=back]").focus();
  await page.clock.runFor(30_000);
  assert.equal(await page.evaluate(() => document.activeElement.dataset.go), "back");
});

test("several players on one page do not know of each other", { skip }, async () => {
  const page = await open();
  await page.route("**/*", async (route) => {
    if (!route.request().isNavigationRequest()) return route.continue();
    const response = await route.fetch();
    const text = await response.text();
    const [, player] = /(<div class="player"[^]*?<\/script>\s*<\/div>\s*<\/div>)/.exec(text);
    const other = player.replaceAll("write-path-step-", "other-step-");
    await route.fulfill({ response, body: text.replace(player, `${player}\n${other}`) });
  });
  await page.goto(site.url(""));
  const [first, second] = await page.locator(".player").all();
  await first.locator(".cells a").nth(2).click();
  await second.locator(".cells a").nth(4).click();
  await page.keyboard.press("ArrowLeft");
  assert.equal(await shown(page, first), 3);
  assert.equal(await shown(page, second), 4);
  assert.deepEqual(page.errors, []);
});

test("the switch shows a variant at the same step, and both side by side", { skip }, async () => {
  const page = await paused(`${PLAY}#step-3`);
  const text = () => page.locator(".cap.now").textContent();
  const main = await text();
  await page.locator(".variant").selectOption("acks-1");
  assert.equal(await shown(page), 3);
  assert.notEqual(await text(), main);
  assert.match(await text(), /ack leaves/);
  await page.locator(".variant").selectOption("acks-1 beside");
  assert.equal(await shown(page), 3);
  const sides = page.locator(".pane.now .duo > div");
  assert.equal(await sides.count(), 2);
  assert.match(await page.locator(".cap.now table").textContent(), /produce response, under way/);
  await page.locator("[data-go=next]").click();
  assert.ok((await sides.nth(0).locator(".msg").count()) + (await sides.nth(1).locator(".msg").count()) > 0);
  await page.clock.runFor(5000);
  assert.equal(await shown(page), 4);
  await page.locator(".variant").selectOption("");
  assert.equal(await shown(page), 4);
  assert.deepEqual(page.errors, []);
});

test("the address names variant and view", { skip }, async () => {
  const page = await paused(`${PLAY}?variant=acks-1#step-3`);
  assert.equal(await page.locator(".variant").inputValue(), "acks-1");
  assert.equal(await shown(page), 3);
  const other = await paused(`${PLAY}?variant=acks-1&view=beside#step-4`);
  assert.equal(await other.locator(".variant").inputValue(), "acks-1 beside");
  assert.equal(await shown(other), 4);
});

test("the strip is one slider that says the step in words", { skip }, async () => {
  const page = await paused(PLAY);
  const slider = page.getByRole("slider", { name: "Step" });
  await slider.focus();
  assert.match(await slider.getAttribute("aria-valuetext"), /^Step 1 of 6: Cluster ready/);
  await page.keyboard.press("ArrowUp");
  assert.equal(await shown(page), 2);
  assert.match(await slider.getAttribute("aria-valuetext"), /^Step 2 of 6: /);
  await page.keyboard.press("End");
  assert.equal(await shown(page), 6);
});

test("the sheet has the link to this step and the keys, and gives the focus back", { skip }, async () => {
  const page = await paused(`${PLAY}?variant=acks-1#step-4`);
  await page.locator("[data-go=next]").focus();
  await page.keyboard.press("?");
  const sheet = page.getByRole("dialog", { name: "Share and keys" });
  assert.ok(await sheet.isVisible());
  const link = await sheet.getByLabel("Link to this step").inputValue();
  assert.equal(link, site.url(`${PLAY}?variant=acks-1#step-4`));
  await page.keyboard.press("Escape");
  assert.ok(!(await sheet.isVisible()));
  assert.ok(await page.evaluate(() => document.activeElement.matches(".player .share")));
});
