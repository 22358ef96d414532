/** The controls around the chart: state, values, switches, messages. */
import { button, element } from "../dom/element.ts";
import { svgElement } from "../dom/svg_element.ts";
import { t } from "../words/live.ts";
import { formatBytes } from "../words/quantities.ts";
import { joined } from "../words/say.ts";
import type { Line, Panel } from "./counters/lines.ts";
import type { Counter } from "./counters/messages.ts";

const SPANS = [
  ["span.30s", 30_000],
  ["span.2min", 120_000],
  ["span.1h", 3_600_000],
  ["span.all", Number.POSITIVE_INFINITY],
] as const;
const ANSWER_MS = 8000;

export interface ControlsOptions {
  readonly height_px: number;
  readonly has_free: boolean;
  readonly onSpan: (span_ms: number) => void;
  readonly onDevice: (device: string) => void;
  readonly onFollow: () => void;
  readonly onToggle: (counter: number) => void;
  readonly onMove: (by: number, zoom: number) => void;
  readonly onPoint: (client_x: number | undefined) => void;
  readonly onStop: () => void;
  readonly onFree: () => void;
}

/** Whether the chart is live, silent or stopped, and the text that says so. */
export interface ChartState {
  readonly kind: "live" | "silent" | "stopped";
  readonly text: string;
}

export interface Controls {
  readonly root: HTMLElement;
  readonly chart: HTMLElement;
  showState(state: ChartState): void;
  showLines(panels: readonly Panel[]): void;
  showValues(
    values: readonly number[],
    counters: readonly Counter[],
    hidden: ReadonlySet<number>,
  ): void;
  showRunning(what: { clock: string; cell: string; layer: string }): void;
  showDevices(devices: readonly string[], device: string): void;
  showAbsences(sentences: readonly string[]): void;
  showFollowing(is_following: boolean): void;
  showGaps(has_gaps: boolean): void;
  /** Show an answer of the kernel for a short time. */
  say(sentence: string): void;
}

