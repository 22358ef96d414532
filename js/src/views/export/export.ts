/** The export menu: the picture as SVG and PNG, the ops as text, what was alive as a table. */
import type { Store } from "../../model/store.ts";
import { t } from "../../words/page.ts";
import { copyText } from "../clipboard.ts";
import { element } from "../element.ts";
import type { MemoryView } from "../memory/view.ts";
import { menuItem, menuLine, mountMenu } from "../menu.ts";
import { NormInk } from "../paint/norm_ink.ts";
import { Emphasis } from "../scene/emphasis.ts";
import { TextMeasure } from "../scene/measure.ts";
import type { Scene } from "../scene/scene.ts";
import { readTheme } from "../theme.ts";
import { exportPng, exportSvg, type PictureStyle } from "./export_picture.ts";
import { csvOf, tabbedOf } from "./export_table.ts";
import { opList } from "./export_text.ts";

/** What is shown now, to be made a picture of. */
export interface Shown {
  scene(): Scene;
  /** Undefined while a graph is shown. */
  memory(): Pick<MemoryView, "alive" | "picture"> | undefined;
}

/**
 * @param root a `.pdl-menu` element inside the app
 * @returns what takes the menu down
 */
export function mountExportMenu(root: HTMLElement, store: Store, shown: Shown): () => void {
  const { trace } = store;
  const menu = mountMenu(root, t("export.export"), () => [
    // The timeline is drawn in pixels.
    store.state.mode !== "memory" &&
      item(t("export.save_svg"), () => save(svg(), "image/svg+xml", "svg")),
    item(t("export.save_png"), async () => save(await png(), "image/png", "png")),
    canCopyImages() && item(t("export.copy_png"), copyPng),
    menuLine(),
    ...aliveItems(shown.memory()),
    item(t("export.copy_ops"), async () => refuseUnless(await copyText(opText(), root))),
    item(t("export.save_ops"), () => save(opText(), "text/plain", "txt")),
  ]);
  const said = element("span", { class: "pdl-visually-hidden", role: "status" });
  root.append(said);

  function item(label: string, act: () => unknown): HTMLElement {
    return menuItem(label, async () => {
      try {
        await act();
        say(t("export.done"), t("export.done_of", { label }));
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        say(t("export.not_done"), t("export.not_done_of", { label, reason }));
      }
    });
  }

  /** For a moment on the button, and to screen readers. */
  function say(short: string, text: string): void {
    said.textContent = text;
    menu.toggle.title = text;
    menu.toggle.textContent = short;
    setTimeout(() => {
      menu.toggle.textContent = t("export.export");
    }, 1600);
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
      norms: NormInk.of(store),
    };
  }

  function svg(): string {
    return exportSvg(
      shown.scene(),
      style(),
      [trace.origin.title || t("toolbar.trace"), t(`mode.${store.state.mode}`)].join(", "),
    );
  }

  function png(): Promise<Blob> {
    return shown.memory()?.picture() ?? exportPng(shown.scene(), style());
  }

  function aliveItems(memory: ReturnType<Shown["memory"]>): (HTMLElement | false)[] {
    return [
      memory !== undefined &&
        item(t("export.copy_alive"), async () =>
          refuseUnless(await copyText(tabbedOf(await memory.alive()), root)),
        ),
      memory !== undefined &&
        item(t("export.save_alive"), async () =>
          // With the mark by which spreadsheets know that it is UTF-8.
          save(`\ufeff${csvOf(await memory.alive())}`, "text/csv", "csv"),
        ),
    ];
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

  return menu.dispose;
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
  if (!done) throw new Error(t("export.no_clipboard"));
}
