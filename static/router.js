// Leads from ?scenario=ID&step=N to the page of that scenario, with the rest of the query. Without
// script the page is a list of all of them.
(() => {
  "use strict";
  const query = new URLSearchParams(location.search);
  const id = query.get("scenario");
  if (id === null) return;

  const links = [...document.querySelectorAll("a[data-scenario]")];
  const link = links.find(({ dataset }) => dataset.scenario === id || dataset.slug === id);
  if (!link) {
    const note = document.querySelector(".unknown");
    note.textContent = `No scenario here has the id ${id}.`;
    note.hidden = false;
    return;
  }
  const step = query.get("step");
  query.delete("scenario");
  query.delete("step");
  const target = new URL(link.href);
  const onDisk = location.protocol === "file:";
  if (onDisk && target.pathname.endsWith("/")) target.pathname += "index.html";
  target.search = query;
  target.hash = step === null ? location.hash : `step-${step}`;
  location.replace(target);
})();
