/** Groups that differ from their siblings, found by `paddle_lab/analysis/graph/odd_siblings.py`. */

import type { Trace } from "../../trace/trace.ts";
import { t } from "../../words/page.ts";

/** The members of a list that have the same class. */
export interface Family {
  readonly size: number;
  /** How many members are equal. */
  readonly alike: number;
  /** The first of the equal members; -1 if it was not stored. */
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

  /** The family from which a group differs; undefined if the group does not differ. */
  familyOf(group: number): Family | undefined {
    return this.#differenceOf(group) ? this.#family(group) : undefined;
  }

  /** "1 of 96 is built differently: it has dropout, …"; "" if the group does not differ. */
  sentence(group: number): string {
    const family = this.familyOf(group);
    if (!family) {
      return "";
    }
    const { size, alike } = family;
    const difference = this.#differenceOf(group);
    return t("siblings.odd", { count: size - alike, size, difference });
  }

  /** "95 of 96 siblings are alike." for one of the 95; "" if no sibling differs. */
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
