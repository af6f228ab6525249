// Plays the steps of a scenario. Without it the links still work: the style sheet shows the step
// that the address names. It reads only its own page, takes no focus, scrolls nothing and asks
// nobody for anything. A page that frames it is told of steps and may steer, see `talk`.
(() => {
  "use strict";

  const SVG = "http://www.w3.org/2000/svg";
  // The way to the next step takes `usual` milliseconds when it is as long as the scenario's middle
  // one, and in proportion otherwise, within limits. What would pass in less than `seen` is not
  // drawn.
  const TRIP = { usual: 1800, least: 900, most: 3200, seen: 120 };
  // While playing, a step stays for as long as its words need.
  const READ = { word: 110, least: 1500, most: 6000 };
  const THEMES = ["light", "dark", "auto"];

  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const clamp = (value, least, most) => Math.min(Math.max(value, least), most);
  const clock = (ms) => `t = ${(ms / 1000).toFixed(3)} s`;
  const changed = (event) => event.ctrlKey || event.metaKey || event.altKey || event.shiftKey;

  /** Sets an attribute, or takes it away where there is no value. */
  function set(element, name, value) {
    if (value === null) element.removeAttribute(name);
    else element.setAttribute(name, value);
  }

  /** A new element with a class, before `next`. */
  function put(name, className, next) {
    const element = document.createElement(name);
    element.className = className;
    next.before(element);
    return element;
  }

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

  /** Draws `moves` along the rails of whichever of the box's pictures is visible at this width. */
  function carrier(box, moves, rails) {
    const pictures = [...box.querySelectorAll("svg")];
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

  /** Fills the panes of a walkthrough's player with copies of the pictures in its articles. */
  function borrow(box) {
    for (const pane of box.querySelectorAll(".pane")) {
      const [picture, sequence] = pane.querySelectorAll(".pic");
      const article = document.getElementById(box.dataset.anchor + pane.dataset.step);
      const copies = (of) => [...article.querySelectorAll(of)].map((svg) => svg.cloneNode(true));
      if (picture.firstChild) continue;
      picture.append(...copies(".pic > svg"));
      sequence.append(...copies(".seq svg"));
    }
  }

  /**
   * One run, or two side by side: its steps' panes and texts, and the ways between them. A pane
   * has a picture for each run; `data-at` is the run's time there.
   */
  function take(panes, runs) {
    const captions = panes.map((pane) => pane.querySelector(".cap"));
    const tracks = panes.map((pane, i) =>
      [...pane.querySelectorAll("[data-at]")].map((box) => ({
        box,
        at: Number(box.dataset.at),
        run: runs[box.dataset.run],
        clock: box.querySelector("time") ?? captions[i].querySelector("time"),
      })),
    );
    const legs = tracks.slice(1).map((next, i) => {
      const ways = next.map(({ at, run }, k) => leg(tracks[i][k].at, at, run.moves));
      return { ways, span: Math.max(...ways.map(({ span }) => span)) };
    });
    const spans = legs.map(({ span }) => span).sort((a, b) => a - b);
    return { panes, captions, tracks, legs, middle: spans[panes.length >> 1] || 1 };
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
    /** What is shown: "" for the main run, a variant's id, or that and " beside". */
    id = "";
    /** Called when a step or its being played changes. */
    tell = () => {};

    constructor(box) {
      this.box = box;
      this.anchor = box.dataset.anchor;
      this.strip = box.querySelector(".cells");
      this.speed = box.querySelector(".speed");
      this.variant = box.querySelector(".variant");
      this.sheet = box.querySelector(".sheet");

      borrow(box);
      const { runs } = JSON.parse(box.querySelector("script").textContent);
      this.takes = new Map([["", take([...box.querySelectorAll(".pane")], runs)]]);
      for (const { dataset, content } of box.querySelectorAll("template")) {
        this.takes.set(dataset.take, take([...content.querySelectorAll(".pane")], runs));
      }
      // One row of buttons stays for good, so that the focus has a place to stay.
      const [steer, ...others] = box.querySelectorAll(".steer");
      others.forEach((other) => other.remove());
      box.querySelector(".ctl").before(steer);
      this.button = steer.querySelector("button");
      this.links = {};
      for (const link of steer.querySelectorAll("a")) this.links[link.dataset.go] = link;
      // The texts stand in one live region, and the strip is one slider.
      this.words = put("div", "caps", steer);
      this.slider = put("input", "scrub", this.strip);
      Object.assign(this.slider, { type: "range", min: 1, step: 1, ariaLabel: "Step" });
      set(this.strip, "aria-hidden", "true");
      this.use("");
    }

    /** Shows another take, at the same step if it has that. */
    use(id) {
      const number = this.panes?.[this.now].dataset.step;
      this.rest();
      for (const pane of this.panes ?? []) pane.remove();
      this.id = id;
      Object.assign(this, this.takes.get(id));
      this.last = this.panes.length - 1;
      this.words.before(...this.panes);
      this.words.replaceChildren(...this.captions);
      this.slider.max = this.last + 1;
      const [first] = this.strip.children;
      this.strip.replaceChildren(...this.panes.map((pane, i) => this.cell(first, pane, i)));
      this.cells = [...this.strip.querySelectorAll("a")];
      if (this.variant) this.variant.value = id;
      this.show(Math.max(0, this.panes.findIndex(({ dataset }) => dataset.step === number)));
    }

    /** A cell of the strip. */
    cell(like, pane, i) {
      const item = like.cloneNode(true), link = item.firstChild, span = link.firstChild;
      const title = this.captions[i].querySelector("h2, h3").textContent;
      link.hash = this.anchor + pane.dataset.step;
      link.title = `Step ${i + 1} of ${this.last + 1}: ${title}`;
      set(link, "aria-label", link.title);
      set(link, "tabindex", "-1");
      span.textContent = pane.dataset.step;
      span.dataset.time = `${(this.tracks[i][0].at / 1000).toFixed(3)} s`;
      return item;
    }

    /** Makes everything on the page say where the player stands. */
    mark() {
      const { now, last, mode, done } = this, step = (i) => this.panes[i].dataset.step;
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
      this.slider.value = now + 1;
      set(this.slider, "aria-valuetext", this.cells[now].title);
      const begun = now === 0 && mode === "still" && done === 0;
      const targets = { first: 0, back: now - 1, next: now + 1, last };
      for (const [name, link] of Object.entries(this.links)) {
        const idle = name === "first" || name === "back" ? begun : now === last;
        link.hash = this.anchor + step(clamp(targets[name], 0, last));
        set(link, "aria-disabled", idle ? "true" : null);
      }
      const full = this.box.querySelector(".full"), own = this.own();
      if (full) [full.search, full.hash] = [own.search, own.hash];
      const { strip } = this, cell = this.cells[now].parentNode;
      if (strip.scrollWidth > strip.clientWidth) {
        strip.scrollLeft = cell.offsetLeft - (strip.clientWidth - cell.offsetWidth) / 2;
      }
      this.tell();
    }

    /** The address of what is shown: the player's own page at this step. */
    own() {
      const url = new URL(this.box.dataset.play, location.href);
      const [variant, beside] = this.id.split(" ");
      if (variant) url.searchParams.set("variant", variant);
      if (beside) url.searchParams.set("view", beside);
      url.hash = `step-${this.panes[this.now].dataset.step}`;
      return url;
    }

    /** Draws how far it has come, `done` of the way. */
    progress() {
      const { now, done } = this, { ways, span } = this.legs[now];
      this.tracks[now].forEach(({ at, clock: words }, k) => {
        const { shown, real, span: length } = ways[k];
        const time = length ? along(shown, real, done * length) : at;
        this.load?.[k].draw(time);
        words.textContent = clock(time);
      });
      const { style } = this.cells[now + 1].parentNode;
      style.setProperty("--done", `${span ? (100 * done).toFixed(1) : 0}%`);
    }

    halt() {
      clearTimeout(this.timer);
      cancelAnimationFrame(this.frame);
    }

    /** Leaves the way between two steps. */
    rest() {
      this.halt();
      this.done = 0;
      if (!this.load) return;
      this.load.forEach((each) => each.clear());
      this.load = null;
      this.panes[this.now].classList.remove("moving");
      this.progress();
    }

    /** Shows a step, at rest or as a stop while playing. */
    show(step, then = "still") {
      this.rest();
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
      const { now, mode } = this, { span } = this.legs[now];
      const arrive = () => this.show(now + 1, mode === "play" ? "play" : "still");
      if (calm.matches || !span) return arrive();
      const usual = clamp((TRIP.usual * span) / this.middle, TRIP.least, TRIP.most);
      const length = usual / this.speed.value / (mode === "step" ? 2 : 1);
      this.load ??= this.carry(length);
      const start = performance.now() - this.done * length;
      const move = () => {
        this.done = clamp((performance.now() - start) / length, 0, 1);
        if (this.done === 1) return arrive();
        this.progress();
        this.frame = requestAnimationFrame(move);
      };
      move();
    }

    /** Makes the marks that are seen when the way takes `length` milliseconds. */
    carry(length) {
      const { now } = this, { ways } = this.legs[now];
      this.panes[now].classList.add("moving");
      return this.tracks[now].map(({ box, run }, k) => {
        const { here, real, shown, span } = ways[k];
        const at = (time) => along(real, shown, time);
        const lasts = ([, , sent, arrives]) => ((at(arrives) - at(sent)) / span) * length;
        return carrier(box, span ? here.filter((one) => lasts(one) >= TRIP.seen) : [], run.rails);
      });
    }

    /** Shows the run at a time in milliseconds, which may lie between two steps. */
    seek(time) {
      const at = (step) => this.tracks[step][0].at;
      let step = 0;
      while (step < this.last && at(step + 1) <= time) step += 1;
      this.show(step);
      if (step === this.last || time <= at(step)) return;
      const { real, shown, span } = this.legs[step].ways[0];
      this.done = along(real, shown, time) / span;
      this.load = this.carry(Infinity);
      this.progress();
    }

    go(how) {
      this.halt();
      this.mode = how;
      this.mark();
      this.travel();
    }

    first() {
      this.show(0);
    }

    back() {
      this.show(this.done > 0 ? this.now : this.now - 1);
    }

    /** One step further; asked again on the way there, it does not wait for the arrival. */
    next() {
      const asked = this.mode === "step", begun = asked || this.done > 0;
      if (begun) this.show(this.now + 1);
      if ((asked || !begun) && this.now < this.last) this.go("step");
    }

    end() {
      this.show(this.last);
    }

    play() {
      if (this.mode === "play") return;
      if (this.now === this.last) this.show(0);
      this.go("play");
    }

    pause() {
      this.halt();
      this.mode = "still";
      this.mark();
    }

    toggle() {
      if (this.mode === "play") this.pause();
      else this.play();
    }

    /** Shows or hides the sheet with the link to this step and the keys. */
    ask() {
      const { sheet } = this, link = sheet.querySelector("input");
      if (sheet.open) return sheet.close();
      link.value = this.own();
      sheet.show();
      link.select();
    }

    async copy(button) {
      const link = this.sheet.querySelector("input");
      link.select();
      // A frame may not; the link is selected then.
      const done = await navigator.clipboard?.writeText(link.value).then(() => true, () => false);
      button.textContent = done ? "Copied" : "Press Ctrl+C";
      setTimeout(() => (button.textContent = "Copy"), 2000);
    }

    /** Keys and clicks; keys only come here while the focus is inside. */
    listen() {
      const actions = { first: "first", back: "back", next: "next", last: "end" };
      const keys = {
        Home: "first", ArrowLeft: "back", " ": "toggle", ArrowRight: "next", End: "end",
      };
      this.box.addEventListener("click", (event) => {
        const part = event.target.closest("a, button"), step = this.cells.indexOf(part);
        const does = { ...part?.dataset }.do;
        const act = part === this.button ? "toggle" : actions[part?.dataset.go] ?? does;
        if ((!act && step < 0) || changed(event)) return;
        event.preventDefault();
        if (act) this[act](part);
        else this.show(step);
      });
      this.box.addEventListener("keydown", (event) => {
        if (event.key === "Escape" && this.sheet.open) return this.ask();
        const { target } = event, within = (own) => target.closest(own);
        if (event.key === "?" && !within("[readonly]")) return this.ask();
        const own = `select, [readonly]${event.key === " " ? ", button, summary, .view" : ""}`;
        const act = keys[event.key];
        if (!act || changed(event) || within(own)) return;
        event.preventDefault();
        this[act]();
      });
      this.sheet.addEventListener("close", () => this.box.querySelector(".share").focus());
      this.slider.addEventListener("input", () => this.show(this.slider.value - 1));
      // The preview's own way to look between the steps.
      this.box.addEventListener("seek", ({ detail }) => this.seek(detail));
      this.variant?.addEventListener("change", () => this.use(this.variant.value));
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
        if (step >= 0 && step !== this.now) this.show(step);
      });
    }

    /** The place of the step that a text names, or -1. */
    find(step) {
      return this.panes.findIndex(({ dataset }) => dataset.step === `${step}`);
    }

    /** Opens at the step that the address names, and again when that changes. */
    open() {
      const owns = this.box.hasAttribute("data-address"), { anchor } = this;
      const asked = owns ? settings(this) : { problems: [] };
      const look = () => {
        const hash = location.hash || (asked.step ? `#${anchor}${asked.step}` : "");
        const named = hash.startsWith(`#${anchor}`);
        const step = named ? this.find(hash.slice(anchor.length + 1)) : -1;
        if (step >= 0 || owns) this.show(Math.max(step, 0));
        const problems = [...asked.problems];
        if (owns && hash.length > 1 && step < 0) {
          const [from, to] = [this.panes[0], this.panes[this.last]].map((it) => it.dataset.step);
          problems.push(`${hash} is not a step here; #${anchor}${from} to #${anchor}${to} are.`);
        }
        notes(this.box, problems);
      };
      addEventListener("hashchange", look);
      look();
      if (asked.autoplay) this.play();
    }
  }

  function paint(theme) {
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
  }

  /** What the query asks for; a value that is not allowed is named as a problem, never guessed. */
  function settings(player) {
    const { box, speed, takes } = player, on = ["", "1", "true"], off = ["0", "false"];
    const views = { sequence: box.querySelector(".view input") };
    const variant = new URLSearchParams(location.search).get("variant");
    const allowed = {
      theme: THEMES,
      autoplay: [...on, ...off],
      speed: [...speed.options].map((option) => option.value),
      controls: [...on, ...off],
      variant: [...takes.keys()].filter((id) => !id.includes(" ")),
      view: ["cluster", ...Object.keys(views).filter((view) => views[view])],
      lang: [document.documentElement.lang],
    };
    if (takes.has(`${variant} beside`)) allowed.view.push("beside");
    const asked = {}, problems = [];
    const query = new URLSearchParams(location.search);
    for (const [name, value] of query) {
      if (!Object.hasOwn(allowed, name)) continue;
      if (allowed[name].includes(value)) asked[name] = value;
      else {
        const known = allowed[name].filter(Boolean).join(", ");
        const may = known ? `; ${name} may be ${known}` : "";
        problems.push(`${name}=${value} is not known here${may}.`);
      }
    }
    if (asked.theme) paint(asked.theme);
    if (asked.speed) speed.value = asked.speed;
    if (asked.view === "sequence") views.sequence.checked = true;
    if (asked.variant) player.use(asked.variant + (asked.view === "beside" ? " beside" : ""));
    box.classList.toggle("bare", off.includes(asked.controls));
    return { problems, step: query.get("step"), autoplay: on.includes(asked.autoplay) };
  }

  /** Says in the player what the address asks for and does not get. */
  function notes(box, problems) {
    box.querySelector(".p-note")?.remove();
    if (!problems.length) return;
    const note = put("p", "p-note", box.querySelector(".p-in").firstChild);
    note.textContent = problems.join(" ");
  }

  document.documentElement.classList.add("js");
  for (const box of document.querySelectorAll(".player")) {
    const player = new Player(box);
    player.listen();
    player.scrub();
    player.open();
    if (box.hasAttribute("data-framed") && parent !== window) talk(player);
  }

  /**
   * The interface to the page that frames the player, version 1; content/embedding.md describes it.
   * Only that page is listened to, and only to these commands.
   */
  function talk(player) {
    const root = document.documentElement, version = { kafkaSim: 1 };
    const send = (event, more) => parent.postMessage({ ...version, event, ...more }, "*");
    const state = () => {
      const { now, last, panes, id, mode, captions, tracks } = player;
      return {
        step: Number(panes[now].dataset.step),
        of: last + 1,
        title: captions[now].querySelector("h2, h3").textContent,
        timeMs: tracks[now][0].at,
        variant: id,
        playing: mode === "play",
      };
    };
    let said = "";
    player.tell = () => {
      const what = state(), text = JSON.stringify(what);
      if (text !== said) send("step", what);
      said = text;
    };
    const height = () => send("height", { height: Math.ceil(player.box.getBoundingClientRect().height) });
    const commands = {
      play: () => player.play(),
      pause: () => player.pause(),
      goto: ({ step }) => player.find(step) < 0 || player.show(player.find(step)),
      variant: ({ variant }) => player.takes.has(variant) && player.use(variant),
      theme: ({ theme }) => THEMES.includes(theme) && paint(theme),
      fit: () => {
        if (root.classList.contains("fit")) return height();
        root.classList.add("fit");
        new ResizeObserver(height).observe(player.box);
      },
    };
    addEventListener("message", ({ source, data }) => {
      if (source !== parent || data?.kafkaSim !== 1) return;
      if (Object.hasOwn(commands, data.command)) commands[data.command](data);
    });
    send("ready", state());
  }
})();
