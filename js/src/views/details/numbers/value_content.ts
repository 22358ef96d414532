/** One value, or two beside each other: statistics, histogram, and a slice of each. */

import { copyButton } from "../../../dom/clipboard.ts";
import { button, element } from "../../../dom/element.ts";
import { t } from "../../../words/page.ts";
import { formatCount, formatShare, formatValue } from "../../../words/quantities.ts";
import type { PanelContext } from "../../facts/context.ts";
import type { NamedSubject, Value, ValueBench } from "../../facts/value_answer.ts";
import { histogram } from "./histogram.ts";
import { heatMap, image } from "./value_picture.ts";

type Load = (position: readonly number[]) => unknown;

const BROKEN = "NaN · Inf";
/** If a slice has at most this many numbers, they are shown at once. */
const FEW_CELLS = 64;

/**
 * @param names of the values; the difference has none
 * @param load asks for another slice
 * @returns elements, and what shows other slices in them
 */
export function valueContent(
  context: PanelContext,
  names: readonly (NamedSubject | undefined)[],
  values: readonly Value[],
  load: Load,
): { parts: HTMLElement[]; show: (values: readonly Value[]) => void } {
  const [value, pinned, difference] = values as readonly [Value, Value?, Value?];
  const counts = (of: Value) => ({
    zeros: of.zeros,
    bins: of.bins.map(([exponent, negative, positive]) => ({ exponent, negative, positive })),
  });
  const isCounted = values.some(({ bins, dtype }) => bins.length > 0 && dtype !== "bool");
  const sliders = new Sliders(value, load);
  const modes = element("div", { class: "pdl-segments", role: "group" });
  const slices = element("div", { class: "pdl-slices" });
  const { values: bench } = context;
  const toggled = (isOpen: boolean): void => {
    if (isOpen === areNumbersOpen(bench, value)) return;
    bench.areNumbersOpen = isOpen;
    sliders.window.hidden = !isOpen;
  };
  const jump = (row: number, column: number): void => {
    bench.areNumbersOpen = true;
    sliders.jump(row, column);
  };
  const show = (shown: readonly Value[]): void => {
    sliders.show(shown[0]!, areNumbersOpen(bench, shown[0]!));
    modes.hidden = !shown.some((one) => one.image);
    modes.replaceChildren(
      ...[false, true].map((isImage) =>
        button(
          t(isImage ? "value.image" : "value.heat"),
          () => {
            bench.isImage = isImage;
            show(shown);
          },
          { class: "", "aria-pressed": String(bench.isImage === isImage) },
        ),
      ),
    );
    slices.replaceChildren(
      ...shown.map((_, at) => {
        const name = names[at]?.name ?? t("value.difference");
        return slice(context, shown, at, shown.length > 1 ? name : "", jump, toggled);
      }),
    );
  };
  const parts = [
    statistics(values.slice(0, 2), names),
    ...(pinned ? [element("p", {}, comparison(difference))] : []),
    sliders.outer,
    modes,
    slices,
    sliders.window,
    ...(isCounted && value.elements > 1
      ? [histogram(counts(value), pinned && counts(pinned))]
      : []),
  ];
  return { parts, show };
}

/** How two values differ, in a sentence. */
function comparison(difference: Value | undefined): string {
  if (!difference) return t("value.unlike");
  const { elements, zeros, nans, infs, statistics: found } = difference;
  const broken = nans + infs;
  const differing = elements - zeros - broken;
  const largest = formatValue(Math.max(Math.abs(found?.[0] ?? 0), Math.abs(found?.[1] ?? 0)));
  return [
    differing
      ? t("value.differ", { n: differing, all: elements, largest })
      : t("value.equal", { n: elements - broken }),
    broken && t("value.not_compared", { n: broken }),
  ]
    .filter(Boolean)
    .join(" ");
}

function statistics(
  values: readonly Value[],
  names: readonly (NamedSubject | undefined)[],
): HTMLElement {
  const rows: [string, ...string[]][] = [];
  const row = (name: string, cell: (value: Value, at: number) => string): void => {
    rows.push([name, ...values.map(cell)]);
  };
  const count = (of: number, { elements }: Value): string =>
    of ? `${formatCount(of)} · ${formatShare(of, elements)}` : "0";
  const known = (at: number) => (value: Value) =>
    value.statistics ? exact(value, value.statistics[at]!) : t("gradient.none");
  row(t("gradient.type"), (value, at) => {
    const recorded = names[at]?.dtype ?? "";
    const shape = `[${value.shape.join(", ")}]`;
    return recorded && recorded !== value.dtype
      ? t("value.converted", { recorded, shape, dtype: value.dtype })
      : `${value.dtype} ${shape}`;
  });
  if (values.every((value) => value.dtype === "bool")) {
    row(t("value.true"), (value) => count(value.elements - value.zeros, value));
    row(t("value.false"), (value) => count(value.zeros, value));
  } else if (values.some((value) => value.elements > 1)) {
    // The statistics of complex numbers are those of their magnitudes.
    const of = values.some(({ dtype }) => dtype.startsWith("complex")) ? "|x| " : "";
    row(of + t("gradient.range"), (value) => `${known(0)(value)} … ${known(1)(value)}`);
    row(of + t("value.mean"), ({ statistics: found }) =>
      found ? `${formatValue(found[2])} · ${formatValue(found[3])}` : t("gradient.none"),
    );
    row(t("gradient.zeros"), (value) => count(value.zeros, value));
    const hasBroken = values.some((value) => /float|complex/.test(value.dtype));
    if (hasBroken) row(BROKEN, broken);
  }
  const warned = (name: string, cell: string): HTMLElement | string =>
    name === BROKEN && cell !== "0"
      ? element("strong", { class: "pdl-warn-text" }, `✕ ${cell}`)
      : cell;
  const head = ["", ...values.map((_, at) => names[at]?.name ?? "")];
  return element(
    "table",
    { class: "pdl-table" },
    values.length > 1 &&
      element("tr", {}, ...head.map((name) => element("th", { scope: "col" }, name))),
    ...rows.map(([name, ...cells]) =>
      element(
        "tr",
        {},
        element("th", { scope: "row" }, name),
        ...cells.map((cell) => element("td", {}, warned(name, cell))),
      ),
    ),
  );
}

