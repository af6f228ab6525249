// What holds for every page.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";

import { HtmlValidate } from "html-validate";

import { BASE, files, folder, open, serve, skip } from "./site.js";

const site = skip ? null : await serve();
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const address = (file) => file.replace(/(^|\/)index\.html$/, "$1");

/** Every page; of the runs behind one table of outcomes the first, since they differ in data only. */
function pages() {
  const tables = new Set();
  return files().filter((file) => {
    const [table] = file.match(/^play\/[^/]+\/[^/]+(?=\/)/) ?? [file];
    return !tables.has(table) && tables.add(table);
  });
}

for (const colorScheme of ["light", "dark"]) {
  for (const width of [1280, 360]) {
    test(`every page is accessible, ${colorScheme}, ${width} px wide`, { skip }, async () => {
      const page = await open({ colorScheme, viewport: { width, height: 900 } });
      for (const file of pages()) {
        await page.goto(site.url(address(file)));
        await page.evaluate(axe);
        const { violations } = await page.evaluate(() => globalThis.axe.run());
        const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map((n) => n.html)}`);
        assert.deepEqual(found, [], file);
      }
      await page.context().close();
    });
  }
}

test("no page reports an error or asks anybody else for anything", { skip }, async () => {
  const page = await open();
  for (const file of pages()) {
    page.errors.length = page.requests.length = 0;
    await page.goto(site.url(address(file)), { waitUntil: "networkidle" });
    assert.deepEqual(page.errors, [], file);
    const elsewhere = page.requests.filter((url) => !url.startsWith(site.origin + BASE));
    assert.deepEqual(elsewhere, [], file);
  }
});

test("no page scrolls sideways on a phone", { skip }, async () => {
  for (const javaScriptEnabled of [true, false]) {
    const page = await open({ javaScriptEnabled, viewport: { width: 360, height: 740 } });
    for (const file of pages()) {
      await page.goto(site.url(address(file)));
      // Asked of the browser, since a page without script cannot be asked.
      const client = await page.context().newCDPSession(page);
      const { cssContentSize } = await client.send("Page.getLayoutMetrics");
      assert.equal(cssContentSize.width, 360, file);
      await client.detach();
    }
  }
});

test("every page is valid HTML without style or script in attributes", { skip }, async () => {
  const validator = new HtmlValidate({
    extends: ["html-validate:recommended", "html-validate:document"],
    elements: ["html5"],
    rules: {
      "aria-label-misuse": ["error", { allowAnyNamable: true }],
      "no-inline-style": "error",
      "long-title": "off",
      // The form beside the snippets sends nothing: its fields act at once.
      "wcag/h32": "off",
      "no-trailing-whitespace": "off",
      "void-style": "off",
      "require-sri": "off",
      "doctype-style": "off",
    },
  });
  for (const file of files()) {
    const text = readFileSync(join(folder, file), "utf8");
    const { results } = await validator.validateString(text, file);
    const found = results.flatMap(({ messages }) =>
      messages.map(({ line, column, ruleId, message }) => `${line}:${column} ${ruleId} ${message}`),
    );
    assert.deepEqual(found, [], file);
  }
});

test("a page opened from disk is whole, and its links lead to files", { skip }, async () => {
  const page = await open();
  for (const file of files()) {
    if (file === "404.html") continue; // Shown at any address, so its links count from the host.
    page.errors.length = 0;
    await page.goto(pathToFileURL(join(folder, file)).href);
    assert.deepEqual(page.errors, [], file);
    const styled = await page.evaluate(() => getComputedStyle(document.body).margin === "0px");
    assert.ok(styled, `${file} has its style`);
    const links = await page.$$eval("a[href]", (all) => all.map((link) => link.href));
    for (const link of links.filter((link) => link.startsWith("file:"))) {
      const path = fileURLToPath(link.replace(/[?#].*/, ""));
      assert.ok(existsSync(path) && !link.endsWith("/"), `${file} links to ${link}`);
    }
  }
});
