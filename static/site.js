// For every page: opened from disk, links to a folder lead to its index.html; snippets get
// the site's address and copy buttons copy them.
(() => {
  "use strict";

  if (location.protocol === "file:") {
    for (const link of document.querySelectorAll("a[href]")) {
      const url = new URL(link.href);
      if (url.protocol !== "file:" || !url.pathname.endsWith("/")) continue;
      url.pathname += "index.html";
      link.href = url.href;
    }
  }

  for (const box of document.querySelectorAll(".copy")) {
    const pre = box.querySelector("pre");
    // Where the build did not know the site's host, the reader's browser does.
    if (pre.dataset.url && location.protocol !== "file:") {
      const site = new URL(document.querySelector(".brand").href).href;
      for (const before of ['"', "("]) {
        pre.textContent = pre.textContent.replaceAll(before + pre.dataset.url, before + site);
      }
    }
    const button = box.querySelector("button");
    if (!button || !navigator.clipboard) continue;
    button.hidden = false;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(pre.textContent).then(
        () => (button.textContent = "Copied"),
        () => (button.textContent = "Not allowed here"),
      );
      setTimeout(() => (button.textContent = "Copy"), 2000);
    });
  }
})();
