// For every page: opened from disk, links to a folder lead to its index.html; copy buttons copy.
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
    const text = box.querySelector("pre").textContent;
    const button = box.querySelector("button");
    if (!button || !navigator.clipboard) continue;
    button.hidden = false;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(text).then(
        () => (button.textContent = "Copied"),
        () => (button.textContent = "Not allowed here"),
      );
      setTimeout(() => (button.textContent = "Copy"), 2000);
    });
  }
})();
