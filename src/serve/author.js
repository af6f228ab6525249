// Only in the preview, on the page of a player alone: everything that happened in the run, and a
// scrubber over the whole of it, between the steps too.
(async () => {
  "use strict";
  const box = document.querySelector(".play .player");
  if (!box || origin === "null") return;
  const slug = location.pathname.split("/").at(-2);
  const answer = await fetch(`../../scenarios/${slug}/events.json`);
  if (!answer.ok) return;
  const events = await answer.json();
  const last = Math.max(...[...box.querySelectorAll(".pane.now, .pane")].map(
    (pane) => Number(pane.querySelector("[data-at]").dataset.at),
  ));
  const seconds = (ms) => (ms / 1000).toFixed(3);

  function add(parent, name, properties = {}) {
    return parent.appendChild(Object.assign(document.createElement(name), properties));
  }

  const view = add(document.querySelector("main"), "section", { className: "preview-log" });
  add(view, "h2", { textContent: `Everything that happens (${events.length} events)` });
  const bar = add(view, "p");
  const time = add(add(bar, "label", { textContent: "Time " }), "input");
  Object.assign(time, { type: "range", min: 0, max: last, step: 1, value: 0 });
  const shown = add(bar, "output");
  const filter = add(add(bar, "label", { textContent: "Only with " }), "input", { type: "search" });
  const note = add(view, "p", { textContent: "The log is the main run\u2019s.", hidden: true });
  const list = add(view, "ol");
  const rows = events.map((event) => {
    const button = add(add(list, "li"), "button", { type: "button" });
    add(button, "time", { textContent: seconds(event.time_ms) });
    add(button, "b", { textContent: event.machine ?? "administrator" });
    add(button, "span", { textContent: `${event.event.replaceAll("_", " ")} ${event.text}` });
    button.addEventListener("click", () => seek(event.time_ms));
    return { button, time: event.time_ms, text: button.textContent.toLowerCase() };
  });

  function seek(ms) {
    box.dispatchEvent(new CustomEvent("seek", { detail: ms }));
  }

  time.addEventListener("input", () => seek(Number(time.value)));
  filter.addEventListener("input", () => {
    const wanted = filter.value.toLowerCase();
    for (const { button, text } of rows) button.parentNode.hidden = !text.includes(wanted);
  });

  let before = -1;
  function follow() {
    const clock = box.querySelector(".cap.now time, .pane.now time");
    const ms = Math.round(1000 * Number(/[\d.]+/.exec(clock?.textContent ?? "")?.[0] ?? 0));
    if (ms !== before) {
      before = ms;
      time.value = ms;
      shown.value = `${seconds(ms)} s`;
      note.hidden = !box.querySelector(".variant")?.value;
      rows.forEach(({ button, time: at }) => {
        button.className = at < ms ? "done" : at === ms ? "at" : "";
      });
      const at = rows.findLast((row) => row.time <= ms && !row.button.parentNode.hidden);
      // Within the list alone, so that the page stays where it is.
      if (at) list.scrollTop = at.button.offsetTop - list.offsetTop - list.clientHeight / 2;
    }
    requestAnimationFrame(follow);
  }
  follow();
})();
