/** The export menu: the picture as SVG and PNG, the ops as text. */
import type { Store } from "../model/store.ts";
import { copyText } from "./clipboard.ts";
import { button, element } from "./element.ts";
import { Emphasis } from "./emphasis.ts";
import { exportPng, exportSvg, type PictureStyle } from "./export_picture.ts";
import { opList } from "./export_text.ts";
import { keepInside } from "./floating.ts";
import { TextMeasure } from "./measure.ts";
import type { Scene } from "./scene.ts";
import { readTheme } from "./theme.ts";

/**
 * @param root a `.pdl-menu` element inside the app
 * @param getScene what the canvas shows now
 * @returns what takes the menu down
 */
export function mountExportMenu(
  root: HTMLElement,
  store: Store,
  getScene: () => Scene,
): () => void {
  const { trace } = store;
  const toggle = button("Export", () => show(!!list.hidden), {
    "aria-haspopup": "menu",
    "aria-expanded": "false",
  });
  const said = element("span", { class: "pdl-visually-hidden", role: "status" });
  const list = element(
    "div",
    { class: "pdl-float", role: "menu", "aria-label": "Export", hidden: true },
    item("Save as SVG", "vector", () => save(svg(), "image/svg+xml", "svg")),
    item("Save as PNG", "2×", async () => save(await png(), "image/png", "png")),
    canCopyImages() && item("Copy as PNG", "", copyPng),
    element("div", { role: "separator" }),
    item("Copy ops as text", "", () => copyText(opText(), root).then(refuseUnless)),
    item("Save ops as text", "", () => save(opText(), "text/plain", "txt")),
  );
  root.append(toggle, list, said);
  root.addEventListener("keydown", press);
  root.addEventListener("focusout", leave);

  function item(label: string, note: string, act: () => unknown): HTMLElement {
    return button(
      label,
      () => run(label, act),
      { class: undefined, role: "menuitem", tabindex: "-1" },
      note,
    );
  }

  async function run(label: string, act: () => unknown): Promise<void> {
    show(false);
    toggle.focus();
    try {
      await act();
      say(`${label.replace(/^Save/, "Saved").replace(/^Copy/, "Copied")}`);
    } catch (error) {
      say(`Not done: ${error instanceof Error ? error.message : error}`);
    }
  }

  /** For a moment on the button, and to screen readers. */
  function say(text: string): void {
    said.textContent = text;
    toggle.textContent = text.startsWith("Not") ? "Not done" : "Done";
    toggle.title = text;
    setTimeout(() => {
      toggle.textContent = "Export";
    }, 1600);
  }

  function show(isShown: boolean): void {
    list.hidden = !isShown;
    toggle.setAttribute("aria-expanded", String(isShown));
    if (!isShown) return;
    keepInside(list);
    list.querySelector<HTMLElement>("button")?.focus();
  }

  function press(event: KeyboardEvent): void {
    if (list.hidden) return;
    const items = [...list.querySelectorAll<HTMLElement>("button")];
    const at = items.indexOf(document.activeElement as HTMLElement);
    const to = {
      ArrowDown: at + 1,
      ArrowUp: at - 1 + items.length,
      Home: 0,
      End: items.length - 1,
    }[event.key];
    if (to !== undefined) items[to % items.length]!.focus();
    else if (event.key === "Escape") {
      show(false);
      toggle.focus();
    } else if (event.key !== "Enter" && event.key !== " ") return;
    else {
      event.stopPropagation();
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  function leave(event: FocusEvent): void {
    if (!root.contains(event.relatedTarget as Node | null)) show(false);
  }

  /** As seen: in the page's colours, with what is lit. */
  function style(): PictureStyle {
    const theme = readTheme(root.closest<HTMLElement>(".pdl-app") ?? root);
    const { showShapes } = store.state;
    return {
      theme,
      measure: new TextMeasure(theme.font),
      emphasis: new Emphasis(store),
      showShapes,
    };
  }

  function svg(): string {
    return exportSvg(getScene(), style(), `${trace.origin.title || "Trace"}, ${store.state.mode}`);
  }

  function png(): Promise<Blob> {
    return exportPng(getScene(), style());
  }

  function opText(): string {
    const { matches } = store.state;
    // What was searched for, or else everything.
    const ops = matches.length > 0 ? matches : Array.from({ length: trace.opCount }, (_, op) => op);
    return opList(trace, ops);
  }

  function copyPng(): Promise<void> {
    // The picture is promised: Safari wants the item within the press itself.
    const item = new ClipboardItem({ "image/png": png() });
    return navigator.clipboard.write([item]);
  }

  function save(content: string | Blob, type: string, extension: string): void {
    const blob = typeof content === "string" ? new Blob([content], { type }) : content;
    const address = URL.createObjectURL(blob);
    const name = fileName(`${trace.origin.title} ${store.state.mode}`, extension);
    const link = element("a", { href: address, download: name, hidden: true });
    root.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
  }

  return () => {
    root.removeEventListener("keydown", press);
    root.removeEventListener("focusout", leave);
    root.replaceChildren();
  };
}

/** "cell-4-forward.svg": letters and digits of any script, nothing that a path could hold. */
export function fileName(title: string, extension: string): string {
  const name = title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 80);
  return `${name || "trace"}.${extension}`;
}

function canCopyImages(): boolean {
  return typeof ClipboardItem !== "undefined" && typeof navigator.clipboard?.write === "function";
}

function refuseUnless(done: boolean): void {
  if (!done) throw new Error("this page may not use the clipboard");
}
