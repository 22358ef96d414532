/** Which group is built unlike its siblings, as `paddle_lab/analysis/graph/odd_siblings.py` found. */

import type { Trace } from "../../trace/trace.ts";
import { t } from "../../words/page.ts";

/** Members of one list that are of one class. */
export interface Family {
  readonly size: number;
  /** How many of them are equal. */
  readonly alike: number;
  /** The first of those; -1 where it was not stored. */
  readonly typical: number;
}

export class OddSiblings {
  /** Rows of `odd_siblings` by group. */
  readonly #rows = new Map<number, number>();

  constructor(readonly trace: Trace) {
    trace
      .table("odd_siblings")
      .column("group")
      .forEach((group, row) => {
        this.#rows.set(group, row);
      });
  }

  /** The family that a group is unlike; undefined where it is not odd. */
  familyOf(group: number): Family | undefined {
    return this.#differenceOf(group) ? this.#family(group) : undefined;
  }

  /** "1 of 96 is built differently: it has dropout, which its siblings have not."; "" if not odd. */
  sentence(group: number): string {
    const family = this.familyOf(group);
    if (!family) {
      return "";
    }
    const { size, alike } = family;
    const difference = this.#differenceOf(group);
    return t("siblings.odd", { count: size - alike, size, difference });
  }

  /** "95 of 96 siblings are alike." of one of them, where another is odd; else "". */
  alikeSentence(group: number): string {
    const family = this.#differenceOf(group) ? undefined : this.#family(group);
    return family ? t("siblings.alike_of", { alike: family.alike, size: family.size }) : "";
  }

  #differenceOf(group: number): string {
    const row = this.#rows.get(group);
    return row === undefined ? "" : this.trace.textAt("odd_siblings", "difference", row);
  }

  #family(group: number): Family | undefined {
    const row = this.#rows.get(group);
    const at = (column: "siblings" | "alike" | "typical"): number =>
      this.trace.at("odd_siblings", column, row!);
    return row === undefined
      ? undefined
      : { size: at("siblings"), alike: at("alike"), typical: at("typical") };
  }
}