export function makeControls(el: HTMLElement, options: ControlsOptions): Controls {
  const state = element("span", { class: "pdl-live-state", role: "status" });
  const running = element("span", { class: "pdl-live-running" });
  const device = element("select", {
    class: "pdl-button",
    "aria-label": t("device"),
    hidden: true,
    onchange: () => options.onDevice(device.value),
  });
  const spans = SPANS.map(([key, span_ms], index) =>
    button(
      t(key),
      () => {
        for (const [other, each] of spans.entries()) {
          each.setAttribute("aria-pressed", String(other === index));
        }
        options.onSpan(span_ms);
      },
      { class: "", title: t(`${key}_title`), "aria-pressed": index === 0 ? "true" : "false" },
    ),
  );
  const follow = button(t("follow"), options.onFollow, {
    title: t("follow_title"),
    hidden: true,
  });
  const free = button(t("free"), options.onFree, {
    title: t("free_title"),
    hidden: !options.has_free,
  });
  const stop = button(t("stop"), options.onStop, { title: t("stop_title") });
  const values = element("div", { class: "pdl-live-values" });
  const gaps = element(
    "p",
    { class: "pdl-live-gaps", hidden: true },
    element("i", { "aria-hidden": "true" }),
    t("gaps"),
  );
  const chart = element("div", {
    class: "pdl-live-chart",
    role: "img",
    tabindex: 0,
    "aria-label": t("chart"),
    style: `min-height: ${options.height_px}px`,
    onpointermove: (event: PointerEvent) => options.onPoint(event.clientX),
    onpointerleave: () => options.onPoint(undefined),
    onkeydown: (event: KeyboardEvent) => onKey(event, options),
    ondblclick: options.onFollow,
  });
  const answer = element("p", { class: "pdl-live-answer", role: "status", hidden: true });
  const absent = element("p", { class: "pdl-live-absent", hidden: true });
  const root = element(
    "section",
    { class: "pdl-app pdl-live", "aria-label": t("label") },
    element(
      "header",
      { class: "pdl-live-head" },
      element("strong", {}, t("memory")),
      state,
      running,
      element(
        "span",
        { class: "pdl-live-buttons" },
        follow,
        device,
        element(
          "span",
          { class: "pdl-segments", role: "group", "aria-label": t("span") },
          ...spans,
        ),
        free,
        stop,
      ),
    ),
    values,
    chart,
    gaps,
    answer,
    absent,
  );
  el.replaceChildren(root);

  let items: { line: Line; item: HTMLButtonElement; value: HTMLElement }[] = [];
  const itemOf = (line: Line): HTMLElement => {
    const value = element("output", {});
    const item = element(
      "button",
      {
        type: "button",
        title: line.meaning,
        "aria-pressed": "true",
        onclick: () => options.onToggle(line.counter),
      },
      swatch(line),
      element("span", {}, line.label),
      value,
    );
    items.push({ line, item, value });
    return item;
  };
  let answered: ReturnType<typeof setTimeout> | undefined;
  return {
    root,
    chart,
    showState({ kind, text }) {
      root.dataset.state = kind;
      if (state.textContent !== text) state.textContent = text;
      stop.hidden = kind === "stopped";
    },
    showLines(panels) {
      items = [];
      const rows = panels.map(({ name, lines }) => {
        const list = lines.map((line) => element("li", {}, itemOf(line)));
        return element("ul", { "aria-label": name }, element("li", {}, name), ...list);
      });
      values.replaceChildren(...rows);
    },
    showGaps(has_gaps) {
      // Once shown, this stays. Otherwise the content below would move when a gap scrolls out of
      // view.
      if (has_gaps) gaps.hidden = false;
    },
    showValues(newest, counters, hidden) {
      for (const { line, item, value } of items) {
        const counter = counters[line.counter];
        value.textContent = counter ? valueText(newest[line.counter], counter) : "";
        item.setAttribute("aria-pressed", String(!hidden.has(line.counter)));
      }
    },
    showRunning({ clock, cell, layer }) {
      const text = [clock, cell && t("cell", { cell }), layer].filter(Boolean).join(" · ");
      if (running.textContent !== text) running.textContent = text;
    },
    showDevices(devices, chosen) {
      device.replaceChildren(...devices.map((name) => element("option", { value: name }, name)));
      device.value = chosen;
      device.hidden = devices.length < 2;
    },
    showAbsences(sentences) {
      absent.textContent = joined(sentences);
      absent.hidden = sentences.length === 0;
    },
    showFollowing(is_following) {
      follow.hidden = is_following;
    },
    say(sentence) {
      clearTimeout(answered);
      answer.textContent = sentence;
      answer.hidden = false;
      answered = setTimeout(() => {
        answer.hidden = true;
      }, ANSWER_MS);
    },
  };
}

function onKey(event: KeyboardEvent, { onMove, onFollow }: ControlsOptions): void {
  const moves: Record<string, () => void> = {
    ArrowLeft: () => onMove(-0.2, 1),
    ArrowRight: () => onMove(0.2, 1),
    "+": () => onMove(0, 0.5),
    "-": () => onMove(0, 2),
    End: onFollow,
  };
  const move = moves[event.key];
  if (move === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
  // Do not let the key reach the notebook, which has its own shortcuts.
  event.preventDefault();
  event.stopPropagation();
  move();
}

function valueText(value: number | undefined, { unit, limit }: Counter): string {
  if (value === undefined || Number.isNaN(value)) return "–";
  if (unit === "percent") return `${value} %`;
  return limit > 0
    ? t("of_limit", { size: formatBytes(value), limit: formatBytes(limit) })
    : formatBytes(value);
}

/** A sample of the line, as it is drawn. */
function swatch({ colour, dash, is_filled }: Line): SVGSVGElement {
  const stroke = `var(--pdl-${colour})`;
  const area = svgElement("path", { d: "M0 5h22v5h-22z" });
  area.style.cssText = `fill: ${stroke}; opacity: 0.25`;
  const line = svgElement("path", { d: "M0 5h22", "stroke-dasharray": dash.join(" ") });
  line.style.cssText = `stroke: ${stroke}; stroke-width: 2`;
  const attributes = { viewBox: "0 0 22 10", "aria-hidden": "true" };
  return svgElement("svg", attributes, is_filled && area, line);
}
