/**
 * Which group is built unlike its siblings: of the blocks of one list nearly all are equal, and one
 * is not. Mirrors `paddle_lab/analysis/graph/odd_siblings.py`.
 */

import { RowsByKey } from "../../trace/csr.ts";
import type { Trace } from "../../trace/trace.ts";
import { t } from "../../words/page.ts";
import type { Hierarchy } from "./hierarchy.ts";

/** From how many equal siblings on another one is odd. */
const LEAST_ALIKE = 3;
/** Where more than this part of the siblings differ, none of them is. */
const MOST_ODD = 0.25;
/** Names of ops that a sentence lists. */
const MOST_NAMED = 3;

/** "net.blocks.3", "3": a member of a list, and the list. */
const LIST_MEMBER = /^(?:(.*)\.)?\d+$/s;

/** Members of one list that are of one class. */
export interface Family {
  readonly size: number;
  /** How many of them are equal. */
  readonly alike: number;
  /** The first of those. */
  readonly typical: number;
}

/** What was found among the groups that one group called. */
interface Judged {
  readonly odd: ReadonlyMap<number, Family>;
  /** Families with odd members by the structure that most have. */
  readonly usual: ReadonlyMap<number, Family>;
}

export class OddSiblings {
  readonly #judged = new Map<number, Judged>();
  readonly #sentences = new Map<number, string>();
  /** The group that called each group: the one around it, beyond turns and functions. */
  #callers: Int32Array | undefined;
  #called: RowsByKey | undefined;

  constructor(
    readonly trace: Trace,
    readonly hierarchy: Hierarchy,
  ) {}

  /** The family that a group is unlike; undefined where it is not odd. */
  familyOf(group: number): Family | undefined {
    return this.#judge(group)?.odd.get(group);
  }

  /** "1 of 96 is built differently: it has dropout, which its siblings have not."; "" if not odd. */
  sentence(group: number): string {
    const family = this.familyOf(group);
    let sentence = this.#sentences.get(group);
    if (sentence === undefined) {
      sentence = family ? this.#compare(group, family) : "";
      this.#sentences.set(group, sentence);
    }
    return sentence;
  }

  /** "95 of 96 siblings are alike." of one of them, where another is odd; else "". */
  alikeSentence(group: number): string {
    const structure = this.trace.at("groups", "structure", group);
    const family = this.#judge(group)?.usual.get(structure);
    return family ? t("siblings.alike_of", { alike: family.alike, size: family.size }) : "";
  }

  /** What was found beside a group; nothing where it is no member of a list. */
  #judge(group: number): Judged | undefined {
    if (!LIST_MEMBER.test(this.trace.textAt("groups", "path", group))) {
      return undefined;
    }
    this.#callers ??= callersOf(this.trace);
    const caller = this.#callers[group]!;
    let judged = this.#judged.get(caller);
    if (!judged) {
      this.#called ??= RowsByKey.index(
        this.#callers.map((at) => at + 1),
        this.trace.groupCount + 1,
      );
      judged = judge(this.trace, this.hierarchy, this.#called.of(caller + 1));
      this.#judged.set(caller, judged);
    }
    return judged;
  }

  #compare(group: number, { size, alike, typical }: Family): string {
    const count = size - alike;
    const difference = differenceOf(
      this.#opNames(group),
      this.#opNames(typical),
      this.#classes(group),
      this.#classes(typical),
    );
    return t("siblings.odd", { count, size, difference });
  }

  /** Groups inside a group, itself first, outer before inner. */
  #inside(group: number): number[] {
    const inside = [group];
    for (let at = 0; at < inside.length; at++) {
      inside.push(...this.hierarchy.groupsIn(inside[at]!));
    }
    return inside;
  }

  /** Names of all ops in a group, in the order in which they ran. */
  #opNames(group: number): string[] {
    const ops = this.#inside(group).flatMap((inner) => [...this.hierarchy.opsIn(inner)]);
    return ops.sort((a, b) => a - b).map((op) => this.trace.opLabel(op));
  }

  #classes(group: number): string[] {
    const inner = this.#inside(group).slice(1);
    return inner.map((at) => this.trace.textAt("groups", "class", at)).filter(Boolean);
  }
}

