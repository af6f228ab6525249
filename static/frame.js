// Makes frames with players as high as what they show. For the page that has the frames.
(() => {
  const site = new URL("..", document.currentScript.src).href;
  const frames = () => [...document.querySelectorAll("iframe")].filter(({ src }) => src.startsWith(site));
  const ask = ({ contentWindow }) => contentWindow.postMessage({ kafkaSim: 1, command: "fit" }, "*");
  addEventListener("message", ({ source, data }) => {
    const frame = data?.kafkaSim === 1 && frames().find((one) => one.contentWindow === source);
    if (!frame) return;
    if (data.event === "ready") ask(frame);
    if (data.event === "height") frame.style.height = `${Math.min(Number(data.height), 4000)}px`;
  });
  frames().forEach(ask);
})();
