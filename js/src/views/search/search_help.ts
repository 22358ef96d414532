/** The rows below the search field: examples of filters, and corrections of a wrong filter. */
import { button, codeText, element } from "../../dom/element.ts";
import { comparisonOf } from "../../model/graph/comparison.ts";
import type { Trace } from "../../trace/trace.ts";
import { type PageKey, t } from "../../words/page.ts";
import type { Problem } from "./filters/filter.ts";
import { valuesOf } from "./filters/filter_ops.ts";

/** Examples, where possible ones that the trace has ops for; a click writes one into the field. */
export function exampleRows(trace: Trace, close: () => void): HTMLElement[] {
  const first = (name: "dtype" | "made-dtype" | "layer" | "op", otherwise: string): string =>
    [...valuesOf(trace, name)].find((value) => value.length < 24) ?? otherwise;
  const op = first("op", "relu");
  const dtype = first("dtype", "float32");
  const examples: readonly (readonly [query: string, meaning: PageKey])[] = [
    [`op:${op}`, "search.example_op"],
    [`layer:${first("layer", "encoder")}`, "search.example_layer"],
    [`dtype:${dtype}`, "search.example_dtype"],
    [`made-dtype:${first("made-dtype", "float16")}`, "search.example_made_dtype"],
    ["shape:[*,64]", "search.example_shape"],
    ["shape:[...,64]", "search.example_shape_any"],
    ...(comparisonOf(trace) ? [["is:different", "search.example_is"] as const] : []),
    [">1ms", "search.example_more"],
    ["<10us", "search.example_less"],
    ["phase:optimizer", "search.example_phase"],
    [`dtype:${dtype} -op:${op}`, "search.example_not"],
  ];
  return [
    element(
      "div",
      { class: "pdl-search-head", role: "presentation" },
      element("span", {}, t("search.hint")),
      button("×", close, {
        class: "pdl-button pdl-quiet pdl-icon",
        title: t("search.close_help"),
        "aria-label": t("search.close_help"),
        tabindex: "-1",
      }),
    ),
    ...examples.map(([query, meaning]) => fillRow(query, query, t(meaning))),
  ];
}

/** Why the query finds nothing, and queries with a correct filter instead. */
export function problemRows(problem: Problem, query: string): HTMLElement[] {
  const lower = query.toLowerCase();
  const at = lower.indexOf(problem.word);
  const instead = problem.instead.map((word) =>
    at < 0 ? word : `${query.slice(0, at)}${word}${query.slice(at + problem.word.length)}`,
  );
  return [
    element(
      "div",
      { class: "pdl-search-note", role: "presentation" },
      codeText(sentenceOf(problem)),
      instead.length ? ` ${t("search.instead")}` : "",
    ),
    ...instead.map((whole, place) => fillRow(problem.instead[place]!, whole, "")),
  ];
}

function sentenceOf({ kind, name, value }: Problem): string {
  if (kind === "bad_time")
    return value ? t("search.bad_unit", { unit: value }) : t("search.no_unit");
  if (kind !== "unknown") return t(`search.${kind}`, { name, value });
  const isBackward = name === "phase" && value === "backward";
  const what = isBackward ? "backward" : name === "made-dtype" ? "made_dtype" : name;
  return t(`search.unknown_${what as "backward" | "made_dtype" | "op"}`, { value });
}

/** A row that writes a query into the field. */
function fillRow(shown: string, query: string, meaning: string): HTMLElement {
  return element(
    "div",
    { role: "option", "data-fill": query, "aria-selected": "false" },
    element("code", {}, shown),
    !!meaning && element("small", {}, meaning),
  );
}