/** "3 · 0.1 % NaN, 1 · 0.1 % Inf"; "0" if all elements are finite. */
function broken({ nans, infs, elements }: Value): string {
  const kinds = [nans && ([nans, "NaN"] as const), infs && ([infs, "Inf"] as const)];
  const told = kinds.map(
    (kind) => kind && `${formatCount(kind[0])} · ${formatShare(kind[0], elements)} ${kind[1]}`,
  );
  return told.filter(Boolean).join(", ") || "0";
}

function exact({ dtype }: Value, number: number): string {
  return dtype.includes("int") ? String(number).replace("-", "−") : formatValue(number);
}

/** A slider for each axis of which only a part is shown: the slice, and the part in numbers. */
class Sliders {
  readonly outer = element("div", { class: "pdl-sliders" });
  readonly window = element("div", { class: "pdl-sliders" });
  readonly #place = element("code");
  readonly #inputs = new Map<number, HTMLInputElement>();
  #position: number[];

  constructor(value: Value, load: Load) {
    const { axes, shape } = value;
    this.#position = [...value.position];
    this.jump = (row, column) => {
      this.#position.splice(-2, 2, row, column);
      load(this.#position);
    };
    for (const [axis, size] of axes.entries()) {
      const span = spanOf(value, axis);
      if (size <= span) continue;
      const oninput = (): void => {
        this.#position[axis] = input.valueAsNumber;
        load(this.#position);
      };
      const input = element("input", { type: "range", min: 0, max: size - span, oninput });
      const number = axis - (axes.length - shape.length);
      const letter = axes.length === 4 ? t("value.axis_of", { letter: "NCHW"[axis]! }) : "";
      const isWindow = axis >= axes.length - 2;
      const name = t(isWindow ? "value.from" : "value.axis", { axis: number, letter });
      this.#inputs.set(axis, input);
      const root = isWindow ? this.window : this.outer;
      root.append(element("label", {}, element("span", {}, name), input));
    }
    if (this.outer.childElementCount) this.outer.append(this.#place);
  }

  /** Shows the numbers from this row and column on. */
  readonly jump: (row: number, column: number) => void;

  show({ position }: Value, areNumbersOpen: boolean): void {
    this.#position = [...position];
    for (const [axis, input] of this.#inputs) input.value = String(position[axis]);
    this.#place.textContent = `[${[...position.slice(0, -2), ":", ":"].join(", ")}]`;
    this.window.hidden = !areNumbersOpen;
  }
}

/** How much of an axis is shown as numbers. */
function spanOf({ axes, cells }: Value, axis: number): number {
  return [cells.length, cells[0]?.length ?? 0][axis - axes.length + 2] ?? 1;
}

/** "[0, 3, :, 32:64]": the part that is shown as numbers. */
function partText(value: Value): string {
  const places = value.position.map((at, axis) => {
    const span = spanOf(value, axis);
    if (axis < value.axes.length - 2) return String(at);
    return span === value.axes[axis] ? ":" : `${at}:${at + span}`;
  });
  return `[${places.slice(-value.shape.length).join(", ")}]`;
}

/** A slice as a picture and as numbers. */
function slice(
  { values: bench }: PanelContext,
  values: readonly Value[],
  at: number,
  name: string,
  jump: (row: number, column: number) => void,
  toggled: (isOpen: boolean) => void,
): HTMLElement {
  const value = values[at]!;
  const { cells } = value;
  const [rows, columns] = [cells.length, cells[0]?.length ?? 0];
  if (!rows || !columns) return element("div", { class: "pdl-soft" }, t("value.empty"));
  if (value.elements === 1) {
    return element(
      "div",
      { class: "pdl-one-value" },
      name,
      element("code", {}, cellText(value, 0, 0)),
    );
  }
  const body = cells.map((row, y) =>
    element(
      "tr",
      {},
      ...row.map((cell, x) => element("td", { title: String(cell) }, cellText(value, y, x))),
    ),
  );
  const numbers = element(
    "details",
    { open: areNumbersOpen(bench, value), ontoggle: () => toggled(numbers.open) },
    element("summary", {}, `${t("value.numbers")} `, element("code", {}, partText(value))),
    element("div", { class: "pdl-cells", tabindex: 0 }, element("table", {}, ...body)),
    copyButton(t("value.copy"), () => cells.map((row) => row.join("\t")).join("\n")),
  );
  const picture = bench.isImage && value.image ? image(value) : heatMap(values, at, jump);
  return element("figure", {}, !!name && element("figcaption", {}, name), ...picture, numbers);
}

function areNumbersOpen(bench: ValueBench, { cells }: Value): boolean {
  return bench.areNumbersOpen ?? cells.length * (cells[0]?.length ?? 0) <= FEW_CELLS;
}

function cellText(value: Value, row: number, column: number): string {
  const cell = value.cells[row]![column]!;
  return typeof cell === "number" ? exact(value, cell) : cell;
}
