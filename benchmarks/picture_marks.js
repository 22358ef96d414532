// Notes when the page of a notebook does what around a traced cell, in ms since the epoch; read them with
// `pdlMarks.read()`. Each mark is the first since `pdlMarks.reset()`. It runs before the page's own code.
(() => {
  const now = () => performance.timeOrigin + performance.now();
  const offset = Date.now() - now();
  const marks = {};
  let bytes = 0;
  let before;
  const mark = (name) => { marks[name] ??= now() + offset; };
  window.pdlMarks = {
    reset() { for (const name of Object.keys(marks)) delete marks[name]; bytes = 0; },
    read: () => ({ ...marks }),
    bytes: () => bytes,
  };
  const text = new TextDecoder();
  const Socket = window.WebSocket;
  window.WebSocket = class extends Socket {
    constructor(...args) {
      super(...args);
      this.addEventListener("message", ({ data }) => {
        const size = data.byteLength ?? data.length;
        const head = typeof data === "string" ? data : text.decode(new Uint8Array(data));
        if (head.includes('"execute_reply"')) mark("reply");
        if (head.includes('"comm_open"') && head.includes("_esm")) { mark("comm"); bytes = size; }
        if (head.includes('"display_data"')) mark("display");
      });
    }
  };
  const painted = (name) => requestAnimationFrame(() => {
    // The message arrives after the frame to which this callback belongs.
    const channel = new MessageChannel();
    channel.port1.onmessage = () => mark(name);
    channel.port2.postMessage(0);
  });
  new MutationObserver(() => {
    const apps = document.querySelectorAll(".pdl-app");
    const app = apps[apps.length - 1];
    if (!app) return;
    if (!marks.drawn && (marks.comm || marks.pressed)
        && app.querySelector("canvas[data-in-view]:not([data-in-view='0'])")) {
      mark("drawn");
      painted("picture");
    }
    if (!marks.drawn && marks.comm && app.querySelector(".pdl-memory[data-state=ready]")) {
      mark("drawn");
      painted("picture");
    }
    if (marks.pressed && !marks.answered && app.querySelector('[aria-selected="true"]')
        && app.querySelector(".pdl-panel").textContent !== before) {
      mark("answered"); painted("shown");
    }
  }).observe(document, { subtree: true, childList: true, attributes: true });
  addEventListener("pointerdown", (event) => {
    marks.pressed ??= performance.timeOrigin + event.timeStamp + offset;
    before = document.querySelector(".pdl-panel")?.textContent;
  }, true);
})();
