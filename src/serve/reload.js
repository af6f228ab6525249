// Only in the preview: loads the page again when there is a new site, and shows what is wrong with
// the files over the last good one.
(() => {
  "use strict";
  // A sandboxed frame may not listen; the page around it does.
  if (origin === "null") return;
  const own = document.currentScript.src;
  const version = Number(new URL(own).searchParams.get("version"));
  let known = version, lost = false, box = null;

  function tell(problems) {
    box?.remove();
    box = null;
    if (!problems || document.body.classList.contains("preview-problems")) return;
    if (!document.querySelector(`link[href^="${new URL("reload.css", own).href}"]`)) {
      const style = document.head.appendChild(document.createElement("link"));
      style.rel = "stylesheet";
      style.href = new URL("reload.css", own).href;
    }
    box = document.createElement("section");
    box.className = "preview-problems preview-over";
    const head = box.appendChild(document.createElement("h1"));
    head.textContent = "The files have errors; below is the last good site";
    box.appendChild(document.createElement("pre")).textContent = problems;
    document.body.prepend(box);
  }

  const news = new EventSource(new URL("events", own));
  // Who answers after that may be another server, which counts anew.
  news.addEventListener("error", () => (lost = true));
  news.addEventListener("message", ({ data }) => {
    const { version: newest, problems } = JSON.parse(data);
    const only = document.body.classList.contains("preview-problems");
    if (lost || (only && newest !== version)) return location.reload();
    if (!problems && (newest !== known || box)) return location.reload();
    known = newest;
    tell(problems);
  });
})();
