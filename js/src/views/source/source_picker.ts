/** Chooses the cell or file on the source page: the user's own are listed, others are folded. */

import { button } from "../../dom/element.ts";
import { menuItem, mountMenu } from "../../dom/menu.ts";
import type { Trace } from "../../trace/trace.ts";
import { t } from "../../words/page.ts";
import { fileLabel } from "../names/stack_order.ts";
import type { SourceFile } from "./source_files.ts";

export interface SourcePicker {
  /** Shows which file is chosen. */
  shows(file: SourceFile): void;
  dispose(): void;
}

/** @param root a `.pdl-menu` element */
export function mountSourcePicker(
  root: HTMLElement,
  trace: Trace,
  files: readonly SourceFile[],
  pick: (file: SourceFile) => void,
): SourcePicker {
  let shown: SourceFile | undefined;
  const hasOwn = files[0]?.kind === "user";
  const menu = mountMenu(root, t("panel.source"), () => [
    ...files.filter(({ kind }) => kind === "user" || !hasOwn).map(item),
    hasOwn && fold("library"),
    hasOwn && fold("paddle"),
  ]);

  function item(file: SourceFile): HTMLElement {
    const label = fileLabel(trace, file.file, file.cell);
    const note = file === files[0] && file.cell >= 0 ? t("source.traced") : "";
    const made = menuItem(label, () => pick(file), { isChecked: file === shown, note });
    made.title = trace.text(file.file);
    return made;
  }

  /** A row that a click replaces by the files of a kind. */
  function fold(kind: "library" | "paddle"): HTMLElement | false {
    const folded = files.filter((file) => file.kind === kind);
    if (folded.length === 0) return false;
    const line = button(`▸ ${t(`source.files_${kind}`, { n: folded.length })}`, () => {}, {
      class: undefined,
      role: "menuitem",
      "aria-expanded": "false",
      tabindex: "-1",
    });
    line.addEventListener("click", (event) => {
      // The menu stays open.
      event.stopPropagation();
      const items = folded.map(item);
      line.after(...items);
      // Move the focus before the line is removed: a menu closes when it loses the focus.
      items[0]!.focus();
      line.remove();
    });
    return line;
  }

  return {
    shows(file) {
      shown = file;
      const label = fileLabel(trace, file.file, file.cell);
      menu.toggle.textContent = `${label} ▾`;
      menu.toggle.setAttribute("aria-label", t("source.picker", { file: label }));
      menu.toggle.title = trace.text(file.file);
    },
    dispose: menu.dispose,
  };
}
