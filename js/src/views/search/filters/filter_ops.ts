/** Finds the ops that a filter matches, and the values that the filter could name instead. */

import { comparisonOf, DIFFERENCES } from "../../../model/graph/comparison.ts";
import { kept } from "../../../trace/kept.ts";
import { GROUP_KINDS, PHASES, ROLES } from "../../../trace/protocol.ts";
import type { Trace } from "../../../trace/trace.ts";
import { eachUse } from "../../../trace/uses.ts";
import { FILTER_NAMES, type Filter, type FilterName, type Problem } from "./filter.ts";
import { nearest } from "./nearest.ts";

const LAYER = GROUP_KINDS.indexOf("layer");
const INPUT = ROLES.indexOf("input");
const MOST_INSTEAD = 4;
const DIFFERENCE_WORDS = [
  "different",
  "introduced",
  "inherited",
  "only-a",
  "only-b",
  "equal",
  "unknown",
];

/** 1 for each op that a filter matches; a problem if no op of the trace can have the value. */
export function opsOfFilter(trace: Trace, filter: Filter, word: string): Uint8Array | Problem {
  switch (filter.kind) {
    case "shape":
      return opsOfShape(trace, filter.fits);
    case "time":
      return opsOfTime(trace, filter.sign, filter.limit_ns);
  }
  const { kind, value } = filter;
  const values = valuesOf(trace, kind);
  const isMeant = valueTest(kind, value);
  if (![...values].some(isMeant)) {
    const near = nearest(value, values, MOST_INSTEAD);
    return unknownValue(word, kind, value, near.length ? near : [...values]);
  }
  switch (kind) {
    case "dtype":
    case "made-dtype":
      return opsOfDtype(trace, isMeant, kind === "made-dtype");
    case "phase":
      return flags(trace.table("ops").column("phase"), (phase) => PHASES[phase] === value);
    case "op": {
      const isName = namesThat(trace, trace.table("ops").column("name"), isMeant);
      return flags(trace.table("ops").column("name"), (name) => isName.has(name));
    }
    case "layer":
      return opsOfLayer(trace, isMeant);
    case "is":
      return opsOfDifference(trace, value);
  }
}

/** The problem of a filter without a value: it names values that the trace has. */
export function withValues(trace: Trace, problem: Problem): Problem {
  const name = FILTER_NAMES.find((one) => one === problem.name);
  if (problem.kind !== "no_value" || name === undefined) return problem;
  const values = name === "shape" ? ["[*,64]", "[...,64]"] : [...valuesOf(trace, name)];
  return { ...problem, instead: wordsOf(name, values) };
}

/** The values that a filter can have in a trace, in lower case. */
export function valuesOf(trace: Trace, name: Exclude<FilterName, "shape">): ReadonlySet<string> {
  return kept(trace, `values of ${name}`, () => {
    switch (name) {
      case "dtype":
        return textsOf(trace, trace.table("tensors").column("dtype"));
      case "made-dtype":
        return madeDtypes(trace);
      case "phase":
        return new Set(
          Array.from(new Set(trace.table("ops").column("phase")), (at) => PHASES[at]!),
        );
      case "op":
        return textsOf(trace, trace.table("ops").column("name"));
      case "layer":
        return new Set(layerNames(trace).flat());
      case "is":
        return new Set(comparisonOf(trace) ? DIFFERENCE_WORDS : []);
    }
  });
}

function unknownValue(
  word: string,
  name: FilterName,
  value: string,
  values: readonly string[],
): Problem {
  return { kind: "unknown", word, name, value, instead: wordsOf(name, values) };
}

function wordsOf(name: FilterName, values: readonly string[]): string[] {
  return values.slice(0, MOST_INSTEAD).map((value) => `${name}:${value}`);
}

/** `*` in the name of an op or a layer matches any letters. A layer also matches by its last names. */
function valueTest(kind: FilterName, value: string): (candidate: string) => boolean {
  if (kind !== "op" && kind !== "layer") return (candidate) => candidate === value;
  const text = value.replace(/[.+?^${}()|[\]\\]/g, "\\$&").replaceAll("*", ".*");
  const pattern = new RegExp(kind === "layer" ? `^(?:.*\\.)?${text}$` : `^${text}$`, "s");
  return (candidate) => pattern.test(candidate);
}

function opsOfTime(trace: Trace, sign: string, limit_ns: number): Uint8Array {
  const duration_ns = trace.table("ops").column("duration_ns");
  const isEqualFound = sign.endsWith("=");
  return flags(duration_ns, (one) =>
    one === limit_ns ? isEqualFound : one > limit_ns === sign.startsWith(">"),
  );
}

