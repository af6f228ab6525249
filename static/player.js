// Plays the steps of a scenario. Without it the links still work: the style sheet shows the step
// that the address names. It reads only its own page, takes no focus, scrolls nothing and sends
// nothing.
(() => {
  "use strict";

  const SVG = "http://www.w3.org/2000/svg";
  // The way to the next step takes `usual` milliseconds when it is as long as the scenario's middle
  // one, and in proportion otherwise, within limits. What would pass in less than `seen` is not
  // drawn.
  const TRIP = { usual: 1800, least: 900, most: 3200, seen: 120 };
  // While playing, a step stays for as long as its words need.
  const READ = { word: 110, least: 1500, most: 6000 };

  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const clamp = (value, least, most) => Math.min(Math.max(value, least), most);
  const clock = (ms) => `t = ${(ms / 1000).toFixed(3)} s`;

  /** The value at `x` of the line through the points (xs[i], ys[i]). */
  function along(xs, ys, x) {
    let i = 1;
    while (i < xs.length - 1 && x > xs[i]) i += 1;
    return ys[i - 1] + ((ys[i] - ys[i - 1]) * (x - xs[i - 1])) / (xs[i] - xs[i - 1]);
  }

  /**
   * The way from one step to the next: the messages on it, and simulated time (`real`) against the
   * time that it is given (`shown`). Where nothing loud is under way for long, it is given less.
   */
  function leg(from, to, moves) {
    const here = moves.filter(([, , sent, arrives]) => sent < to && arrives > from);
    const loud = here.filter(([, , , , role]) => role !== "quiet");
    const idle = 2 * Math.max(0, ...loud.map(([, , sent, arrives]) => arrives - sent)) || Infinity;
    const real = [from], shown = [0];
    const until = (time, most) => {
      const passed = Math.min(time, to) - real.at(-1);
      if (passed <= 0) return;
      real.push(real.at(-1) + passed);
      shown.push(shown.at(-1) + Math.min(passed, most));
    };
    for (const [, , sent, arrives] of loud) {
      until(sent, idle);
      until(arrives, Infinity);
    }
    until(to, idle);
    return { here, real, shown, span: shown.at(-1) };
  }

  /** A mark for one message: a cell with the record's offset, or a dot. */
  function token(role, label) {
    const group = document.createElementNS(SVG, "g");
    group.setAttribute("class", `msg r-${role}`);
    const width = label === null ? 0 : Math.max(20, 9 * label.length + 8);
    const box = label === null
      ? { r: role === "quiet" ? 4 : 6 }
      : { x: -width / 2, y: -10, width, height: 20, rx: 5 };
    const add = (name) => group.appendChild(document.createElementNS(SVG, name));
    const shape = add(label === null ? "circle" : "rect");
    for (const name in box) shape.setAttribute(name, box[name]);
    if (label !== null) add("text").textContent = label;
    return group;
  }

  /** Draws `moves` along the rails of whichever of the pane's pictures is visible at this width. */
  function carrier(pane, moves, rails) {
    const pictures = [...pane.querySelectorAll("svg")];
    let layer = null, marks = [];

    function load(svg) {
      layer?.remove();
      layer = svg.appendChild(document.createElementNS(SVG, "g"));
      marks = moves.map(([rail, , , , role, label]) => {
        const path = svg.querySelector(`[data-rail="${CSS.escape(rails[rail])}"]`);
        return path && { path, length: path.getTotalLength(), group: token(role, label) };
      });
    }

    return {
      draw(time) {
        const svg = pictures.find((picture) => picture.getClientRects().length);
        if (!svg) return;
        if (layer?.parentNode !== svg) load(svg);
        marks.forEach((mark, i) => {
          const [, back, sent, arrives] = moves[i];
          if (!mark) return;
          if (time < sent || time >= arrives) return mark.group.remove();
          const part = (time - sent) / (arrives - sent);
          const { x, y } = mark.path.getPointAtLength(mark.length * (back ? 1 - part : part));
          mark.group.setAttribute("transform", `translate(${x.toFixed(2)} ${y.toFixed(2)})`);
          if (!mark.group.parentNode) layer.append(mark.group);
        });
      },
      clear: () => layer?.remove(),
    };
  }

  function player(box) {
    const panes = [...box.querySelectorAll(".pane")];
    const captions = panes.map((pane) => pane.querySelector(".cap"));
    const cells = [...box.querySelectorAll(".cells a")];
    const strip = box.querySelector(".cells");
    const speed = box.querySelector(".speed");
    const { times, moves, rails } = JSON.parse(box.querySelector("script").textContent);
    const last = panes.length - 1;
    const legs = times.slice(1).map((time, i) => leg(times[i], time, moves));
    const middle = legs.map(({ span }) => span).sort((a, b) => a - b)[last >> 1] || 1;

    // One row of buttons stays for good, so that the focus has a place to stay.
    const [steer, ...others] = box.querySelectorAll(".steer");
    others.forEach((other) => other.remove());
    panes[last].after(steer);
    const button = steer.querySelector("button");
    const links = {};
    for (const link of steer.querySelectorAll("a")) links[link.dataset.go] = link;
    // The texts stand in one live region.
    const words = document.createElement("div");
    words.className = "caps";
    words.append(...captions);
    box.querySelector(".p-in").append(words);

    // The step shown; how much of the way to the next one is done; "still", "step" (on the way to
    // the next step, as asked) or "play".
    let now = 0, done = 0, mode = "still";
    let timer = 0, frame = 0, load = null;

    function point(link, step, idle) {
      link.hash = box.dataset.anchor + (clamp(step, 0, last) + 1);
      if (idle) link.setAttribute("aria-disabled", "true");
      else link.removeAttribute("aria-disabled");
    }

    function mark() {
      const still = mode === "still";
      words.setAttribute("aria-live", still ? "polite" : "off");
      box.classList.toggle("playing", mode === "play");
      button.setAttribute("aria-label", mode === "play" ? "Pause" : "Play");
      [...panes, ...captions].forEach((part) => {
        part.classList.toggle("now", part === panes[now] || part === captions[now]);
      });
      cells.forEach((cell, i) => {
        cell.parentNode.className = i < now ? "past" : "";
        if (i === now) cell.setAttribute("aria-current", "step");
        else cell.removeAttribute("aria-current");
      });
      const begun = now === 0 && still && done === 0;
      point(links.first, 0, begun);
      point(links.back, now - 1, begun);
      point(links.next, now + 1, now === last);
      point(links.last, last, now === last);
      if (strip.scrollWidth > strip.clientWidth) {
        const cell = cells[now].parentNode;
        strip.scrollLeft = cell.offsetLeft - (strip.clientWidth - cell.offsetWidth) / 2;
      }
    }

    function halt() {
      clearTimeout(timer);
      cancelAnimationFrame(frame);
    }

    /** Shows a step, at rest or as a stop while playing. */
    function show(step, then) {
      halt();
      if (load) {
        load.clear();
        load = null;
        panes[now].classList.remove("moving");
        captions[now].querySelector("time").textContent = clock(times[now]);
        cells[now + 1].parentNode.style.removeProperty("--done");
      }
      now = clamp(step, 0, last);
      done = 0;
      mode = now === last ? "still" : then;
      mark();
      if (mode === "play") {
        const count = captions[now].textContent.split(/\s+/).length;
        const rest = clamp(count * READ.word, READ.least, READ.most);
        timer = setTimeout(travel, rest / speed.value);
      }
    }

    /** Goes on to the next step from where it stands. */
    function travel() {
      const arrive = () => show(now + 1, mode === "play" ? "play" : "still");
      const { here, real, shown, span } = legs[now];
      if (calm.matches || !span) return arrive();
      const usual = clamp((TRIP.usual * span) / middle, TRIP.least, TRIP.most);
      const length = usual / speed.value / (mode === "step" ? 2 : 1);
      const at = (time) => along(real, shown, time);
      const lasts = ([, , sent, arrives]) => at(arrives) - at(sent);
      const seen = here.filter((move) => (lasts(move) / span) * length >= TRIP.seen);
      load ??= carrier(panes[now], seen, rails);
      panes[now].classList.add("moving");
      const start = performance.now() - done * length;
      const move = () => {
        done = clamp((performance.now() - start) / length, 0, 1);
        if (done === 1) return arrive();
        const time = along(shown, real, done * span);
        load.draw(time);
        captions[now].querySelector("time").textContent = clock(time);
        cells[now + 1].parentNode.style.setProperty("--done", `${(100 * done).toFixed(1)}%`);
        frame = requestAnimationFrame(move);
      };
      move();
    }

    function go(how) {
      halt();
      mode = how;
      mark();
      travel();
    }

    const jump = (step) => show(step, "still");
    const back = () => jump(done > 0 ? now : now - 1);

    /** One step further; asked again on the way there, it does not wait for the arrival. */
    function next() {
      const asked = mode === "step", begun = asked || done > 0;
      if (begun) jump(now + 1);
      if ((asked || !begun) && now < last) go("step");
    }

    function toggle() {
      if (mode === "play") {
        halt();
        mode = "still";
        return mark();
      }
      if (now === last) jump(0);
      go("play");
    }

    const actions = { first: () => jump(0), back, next, last: () => jump(last) };
    const { first, last: end } = actions;
    const keys = { Home: first, ArrowLeft: back, " ": toggle, ArrowRight: next, End: end };
    const changed = (event) => event.ctrlKey || event.metaKey || event.altKey || event.shiftKey;

    box.addEventListener("click", (event) => {
      const part = event.target.closest("a, button");
      const act = part === button ? toggle : cells.includes(part)
        ? () => jump(cells.indexOf(part))
        : actions[part?.dataset.go];
      if (!act || changed(event)) return;
      event.preventDefault();
      act();
    });
    box.addEventListener("keydown", (event) => {
      const own = event.key === " " ? "select, button, summary" : "select";
      if (!keys[event.key] || changed(event) || event.target.closest(own)) return;
      event.preventDefault();
      keys[event.key]();
    });
    strip.addEventListener("dragstart", (event) => event.preventDefault());
    let pressed = false;
    strip.addEventListener("pointerdown", () => (pressed = true));
    for (const over of ["pointerup", "pointercancel"]) {
      addEventListener(over, () => (pressed = false));
    }
    strip.addEventListener("pointermove", (event) => {
      if (!pressed) return;
      const over = document.elementFromPoint(event.clientX, event.clientY)?.closest("a");
      if (cells.includes(over) && over !== cells[now]) jump(cells.indexOf(over));
    });

    const address = box.hasAttribute("data-address");
    const says = address ? settings(speed) : { problems: [] };
    function open() {
      const { hash } = location, { anchor } = box.dataset;
      const step = panes.findIndex((_, i) => hash === `#${anchor}${i + 1}`);
      if (step >= 0 || address) jump(Math.max(step, 0));
      const problems = [...says.problems];
      if (address && hash.length > 1 && step < 0) {
        problems.push(`${hash} is not a step here; #${anchor}1 to #${anchor}${last + 1} are.`);
      }
      notes(box, problems);
    }
    addEventListener("hashchange", open);
    mark();
    open();
    if (says.autoplay) go("play");
  }

  /** What the query asks for; a value that is not allowed is named as a problem, never guessed. */
  function settings(speed) {
    const on = ["", "1", "true"], off = ["0", "false"];
    const allowed = {
      theme: ["light", "dark", "auto"],
      autoplay: [...on, ...off],
      speed: [...speed.options].map((option) => option.value),
      variant: [],
      view: ["cluster"],
      lang: [document.documentElement.lang],
    };
    const asked = {}, problems = [];
    for (const [name, value] of new URLSearchParams(location.search)) {
      if (!Object.hasOwn(allowed, name)) continue;
      if (allowed[name].includes(value)) asked[name] = value;
      else {
        const known = allowed[name].filter(Boolean).join(", ");
        const may = known ? `; ${name} may be ${known}` : "";
        problems.push(`${name}=${value} is not known here${may}.`);
      }
    }
    if (asked.theme && asked.theme !== "auto") document.documentElement.dataset.theme = asked.theme;
    if (asked.speed) speed.value = asked.speed;
    return { problems, autoplay: on.includes(asked.autoplay) };
  }

  /** Says in the player what the address asks for and does not get. */
  function notes(box, problems) {
    box.querySelector(".p-note")?.remove();
    if (!problems.length) return;
    const note = document.createElement("p");
    note.className = "p-note";
    note.textContent = problems.join(" ");
    box.querySelector(".p-in").prepend(note);
  }

  document.documentElement.classList.add("js");
  document.querySelectorAll(".player").forEach(player);
})();
