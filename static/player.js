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

  const changed = (event) => event.ctrlKey || event.metaKey || event.altKey || event.shiftKey;

  /** Sets an attribute, or takes it away where there is no value. */
  function set(element, name, value) {
    if (value === null) element.removeAttribute(name);
    else element.setAttribute(name, value);
  }

  class Player {
    /** The step shown, from 0, and how much of the way to the next one is done. */
    now = 0;
    done = 0;
    /** "still", "step" (on the way to the next step, as asked) or "play". */
    mode = "still";
    timer = 0;
    frame = 0;
    load = null;

    constructor(box) {
      this.box = box;
      this.anchor = box.dataset.anchor;
      this.panes = [...box.querySelectorAll(".pane")];
      this.captions = this.panes.map((pane) => pane.querySelector(".cap"));
      this.strip = box.querySelector(".cells");
      this.cells = [...this.strip.querySelectorAll("a")];
      this.speed = box.querySelector(".speed");
      this.last = this.panes.length - 1;

      const { times, moves, rails } = JSON.parse(box.querySelector("script").textContent);
      this.times = times;
      this.rails = rails;
      this.legs = times.slice(1).map((time, i) => leg(times[i], time, moves));
      const spans = this.legs.map(({ span }) => span).sort((a, b) => a - b);
      this.middle = spans[this.last >> 1] || 1;

      // One row of buttons stays for good, so that the focus has a place to stay.
      const [steer, ...others] = box.querySelectorAll(".steer");
      others.forEach((other) => other.remove());
      this.panes[this.last].after(steer);
      this.button = steer.querySelector("button");
      this.links = {};
      for (const link of steer.querySelectorAll("a")) this.links[link.dataset.go] = link;
      // The texts stand in one live region.
      this.words = document.createElement("div");
      this.words.className = "caps";
      this.words.append(...this.captions);
      box.querySelector(".p-in").append(this.words);
    }

    /** Makes everything on the page say where the player stands. */
    mark() {
      const { now, last, mode, done } = this;
      set(this.words, "aria-live", mode === "still" ? "polite" : "off");
      this.box.classList.toggle("playing", mode === "play");
      set(this.button, "aria-label", mode === "play" ? "Pause" : "Play");
      for (const parts of [this.panes, this.captions]) {
        parts.forEach((part, i) => part.classList.toggle("now", i === now));
      }
      this.cells.forEach((cell, i) => {
        cell.parentNode.className = i < now ? "past" : "";
        set(cell, "aria-current", i === now ? "step" : null);
      });
      const begun = now === 0 && mode === "still" && done === 0;
      const targets = { first: 0, back: now - 1, next: now + 1, last };
      for (const [name, link] of Object.entries(this.links)) {
        const idle = name === "first" || name === "back" ? begun : now === last;
        link.hash = this.anchor + (clamp(targets[name], 0, last) + 1);
        set(link, "aria-disabled", idle ? "true" : null);
      }
      const { strip } = this, cell = this.cells[now].parentNode;
      if (strip.scrollWidth > strip.clientWidth) {
        strip.scrollLeft = cell.offsetLeft - (strip.clientWidth - cell.offsetWidth) / 2;
      }
    }

    /** Shows how far it has come: `done` of the way, at `time` of the simulation. */
    progress(time) {
      const { now, done } = this;
      this.captions[now].querySelector("time").textContent = clock(time);
      const { style } = this.cells[now + 1].parentNode;
      style.setProperty("--done", `${(100 * done).toFixed(1)}%`);
    }

    halt() {
      clearTimeout(this.timer);
      cancelAnimationFrame(this.frame);
    }

    /** Shows a step, at rest or as a stop while playing. */
    show(step, then) {
      this.halt();
      this.done = 0;
      if (this.load) {
        this.load.clear();
        this.load = null;
        this.panes[this.now].classList.remove("moving");
        this.progress(this.times[this.now]);
      }
      this.now = clamp(step, 0, this.last);
      this.mode = this.now === this.last ? "still" : then;
      this.mark();
      if (this.mode === "play") {
        const count = this.captions[this.now].textContent.split(/\s+/).length;
        const rest = clamp(count * READ.word, READ.least, READ.most);
        this.timer = setTimeout(() => this.travel(), rest / this.speed.value);
      }
    }

    /** Goes on to the next step from where it stands. */
    travel() {
      const { now, mode } = this, { here, real, shown, span } = this.legs[now];
      const arrive = () => this.show(now + 1, mode === "play" ? "play" : "still");
      if (calm.matches || !span) return arrive();
      const usual = clamp((TRIP.usual * span) / this.middle, TRIP.least, TRIP.most);
      const length = usual / this.speed.value / (mode === "step" ? 2 : 1);
      const at = (time) => along(real, shown, time);
      const lasts = ([, , sent, arrives]) => at(arrives) - at(sent);
      const seen = here.filter((move) => (lasts(move) / span) * length >= TRIP.seen);
      this.load ??= carrier(this.panes[now], seen, this.rails);
      this.panes[now].classList.add("moving");
      const start = performance.now() - this.done * length;
      const move = () => {
        this.done = clamp((performance.now() - start) / length, 0, 1);
        if (this.done === 1) return arrive();
        const time = along(shown, real, this.done * span);
        this.load.draw(time);
        this.progress(time);
        this.frame = requestAnimationFrame(move);
      };
      move();
    }

    go(how) {
      this.halt();
      this.mode = how;
      this.mark();
      this.travel();
    }

    jump(step) {
      this.show(step, "still");
    }

    first() {
      this.jump(0);
    }

    back() {
      this.jump(this.done > 0 ? this.now : this.now - 1);
    }

    /** One step further; asked again on the way there, it does not wait for the arrival. */
    next() {
      const asked = this.mode === "step", begun = asked || this.done > 0;
      if (begun) this.jump(this.now + 1);
      if ((asked || !begun) && this.now < this.last) this.go("step");
    }

    end() {
      this.jump(this.last);
    }

    toggle() {
      if (this.mode === "play") {
        this.halt();
        this.mode = "still";
        return this.mark();
      }
      if (this.now === this.last) this.jump(0);
      this.go("play");
    }

    /** Keys and clicks; keys only come here while the focus is inside. */
    listen() {
      const actions = { first: "first", back: "back", next: "next", last: "end" };
      const keys = {
        Home: "first", ArrowLeft: "back", " ": "toggle", ArrowRight: "next", End: "end",
      };
      this.box.addEventListener("click", (event) => {
        const part = event.target.closest("a, button"), step = this.cells.indexOf(part);
        const act = part === this.button ? "toggle" : actions[part?.dataset.go];
        if ((!act && step < 0) || changed(event)) return;
        event.preventDefault();
        if (act) this[act]();
        else this.jump(step);
      });
      this.box.addEventListener("keydown", (event) => {
        const own = event.key === " " ? "select, button, summary" : "select";
        const act = keys[event.key];
        if (!act || changed(event) || event.target.closest(own)) return;
        event.preventDefault();
        this[act]();
      });
    }

    /** The strip follows a pointer that was pressed on it. */
    scrub() {
      let pressed = false;
      this.strip.addEventListener("dragstart", (event) => event.preventDefault());
      this.strip.addEventListener("pointerdown", () => (pressed = true));
      for (const over of ["pointerup", "pointercancel"]) {
        addEventListener(over, () => (pressed = false));
      }
      this.strip.addEventListener("pointermove", ({ clientX, clientY }) => {
        const over = pressed && document.elementFromPoint(clientX, clientY)?.closest("a");
        const step = this.cells.indexOf(over);
        if (step >= 0 && step !== this.now) this.jump(step);
      });
    }

    /** Opens at the step that the address names, and again when that changes. */
    open() {
      const owns = this.box.hasAttribute("data-address"), { anchor, last } = this;
      const asked = owns ? settings(this) : { problems: [] };
      const look = () => {
        const hash = location.hash || (asked.step ? `#${anchor}${asked.step}` : "");
        const step = this.panes.findIndex((_, i) => hash === `#${anchor}${i + 1}`);
        if (step >= 0 || owns) this.jump(Math.max(step, 0));
        const problems = [...asked.problems];
        if (owns && hash.length > 1 && step < 0) {
          problems.push(`${hash} is not a step here; #${anchor}1 to #${anchor}${last + 1} are.`);
        }
        notes(this.box, problems);
      };
      addEventListener("hashchange", look);
      this.mark();
      look();
      if (asked.autoplay) this.go("play");
    }
  }

  /** What the query asks for; a value that is not allowed is named as a problem, never guessed. */
  function settings({ box, speed }) {
    const on = ["", "1", "true"], off = ["0", "false"];
    const allowed = {
      theme: ["light", "dark", "auto"],
      autoplay: [...on, ...off],
      speed: [...speed.options].map((option) => option.value),
      controls: on,
      variant: [],
      view: ["cluster", "sequence"],
      lang: [document.documentElement.lang],
    };
    const asked = {}, problems = [];
    const query = new URLSearchParams(location.search);
    for (const [name, value] of query) {
      if (!Object.hasOwn(allowed, name)) continue;
      if (allowed[name].includes(value)) asked[name] = value;
      else if (name === "variant" && (box.dataset.variants ?? "").split(" ").includes(value)) {
        problems.push(`variant=${value} cannot be selected in the player yet.`);
      } else {
        const known = allowed[name].filter(Boolean).join(", ");
        const may = known ? `; ${name} may be ${known}` : "";
        problems.push(`${name}=${value} is not known here${may}.`);
      }
    }
    if (asked.theme && asked.theme !== "auto") document.documentElement.dataset.theme = asked.theme;
    if (asked.speed) speed.value = asked.speed;
    if (asked.view) box.querySelector(".view input").checked = asked.view === "sequence";
    return { problems, step: query.get("step"), autoplay: on.includes(asked.autoplay) };
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
  for (const box of document.querySelectorAll(".player")) {
    const player = new Player(box);
    player.listen();
    player.scrub();
    player.open();
  }
})();