/** `is:different` also finds ops whose difference was introduced or inherited. */
function opsOfDifference(trace: Trace, value: string): Uint8Array {
  const meant = value.replace("-", "_");
  return flags(comparisonOf(trace)!.kinds, (kind) => {
    const name = DIFFERENCES[kind] ?? "unknown";
    const isPart = name === "introduced" || name === "inherited";
    return name === meant || (isPart && meant === "different");
  });
}

function opsOfShape(trace: Trace, fits: RegExp): Uint8Array {
  const shape = trace.table("tensors").column("shape");
  const isShape = namesThat(trace, shape, (text) => {
    const inside = text.replace(/[[\]\s]/g, "");
    return fits.test(inside && `${inside},`);
  });
  const ops = new Uint8Array(trace.opCount);
  eachUse(trace, (op, tensor) => {
    if (isShape.has(shape[tensor]!)) ops[op] = 1;
  });
  return ops;
}

/** @param isMade whether an output must have the dtype, and the inputs must all have others */
function opsOfDtype(
  trace: Trace,
  isMeant: (dtype: string) => boolean,
  isMade: boolean,
): Uint8Array {
  const dtype = trace.table("tensors").column("dtype");
  const isDtype = namesThat(trace, dtype, isMeant);
  const [reads, makes] = [new Uint8Array(trace.opCount), new Uint8Array(trace.opCount)];
  const hasInput = new Uint8Array(trace.opCount);
  eachUse(trace, (op, tensor, role) => {
    if (role === INPUT) hasInput[op] = 1;
    if (isDtype.has(dtype[tensor]!)) (role === INPUT ? reads : makes)[op] = 1;
  });
  return makes.map((makesIt, op) =>
    isMade ? makesIt & hasInput[op]! & (1 - reads[op]!) : makesIt | reads[op]!,
  );
}

function opsOfLayer(trace: Trace, isMeant: (name: string) => boolean): Uint8Array {
  const parent = trace.table("groups").column("parent");
  const isInside = new Uint8Array(trace.groupCount);
  layerNames(trace).forEach((names, group) => {
    const around = parent[group]!;
    isInside[group] = names.some(isMeant) || (around >= 0 && isInside[around]) ? 1 : 0;
  });
  return flags(trace.table("op_groups").column("group"), (at) => at >= 0 && isInside[at] === 1);
}

/** The names of each layer's group, in lower case: its path, its class, and its path with the model. */
function layerNames(trace: Trace): string[][] {
  return kept(trace, "layer names", () => {
    const groups = trace.table("groups");
    const [kind, parent, path, className] = trace.columns(
      "groups",
      "kind",
      "parent",
      "path",
      "class",
    );
    const model = new Int32Array(groups.length);
    return Array.from({ length: groups.length }, (_, group) => {
      const around = parent[group]! >= 0 ? model[parent[group]!]! : -1;
      model[group] = around < 0 && kind[group] === LAYER ? group : around;
      if (kind[group] !== LAYER) return [];
      const own = trace.text(path[group]!);
      const from = model[group]!;
      const rooted = own && from !== group ? `${trace.text(path[from]!)}.${own}` : "";
      return [own, trace.text(className[group]!), rooted]
        .filter(Boolean)
        .map((name) => name.toLowerCase());
    });
  });
}

/** Dtypes that an op made from others. */
function madeDtypes(trace: Trace): Set<string> {
  const made = [...valuesOf(trace, "dtype")].filter((dtype) =>
    opsOfDtype(trace, (one) => one === dtype, true).includes(1),
  );
  return new Set(made);
}

/** The codes in a text column whose text, in lower case, passes a test. */
function namesThat(
  trace: Trace,
  codes: ArrayLike<number>,
  isMeant: (text: string) => boolean,
): ReadonlySet<number> {
  const distinct = new Set<number>();
  for (let row = 0; row < codes.length; row++) distinct.add(codes[row]!);
  return new Set([...distinct].filter((code) => isMeant(trace.text(code).toLowerCase())));
}

function textsOf(trace: Trace, codes: ArrayLike<number>): Set<string> {
  const texts = new Set<string>();
  for (const code of new Set(Array.from(codes))) {
    if (trace.text(code)) texts.add(trace.text(code).toLowerCase());
  }
  return texts;
}

/** 1 for each set item. For 100,000 strings `Uint8Array.from` takes several times as long. */
export function flags<T>(
  items: ArrayLike<T>,
  isSet: (item: T, index: number) => boolean,
): Uint8Array {
  const set = new Uint8Array(items.length);
  for (let index = 0; index < set.length; index++) {
    if (isSet(items[index]!, index)) set[index] = 1;
  }
  return set;
}
