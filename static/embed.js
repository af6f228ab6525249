// The form beside the snippets of a walkthrough: step, variant, colours and height become part of
// every snippet. The snippets come with the page; only what is chosen is put into them.
(() => {
  "use strict";
  const form = document.querySelector(".build");
  if (!form) return;
  const texts = [...document.querySelectorAll("#embed pre")];
  const plain = texts.map((pre) => pre.textContent);
  const { height: usual } = form.dataset;

  function build() {
    const { step, variant, theme, height } = Object.fromEntries(new FormData(form));
    const theirs = variant ? `variant=${variant}`.split("&") : [];
    const query = theme ? [...theirs, `theme=${theme}`] : theirs;
    const hash = step && `#step-${step}`;
    const address = (query.length ? `?${query.join("&amp;")}` : "") + hash;
    const picture = step ? `step-${step}.svg` : "play.svg";
    texts.forEach((pre, i) => {
      pre.textContent = plain[i]
        .replace(/(embed\/[^/"]+\/)"/, (_, path) => `${path}${address}"`)
        .replace(/(scenarios\/[^/"()]+\/)(["\)])/g, (_, path, end) => path + hash + end)
        .replaceAll("/play.svg", `/${picture}`)
        .replace(`height="${usual}"`, `height="${height || usual}"`);
    });
  }

  form.hidden = false;
  form.addEventListener("input", build);
  form.addEventListener("submit", (event) => event.preventDefault());
})();
