/** Filters of the search field, such as `dtype:float64`, `shape:[*,64]` and `>1ms`, as they are typed. */
import { nearest } from "./nearest.ts";

export type FilterName = "dtype" | "made-dtype" | "shape" | "phase" | "layer" | "op" | "is";

/** A condition on ops. */
export type Filter =
  | { kind: Exclude<FilterName, "shape">; value: string }
  /** `fits` matches the dimensions, each followed by a comma: `4,64,`. */
  | { kind: "shape"; fits: RegExp }
  /** Host time; `sign` is `<`, `<=`, `>` or `>=`. */
  | { kind: "time"; sign: string; limit_ns: number };

/** Why a word is not a filter, and the words that the user probably meant. */
export interface Problem {
  readonly kind: "no_value" | "bad_shape" | "bad_time" | "no_filter" | "unknown";
  /** The whole word as it is in the query, in lower case. */
  readonly word: string;
  /** The name of the filter; for `no_filter`, the user's word. */
  readonly name: string;
  readonly value: string;
  /** Whole words, the nearest first. */
  readonly instead: readonly string[];
}

export const FILTER_NAMES: readonly FilterName[] = [
  "dtype",
  "made-dtype",
  "shape",
  "phase",
  "layer",
  "op",
  "is",
];
const UNITS_NS: Readonly<Record<string, number>> = {
  ns: 1,
  us: 1e3,
  µs: 1e3,
  μs: 1e3,
  ms: 1e6,
  s: 1e9,
};

/**
 * Read one word of a query.
 *
 * @param word in lower case, without the minus sign of a negation
 * @returns undefined for a word that is no filter
 */
export function filterOf(word: string): Filter | Problem | undefined {
  if (/^[<>]=?\s*[\d.]/.test(word)) return timeOf(word);
  const [, name, value] = /^([a-z-]+):(.*)$/s.exec(word) ?? [];
  if (name === undefined || value === undefined || !isFilterName(name)) return undefined;
  if (!value) return { kind: "no_value", word, name, value, instead: [] };
  return name === "shape" ? shapeOf(word, value) : { kind: name, value };
}

/** The problem of a word that finds nothing, and whose beginning is almost the name of a filter. */
export function almostFilter(word: string): Problem | undefined {
  const [, name, value] = /^([a-z-]{2,}):(.*)$/s.exec(word) ?? [];
  const [meant] = name === undefined ? [] : nearest(name, FILTER_NAMES, 1, 2);
  if (name === undefined || value === undefined || meant === undefined) return undefined;
  return { kind: "no_filter", word, name, value, instead: [`${meant}:${value}`] };
}

function isFilterName(name: string): name is FilterName {
  return (FILTER_NAMES as readonly string[]).includes(name);
}

function timeOf(word: string): Filter | Problem {
  const [, sign, number, unit] = /^([<>]=?)\s*([\d.]+)\s*(\D*)$/.exec(word) ?? [];
  const limit_ns = Number(number) * (UNITS_NS[unit ?? ""] ?? Number.NaN);
  if (sign !== undefined && Number.isFinite(limit_ns)) return { kind: "time", sign, limit_ns };
  const count = Number.isFinite(Number(number)) && number ? number : "1";
  const units = unit ? nearest(unit, ["us", "ms", "ns", "s"], 1) : ["us", "ms", "s"];
  return {
    kind: "bad_time",
    word,
    name: "",
    value: unit ?? "",
    instead: units.map((one) => `${word.match(/^[<>]=?/)![0]}${count}${one}`),
  };
}

function shapeOf(word: string, value: string): Filter | Problem {
  const dimensions = value
    .replace(/^\[|\]$|\s/g, "")
    .replaceAll("…", "...")
    .split(",")
    .filter((dimension, at, all) => dimension || at < all.length - 1);
  const isDimension = (text: string): boolean => /^(\d+|\*|\.\.\.)$/.test(text);
  if (!dimensions.every(isDimension)) {
    const mended = dimensions.map((text) => (isDimension(text) ? text : "*")).join(",");
    return { kind: "bad_shape", word, name: "shape", value, instead: [`shape:[${mended}]`] };
  }
  const pattern = dimensions
    .map((text) => (text === "..." ? "(?:\\d+,)*" : `${text === "*" ? "\\d+" : text},`))
    .join("");
  return { kind: "shape", fits: new RegExp(`^${pattern}$`) };
}