function callersOf(trace: Trace): Int32Array {
  const parent = trace.table("groups").column("parent");
  const callers = new Int32Array(parent.length);
  for (let group = 0; group < callers.length; group++) {
    const around = parent[group]!;
    const isInner = around >= 0 && ["call", "turn"].includes(trace.groupKind(around));
    callers[group] = isInner ? callers[around]! : around;
  }
  return callers;
}

function judge(trace: Trace, hierarchy: Hierarchy, called: Int32Array): Judged {
  const families = new Map<string, number[]>();
  for (const group of called) {
    const className = trace.textAt("groups", "class", group);
    const list = LIST_MEMBER.exec(trace.textAt("groups", "path", group));
    if (className && list && !hierarchy.isTransparent[group]) {
      const key = `${list[1] ?? ""} ${className}`;
      const family = families.get(key);
      if (family) {
        family.push(group);
      } else {
        families.set(key, [group]);
      }
    }
  }
  const odd = new Map<number, Family>();
  const usual = new Map<number, Family>();
  const structure = trace.table("groups").column("structure");
  for (const members of families.values()) {
    const counts = new Map<number, number>();
    for (const group of members) {
      counts.set(structure[group]!, (counts.get(structure[group]!) ?? 0) + 1);
    }
    counts.delete(-1);
    const [most, alike] = [...counts].reduce((a, b) => (b[1] > a[1] ? b : a), [-1, 0]);
    const unlike = members.length - alike;
    if (alike < LEAST_ALIKE || !unlike || unlike > MOST_ODD * members.length) {
      continue;
    }
    const typical = members.find((group) => structure[group] === most)!;
    const family = { size: members.length, alike, typical };
    usual.set(most, family);
    for (const group of members) {
      if (structure[group] !== most) {
        odd.set(group, family);
      }
    }
  }
  return { odd, usual };
}

/** "has dropout, which its siblings have not": what goes on after "it". */
export function differenceOf(
  ops: readonly string[],
  usualOps: readonly string[],
  classes: readonly string[],
  usualClasses: readonly string[],
): string {
  const parts = differencesOfCounts(ops, usualOps);
  if (parts.length) {
    return parts.join(t("siblings.and"));
  }
  if (ops.some((name, at) => name !== usualOps[at])) {
    return t("siblings.order");
  }
  const layers = differencesOfCounts(classes, usualClasses);
  return layers.length ? layers.join(t("siblings.and")) : t("siblings.connects");
}

function differencesOfCounts(own: readonly string[], usual: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const name of own) {
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const usually = new Map<string, number>();
  for (const name of usual) {
    usually.set(name, (usually.get(name) ?? 0) + 1);
  }
  const added: string[] = [];
  const missing: string[] = [];
  const other: string[] = [];
  for (const name of new Set([...own, ...usual])) {
    const [here, there] = [counts.get(name) ?? 0, usually.get(name) ?? 0];
    if (here && !there) {
      added.push(name);
    } else if (there && !here) {
      missing.push(name);
    } else if (here !== there) {
      other.push(t("siblings.other_count", { here, name, there }));
    }
  }
  return [
    added.length && t("siblings.has", { names: listed(added) }),
    missing.length && t("siblings.lacks", { names: listed(missing) }),
    other.length && t("siblings.has_other", { names: listed(other) }),
  ].filter((part) => !!part) as string[];
}

function listed(names: readonly string[]): string {
  const more = names.length - MOST_NAMED;
  const shown = names.slice(0, MOST_NAMED);
  const last = more > 0 || shown.length < 2 ? undefined : shown.pop()!;
  const some = shown.join(t("siblings.between"));
  if (last !== undefined) return t("siblings.last", { some, last });
  return more > 0 ? t("siblings.and_more", { some, n: more }) : some;
}
