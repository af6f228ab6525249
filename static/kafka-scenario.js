// <kafka-scenario src="…/embed/SLUG/" step="3" variant="…" theme="dark">: a player in a frame as
// high as what it shows. For the page that has the element; what stands inside it is shown where
// this script is not. Fires "step" with the player's state as `detail`; play(), pause() and
// goTo(step) steer.
(() => {
  const ATTRIBUTES = ["src", "step", "variant", "theme"];
  const COMMANDS = {
    step: (step) => ({ command: "goto", step: Number(step) }),
    variant: (variant) => ({ command: "variant", variant: variant ?? "" }),
    theme: (theme) => ({ command: "theme", theme: theme ?? "auto" }),
  };

  class KafkaScenario extends HTMLElement {
    static observedAttributes = ATTRIBUTES;
    #frame = null;
    #hear = (event) => this.#heard(event);

    connectedCallback() {
      const url = new URL(this.getAttribute("src") ?? "", document.baseURI);
      if (!url.protocol.startsWith("http") && url.protocol !== "file:") return;
      for (const name of ["variant", "theme"]) {
        if (this.hasAttribute(name)) url.searchParams.set(name, this.getAttribute(name));
      }
      if (this.hasAttribute("step")) url.hash = `step-${this.getAttribute("step")}`;
      const frame = document.createElement("iframe");
      frame.title = this.getAttribute("title") ?? (this.textContent.trim() || "Kafka scenario");
      frame.loading = "lazy";
      frame.setAttribute("sandbox", "allow-scripts allow-popups allow-popups-to-escape-sandbox");
      frame.allow = "clipboard-write";
      Object.assign(frame.style, { width: "100%", height: "840px", border: 0, display: "block" });
      frame.src = url;
      this.style.display = "block";
      const root = this.shadowRoot ?? this.attachShadow({ mode: "open" });
      root.replaceChildren(frame);
      this.#frame = frame;
      addEventListener("message", this.#hear);
    }

    disconnectedCallback() {
      removeEventListener("message", this.#hear);
      this.#frame = null;
    }

    attributeChangedCallback(name, before, after) {
      if (!this.#frame || before === after) return;
      if (name === "src") {
        this.disconnectedCallback();
        this.connectedCallback();
      } else this.#say(COMMANDS[name](after));
    }

    #heard({ source, data }) {
      if (source !== this.#frame?.contentWindow || data?.kafkaSim !== 1) return;
      const { event, kafkaSim, ...detail } = data;
      if (event === "ready") this.#say({ command: "fit" });
      if (event === "height") this.#frame.style.height = `${Math.min(detail.height, 4000)}px`;
      else this.dispatchEvent(new CustomEvent(event, { detail }));
    }

    #say(command) {
      this.#frame?.contentWindow?.postMessage({ kafkaSim: 1, ...command }, "*");
    }

    play() {
      this.#say({ command: "play" });
    }

    pause() {
      this.#say({ command: "pause" });
    }

    goTo(step) {
      this.#say({ command: "goto", step });
    }
  }

  if (!customElements.get("kafka-scenario")) customElements.define("kafka-scenario", KafkaScenario);
})();
