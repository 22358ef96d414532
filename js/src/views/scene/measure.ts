/** Widths of text, and text that fits a width. */

const FONT_PX = { label: 12.5, sublabel: 11, small: 11, title: 12 } as const;
export type TextSize = keyof typeof FONT_PX;

const ELLIPSIS = "…";
const LONGEST_CACHE = 20_000;

export class TextMeasure {
  readonly #context: CanvasRenderingContext2D;
  readonly #widths = new Map<string, number>();
  readonly #fitted = new Map<string, string>();
  #family = "";

  constructor(family: string) {
    this.#context = document.createElement("canvas").getContext("2d")!;
    this.family = family;
  }

  /** CSS font of a size; labels are a little heavier than the rest. */
  font(size: TextSize): string {
    return `${size === "label" || size === "title" ? 500 : 400} ${FONT_PX[size]}px ${this.#family}`;
  }

  get family(): string {
    return this.#family;
  }

  set family(family: string) {
    if (family !== this.#family) {
      this.#family = family;
      this.#widths.clear();
      this.#fitted.clear();
    }
  }

  /** Width in px. */
  width(text: string, size: TextSize): number {
    const key = `${size}\n${text}`;
    let width = this.#widths.get(key);
    if (width === undefined) {
      this.#context.font = this.font(size);
      width = this.#context.measureText(text).width;
      bounded(this.#widths).set(key, width);
    }
    return width;
  }

  /** The text, or its beginning with an ellipsis if it does not fit. */
  fit(text: string, size: TextSize, width: number): string {
    const key = `${size}\n${Math.round(width)}\n${text}`;
    let fitted = this.#fitted.get(key);
    if (fitted === undefined) {
      fitted = this.#cut(text, size, width);
      bounded(this.#fitted).set(key, fitted);
    }
    return fitted;
  }

  #cut(text: string, size: TextSize, width: number): string {
    if (text.length < 500 && this.width(text, size) <= width) {
      return text;
    }
    this.#context.font = this.font(size);
    let [low, high] = [0, Math.min(text.length, 500)];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#context.measureText(text.slice(0, middle) + ELLIPSIS).width <= width) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low ? text.slice(0, low).trimEnd() + ELLIPSIS : "";
  }
}

function bounded<V>(cache: Map<string, V>): Map<string, V> {
  if (cache.size > LONGEST_CACHE) {
    cache.clear();
  }
  return cache;
}
