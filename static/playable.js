
// The buttons of a picture that plays: its own animation is stopped, started and set to a step.
const svg = document.documentElement, starts = [/*steps*/];
let playing = false;
const now = () => {
  const ms = svg.getCurrentTime() * 1000;
  return starts.findLastIndex((start) => start <= ms + 1);
};
const go = (step) => {
  const start = starts[Math.min(Math.max(step, 0), starts.length - 1)];
  svg.setCurrentTime(start / 1000 + 0.001);
};
const does = {
  back: () => go(now() - 1),
  next: () => go(now() + 1),
  play: () => {
    playing = !playing;
    if (playing) svg.unpauseAnimations();
    else svg.pauseAnimations();
  },
};
const keys = { ArrowLeft: "back", ArrowRight: "next", " ": "play", Enter: "play" };
for (const name in does) document.getElementById(name).addEventListener("click", does[name]);
svg.addEventListener("keydown", (event) => {
  const focused = event.key.length > 1 && event.key !== "Enter" ? "" : event.target.id;
  const name = focused || keys[event.key];
  if (!does[name]) return;
  event.preventDefault();
  does[name]();
});
svg.pauseAnimations();
svg.setCurrentTime(0);
