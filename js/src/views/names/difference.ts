/** The words for the difference of an op from the other run. */
import { DIFFERENCE_SIGNS, DIFFERENCES } from "../../model/graph/comparison.ts";
import { t } from "../../words/page.ts";

/**
 * The text of a difference, such as "✱ introduced". @param kind a position in `DIFFERENCES`; NaN
 * for an op that was not compared
 */
export function differenceText(kind: number): string {
  const name = DIFFERENCES[kind];
  return name ? `${DIFFERENCE_SIGNS[name]} ${t(`difference.${name}`)}` : t("difference.unknown");
}

/**
 * The text for a group of ops, such as "✱ 3 of 12". @param kind the most important difference among
 * these ops
 */
export function differencesText(kind: number, differing: number, all: number): string {
  const many = t("difference.of_ops", { n: differing, all });
  return differing ? `${DIFFERENCE_SIGNS[DIFFERENCES[kind]!]} ${many}` : differenceText(kind);
}
