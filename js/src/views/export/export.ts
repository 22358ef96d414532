/** The export menu: saves the picture, a page with the graph, the table, or the living memory blocks. */

import { copyText } from "../../dom/clipboard.ts";
import { codeText, element } from "../../dom/element.ts";
import { keepInside, menuItem, mountMenu } from "../../dom/menu.ts";
import { saveFile } from "../../dom/save_file.ts";
import { type Cell, csvOf, tabbedOf } from "../../dom/table_text.ts";
import { readTheme } from "../../dom/theme.ts";
import type { Store } from "../../model/state/store.ts";
import { TableState } from "../../model/table/table_state.ts";
import { t } from "../../words/page.ts";
import { ColourInk } from "../colour/colour_ink.ts";
import type { MemoryView } from "../memory/view.ts";
import { NormInk } from "../paint/norm_ink.ts";
import { Emphasis } from "../scene/emphasis.ts";
import { TextMeasure } from "../scene/measure.ts";
import type { Scene } from "../scene/scene.ts";
import { rowText } from "../table/labels.ts";
import { type TableView, tableCells } from "../table/view.ts";
import type { TimeView } from "../time/view.ts";
import {
  type Drawing,
  drawnPng,
  graphDrawing,
  type PictureStyle,
  svgOf,
} from "./export_picture.ts";

/** An export that takes longer than this shows that it is working. */
const SOON_MS = 200;
const SAID_MS = 1600;

/** Access to what the view shows now. */
export interface Shown {
  scene(): Scene;
  /** The memory view; undefined while a graph is shown. */
  memory(): Pick<MemoryView, "alive" | "picture"> | undefined;
  /** The table; undefined while it is not shown. */
  table(): Pick<TableView, "cells"> | undefined;
  /** The view of time; undefined while it is not shown. */
  time(): Pick<TimeView, "drawing"> | undefined;
  /** Makes an HTML page of the graph; undefined without a kernel. */
  readonly page: (() => Promise<Blob>) | undefined;
  /** Whether the view is a page already, so that the browser can save it. */
  readonly isPage: boolean;
}

/**
 * @param root a `.pdl-menu` element inside the app
 * @returns a function that removes the menu
 */
export function mountExportMenu(root: HTMLElement, store: Store, shown: Shown): () => void {
  const { trace } = store;
  const menu = mountMenu(root, t("export.export"), () => [
    ...(shown.table() ? [] : pictureItems()),
    !shown.isPage && pageItem(),
    ...rowItems("alive", shown.memory()?.alive),
    ...(shown.table() ? rowItems("table", shown.table()?.cells) : rowItems("ops", opRows)),
  ]);
  const said = element("span", { class: "pdl-visually-hidden", role: "status" });
  said.addEventListener("click", () => {
    said.className = "pdl-visually-hidden";
  });
  root.append(said);
  let saying: ReturnType<typeof setTimeout> | undefined;

  function item(label: string, act: () => unknown): HTMLElement {
    return menuItem(label, async () => {
      said.className = "pdl-visually-hidden";
      const working = setTimeout(() => {
        menu.toggle.textContent = t("export.working");
      }, SOON_MS);
      try {
        await act();
        say(t("export.done"), t("export.done_of", { label }));
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        say(t("export.not_done"), t("export.not_done_of", { label, reason }));
        // Show the message to everyone, not only to screen readers.
        said.className = "pdl-float pdl-said";
        keepInside(said);
      } finally {
        clearTimeout(working);
      }
    });
  }

  /** Show `short` on the button for a moment, and pass `text` to screen readers. */
  function say(short: string, text: string): void {
    said.replaceChildren(codeText(text));
    menu.toggle.title = said.textContent;
    menu.toggle.textContent = short;
    clearTimeout(saying);
    saying = setTimeout(() => {
      menu.toggle.textContent = t("export.export");
    }, SAID_MS);
  }

  function pageItem(): HTMLElement {
    const { page } = shown;
    const label = t("export.save_html");
    return page
      ? item(label, async () => save(await page(), "text/html", "html", ""))
      : menuItem(label, () => {}, { isEnabled: false, note: t("export.needs_kernel") });
  }

  /** The style on screen: the page's colours, and the highlighted parts. */
  function style(): PictureStyle {
    const theme = readTheme(root.closest<HTMLElement>(".pdl-app") ?? root);
    const { showShapes } = store.state;
    return {
      theme,
      measure: new TextMeasure(theme.font),
      emphasis: new Emphasis(store),
      showShapes,
      norms: NormInk.of(store),
      colours: ColourInk.of(store, shown.scene()),
    };
  }

  function drawing(): Drawing {
    const title = [trace.origin.title || t("toolbar.trace"), t(`mode.${store.state.mode}`)];
    return shown.time()?.drawing() ?? graphDrawing(shown.scene(), style(), title.join(", "));
  }

  async function png(): Promise<Blob> {
    return shown.memory()?.picture() ?? drawnPng(drawing());
  }

  function pictureItems(): (HTMLElement | false)[] {
    return [
      // The timeline is drawn in pixels, so it has no SVG.
      store.state.mode !== "memory" &&
        item(t("export.save_svg"), () => save(svgOf(drawing()), "image/svg+xml", "svg")),
      item(t("export.save_png"), async () => save(await png(), "image/png", "png")),
      canCopyImages() && item(t("export.copy_png"), copyPng),
    ];
  }

  /** One row for each op. */
  function opRows(): Cell[][] {
    const state = new TableState(store, (rows, row) => rowText(trace, rows, row).name);
    state.choose("each");
    return tableCells(trace, state);
  }

  /** Copies or saves rows: those of the table, all ops, or the living blocks. */
  function rowItems(
    what: "table" | "ops" | "alive",
    rows: (() => Cell[][]) | undefined,
  ): HTMLElement[] {
    if (!rows) return [];
    return [
      item(t(`export.copy_${what}`), async () => {
        const isDone = await copyText(tabbedOf(rows()), root);
        if (!isDone) throw new Error(t("export.no_clipboard"));
      }),
      // Spreadsheets recognize UTF-8 by the byte order mark.
      item(t(`export.save_${what}`), () => save(`\ufeff${csvOf(rows())}`, "text/csv", "csv")),
    ];
  }

  function copyPng(): Promise<void> {
    // Pass a promise of the picture: Safari accepts an item only while it handles the click.
    const item = new ClipboardItem({ "image/png": png() });
    return navigator.clipboard.write([item]);
  }

  /** @param what the last part of the file's name; by default the view, such as "forward" */
  function save(
    content: string | Blob,
    type: string,
    extension: string,
    what: string = store.state.mode,
  ): void {
    const blob = typeof content === "string" ? new Blob([content], { type }) : content;
    saveFile(blob, `${trace.origin.title} ${what}`, extension, root);
  }

  return menu.dispose;
}

function canCopyImages(): boolean {
  return typeof ClipboardItem !== "undefined" && typeof navigator.clipboard?.write === "function";
}
