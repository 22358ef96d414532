/** The legend in a corner of the picture: what the colours of the boxes mean. */
import { element } from "../../dom/element.ts";
import { readTheme } from "../../dom/theme.ts";
import type { Store } from "../../model/state/store.ts";
import { t } from "../../words/page.ts";
import { iconButton } from "../controls.ts";
import type { Scene } from "../scene/scene.ts";
import { ColourInk } from "./colour_ink.ts";
import { legendElements, legendParts, legendTitle } from "./legend_parts.ts";

export class ColourLegend {
  readonly #root = element("div", { class: "pdl-colour-legend", hidden: true });
  readonly #unsubscribe: () => void;

  /**
   * @param canvas the `.pdl-canvas` element
   * @param scene the scene that is shown now
   */
  constructor(
    readonly canvas: HTMLElement,
    readonly store: Store,
    readonly scene: () => Scene,
  ) {
    canvas.append(this.#root);
    this.#unsubscribe = store.subscribe((state, previous) => {
      if (state.colourBy !== previous.colourBy) this.render();
    });
  }

  /** Write the legend again, after a change of the picture or of the theme. */
  render(): void {
    const ink = ColourInk.of(this.store, this.scene());
    this.#root.hidden = !ink;
    if (!ink) return;
    const theme = readTheme(this.canvas.closest<HTMLElement>(".pdl-app")!);
    const close = iconButton("×", t("colour.off"), () => this.store.update({ colourBy: "none" }), {
      class: "pdl-button pdl-quiet pdl-icon",
    });
    const parts = legendElements(legendParts(ink, theme));
    this.#root.replaceChildren(
      element("div", {}, legendTitle(ink), close),
      element("div", {}, ...parts),
    );
  }

  /** Its height; 0 while it is hidden. */
  get height_px(): number {
    return this.#root.offsetHeight;
  }

  dispose(): void {
    this.#unsubscribe();
    this.#root.remove();
  }
}
