/** The colours of boxes that show a quantity, and the scale of these colours. */
import type { Theme } from "../../dom/theme.ts";
import { DIFFERENCE_SIGNS, DIFFERENCES, type Difference } from "../../model/graph/comparison.ts";
import type { Store } from "../../model/state/store.ts";
import type { Colouring } from "../../model/state/view_state.ts";
import { kept } from "../../trace/kept.ts";
import { t } from "../../words/page.ts";
import { differencesText, differenceText } from "../names/difference.ts";
import type { Scene, SceneBox } from "../scene/scene.ts";
import { type BoxValue, boxValues } from "./box_values.ts";
import { quantityText } from "./quantity_text.ts";
import { differenceColour, dtypeColour, inkOn, rampColour } from "./ramp.ts";

/** If the largest value is at least this many times the smallest, the scale is logarithmic. */
const LOGARITHMIC_RATIO = 100;

export interface Scale {
  /** The least value above 0 on a logarithmic scale. */
  readonly least: number;
  readonly most: number;
  readonly isLogarithmic: boolean;
  /** Whether a box has the value 0, which a logarithmic scale does not contain. */
  readonly hasZero: boolean;
}

export class ColourInk {
  /** Undefined if no value is known, and for dtypes. */
  readonly scale: Scale | undefined;
  /** How many boxes have no known value. */
  readonly unknownCount: number;
  /** The dtypes of boxes that have only one dtype, in the order of the boxes. */
  readonly dtypes: readonly string[];
  /** The kinds of difference that boxes show, the most important first. */
  readonly differences: readonly Difference[];
  /** Whether a closed group has several dtypes. */
  readonly hasSeveral: boolean;
  readonly #values: Map<string, BoxValue>;
  readonly #themes = new Map<string, Theme>();

  /** @returns undefined if the boxes are not coloured by a quantity */
  static of(store: Store, scene: Scene): ColourInk | undefined {
    const { colourBy } = store.state;
    if (colourBy === "none" || !scene.boxes.length) return undefined;
    return kept(scene, `colours ${colourBy}`, () => new ColourInk(store, scene, colourBy));
  }

  private constructor(
    readonly store: Store,
    scene: Scene,
    readonly name: Colouring,
  ) {
    this.#values = boxValues(store, scene, name);
    const all = [...this.#values.values()];
    this.unknownCount = all.filter(({ known }) => !known).length;
    const single = all.filter(({ dtypes }) => dtypes.size === 1);
    const codes = new Set(single.flatMap(({ dtypes }) => [...dtypes]));
    this.dtypes = [...codes].map((code) => store.trace.text(code));
    this.hasSeveral = all.some(({ dtypes }) => dtypes.size > 1);
    const worst = new Set(name === "difference" ? all.map(({ value }) => value) : []);
    this.differences = DIFFERENCES.filter((_, kind) => worst.has(kind)).reverse();
    this.scale = name === "dtype" || name === "difference" ? undefined : scaleOf(all);
  }

  /** The colour of a box; undefined if the box has no quantity. */
  fill(box: SceneBox, theme: Theme): string | undefined {
    const of = this.#values.get(box.id);
    if (!of) return undefined;
    if (!of.known) return theme.bg;
    if (this.name === "dtype") {
      const [only] = of.dtypes;
      return of.dtypes.size > 1 ? theme.chip : dtypeColour(this.store.trace.text(only!));
    }
    if (this.name === "difference") return differenceColour(DIFFERENCES[of.value]!, theme.chip);
    return this.colourOf(of.value, theme);
  }

  colourOf(value: number, theme: Theme): string {
    const { scale } = this;
    if (!scale || (value === 0 && scale.isLogarithmic)) return theme.chip;
    return rampColour(shareOf(value, scale), theme.bg);
  }

  isUnknown(box: SceneBox): boolean {
    return this.#values.get(box.id)?.known === 0;
  }

  /** "1.2 ms", "≥ 1.2 ms" if some ops inside have no known value; "" for a box without a value. */
  text(box: SceneBox): string {
    const of = this.#values.get(box.id);
    if (!of) return "";
    if (!of.known) return "";
    if (this.name === "dtype") {
      return [...of.dtypes].map((code) => this.store.trace.text(code)).join(", ");
    }
    if (this.name === "difference") {
      // Most ops are equal and have no text.
      return of.positive ? this.#difference(box, of) : "";
    }
    return `${of.unknown ? "≥ " : ""}${quantityText(this.name, of.value)}`;
  }

  /**
   * A short sign for a box that has no room for `text`. It is needed by readers who cannot tell the
   * colours apart.
   */
  sign(box: SceneBox): string {
    const of = this.#values.get(box.id);
    return this.name === "difference" && of?.positive
      ? DIFFERENCE_SIGNS[DIFFERENCES[of.value]!]
      : "";
  }

  /** The line of the tooltip: "host time: 1.2 ms". */
  sentence(box: SceneBox): string {
    const of = this.#values.get(box.id);
    if (!of) return "";
    const name = t(`colour.${this.name}`);
    if (!of.known) return t("colour.of_unknown", { name });
    const value = this.name === "difference" ? this.#difference(box, of) : this.text(box);
    return of.unknown && this.name !== "difference"
      ? t("colour.of_part", { name, value, n: of.unknown })
      : t("colour.of", { name, value });
  }

  #difference(box: SceneBox, { value, known, unknown, positive }: BoxValue): string {
    const isGroup = box.op < 0 && box.gradNode < 0;
    return isGroup ? differencesText(value, positive, known + unknown) : differenceText(value);
  }

  /** The brush for text on a coloured box. */
  brushFor<B extends { readonly theme: Theme }>(brush: B, box: SceneBox): B {
    const fill = this.fill(box, brush.theme);
    if (!fill || fill === brush.theme.bg || fill === brush.theme.chip) return brush;
    const ink = inkOn(fill);
    const key = `${ink} ${brush.theme.bg}`;
    let theme = this.#themes.get(key);
    if (!theme) {
      const own = { ink, soft: ink, forward: ink, backward: ink, optimizer: ink, warn: ink };
      theme = { ...brush.theme, ...own };
      this.#themes.set(key, theme);
    }
    return { ...brush, theme };
  }
}

function scaleOf(values: readonly BoxValue[]): Scale | undefined {
  const known = values.filter((of) => of.known && Number.isFinite(of.value));
  if (!known.length) return undefined;
  let [least, most, positive] = [Number.POSITIVE_INFINITY, 0, Number.POSITIVE_INFINITY];
  for (const { value } of known) {
    least = Math.min(least, value);
    most = Math.max(most, value);
    if (value > 0) positive = Math.min(positive, value);
  }
  const isLogarithmic = most / positive >= LOGARITHMIC_RATIO;
  const hasZero = least === 0;
  return { least: isLogarithmic ? positive : least, most, isLogarithmic, hasZero };
}

function shareOf(value: number, { least, most, isLogarithmic }: Scale): number {
  // If all values are equal, they count as the largest.
  if (most <= least) return 1;
  const share = isLogarithmic
    ? Math.log(value / least) / Math.log(most / least)
    : (value - least) / (most - least);
  return Math.max(0, Math.min(1, share));
}
