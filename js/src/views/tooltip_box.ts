/** A tooltip of a few lines next to the pointer, inside the app. */
import { element } from "../dom/element.ts";

const AWAY_PX = 14;

export class TooltipBox {
  readonly #element = element("div", { class: "pdl-tooltip", role: "tooltip", hidden: true });

  /** @param app the `.pdl-app` element */
  constructor(readonly app: HTMLElement) {
    app.append(this.#element);
  }

  /** @param lines all but the first are in a soft colour */
  show(lines: readonly string[], x: number, y: number): void {
    this.#element.replaceChildren(
      ...lines.map((line, i) => element("div", { class: i ? "pdl-soft" : undefined }, line)),
    );
    this.#element.hidden = false;
    this.place(x, y);
  }

  /** `x`, `y` relative to the app. */
  place(x: number, y: number): void {
    const { clientWidth, clientHeight } = this.app;
    const { offsetWidth, offsetHeight, style } = this.#element;
    const beside = (at: number, size: number, room: number): string =>
      `${Math.max(4, at + AWAY_PX + size > room ? at - AWAY_PX - size : at + AWAY_PX)}px`;
    style.left = beside(x, offsetWidth, clientWidth);
    style.top = beside(y, offsetHeight, clientHeight);
  }

  hide(): void {
    this.#element.hidden = true;
  }

  dispose(): void {
    this.#element.remove();
  }
}
