/** The value of an op's output, which the kernel computes again when the user asks for it. */

import { copyButton } from "../../../dom/clipboard.ts";
import { button, element } from "../../../dom/element.ts";
import { readTheme } from "../../../dom/theme.ts";
import { t } from "../../../words/page.ts";
import { formatCount, formatShare, formatValue } from "../../../words/quantities.ts";
import { inkOn, rampColour } from "../../colour/ramp.ts";
import type { PanelContext } from "../../facts/context.ts";
import { type Fact, facts } from "../../facts/facts.ts";
import type { ValueAnswer } from "../../facts/value_answer.ts";
import { histogram } from "./histogram.ts";

/** A button for each output of an op; a click shows the value instead. Empty without a kernel. */
export function computedValues(context: PanelContext, op: number): HTMLElement[] {
  const { trace, askValue } = context;
  const outputs = [...trace.outputsOf(op)];
  if (!askValue) return [];
  return outputs.map((_use, output) => {
    const name = outputs.length > 1 ? ` ${output}` : "";
    return computedValue((slice) => askValue(op, output, slice), name);
  });
}

function computedValue(ask: (slice: number) => Promise<ValueAnswer>, name: string): HTMLElement {
  const box = element("div", { class: "pdl-computed", "aria-live": "polite" });
  let asked = 0;
  const load = async (slice: number): Promise<void> => {
    box.setAttribute("aria-busy", "true");
    if (!box.querySelector(".pdl-heat")) box.replaceChildren(t("value.computing"));
    asked = slice;
    try {
      const answer = await ask(slice);
      if (asked === slice) show(answer);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      box.replaceChildren(element("div", { class: "pdl-soft" }, reason), opener());
    }
    box.removeAttribute("aria-busy");
  };
  const opener = (): HTMLElement =>
    button(t("value.show") + name, () => void load(0), { title: t("value.tip") });
  const show = (answer: ValueAnswer): void => {
    const bins = answer.bins.map(([exponent, negative, positive]) => ({
      exponent,
      negative,
      positive,
    }));
    const wasPicking = !!box.querySelector("input:focus");
    box.replaceChildren(
      element("h3", {}, t("value.show") + name, element("span", {}, answer.check)),
      facts(statisticFacts(answer)),
      ...(bins.length ? [histogram(bins, answer.zeros)] : []),
      ...(answer.slices > 1 ? [slicePicker(answer, load)] : []),
      heatMap(answer, box),
    );
    if (wasPicking) box.querySelector("input")?.focus();
  };
  box.append(opener());
  return box;
}

function statisticFacts(answer: ValueAnswer): Fact[] {
  const share = (count: number): string =>
    count ? `${formatCount(count)} · ${formatShare(count, answer.elements)}` : "0";
  const found: Fact[] = [];
  if (answer.statistics) {
    const [smallest, largest, mean, deviation] = answer.statistics.map(formatValue);
    found.push([t("gradient.range"), `${smallest} … ${largest}`]);
    found.push([t("gradient.mean"), mean!], [t("values.deviation"), deviation!]);
  }
  return [
    ...found,
    [t("gradient.zeros"), share(answer.zeros)],
    ["NaN", share(answer.nans)],
    ["Inf", share(answer.infs)],
  ];
}

function slicePicker(answer: ValueAnswer, load: (slice: number) => Promise<void>): HTMLElement {
  const input = element("input", {
    type: "number",
    class: "pdl-slice",
    min: 0,
    max: answer.slices - 1,
    value: String(answer.slice),
    oninput: () => void load(Math.trunc(input.valueAsNumber) || 0),
  });
  const place = `[${[...answer.index, ":", ":"].join(", ")}]`;
  return element(
    "label",
    {},
    `${t("value.slice")} `,
    input,
    ` ${t("value.of_slices", { n: answer.slices })} `,
    element("code", { class: "pdl-slice-place" }, place),
  );
}

/** The numbers of a slice. A number's colour shows where it is between smallest and largest. */
function heatMap({ rows, plane }: ValueAnswer, box: HTMLElement): HTMLElement {
  const numbers = rows.flat().filter((cell) => typeof cell === "number");
  const [least, most] = [Math.min(...numbers), Math.max(...numbers)];
  const ground = readTheme(box).bg;
  const colour = (cell: number | boolean | string): string => {
    if (typeof cell !== "number" || !(most > least)) return "";
    const share = (cell - least) / (most - least);
    const filled = rampColour(share, ground);
    return `background: ${filled}; color: ${inkOn(filled)}`;
  };
  const text = (cell: number | boolean | string): string =>
    typeof cell === "number" ? formatValue(cell) : String(cell);
  const body = rows.map((row) =>
    element(
      "tr",
      {},
      ...row.map((cell) => element("td", { style: colour(cell), title: String(cell) }, text(cell))),
    ),
  );
  const columns = rows[0]?.length ?? 0;
  const isCut = rows.length < plane[0] || columns < plane[1];
  const all = `${plane[0]} × ${plane[1]}`;
  const notes = [
    isCut && t("value.corner", { rows: rows.length, columns, all }),
    most > least && t("value.colours", { from: formatValue(least), to: formatValue(most) }),
  ].filter((note) => note !== false);
  return element(
    "div",
    {},
    element("div", { class: "pdl-heat", tabindex: 0 }, element("table", {}, ...body)),
    element("div", { class: "pdl-soft" }, notes.join(" ")),
    copyButton(t("value.copy"), () => rows.map((row) => row.join("\t")).join("\n")),
  );
}
