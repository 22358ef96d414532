/** The marks of findings on a box of the picture, and their texts. */
import type { Mark, MarkRole, MarkSide, Severity } from "../../model/graph/findings.ts";
import { foldAround } from "../../model/state/folding.ts";
import type { Pictured } from "../../model/state/pictured.ts";
import { t } from "../../words/page.ts";
import type { SceneBox } from "./scene.ts";
import { isGroup } from "./scene_index.ts";

/** The sign of a severity in text. */
export const SEVERITY_SIGNS: Readonly<Record<Severity, string>> = {
  error: "✕",
  warning: "▲",
  info: "ⓘ",
};

/** The word on a box for a mark; "" if the sign is enough. */
export function roleWord(role: MarkRole): string {
  return role === "failed" || role === "cut" || role === "origin" ? t(`mark.${role}`) : "";
}

/** Roles that are shown only for the current finding, because all would crowd the picture. */
const ONLY_IF_ACTIVE: ReadonlySet<MarkRole> = new Set(["path", "related"]);

type Marked = Pick<SceneBox, "op" | "gradNode" | "group" | "tensor" | "kind" | "id">;

/**
 * The marks that are drawn, the most important first.
 *
 * @param side the side whose marks are returned, ops or grad nodes; by default the side of the box
 * @param withPair whether to include the marks of the paired op or grad node
 */
export function marksOfBox(
  store: Pictured,
  box: Marked,
  side = sideOf(store, box),
  withPair = store.state.mode !== "ladder",
): readonly Mark[] {
  const { findings, state } = store;
  if (!findings.all.length || box.tensor >= 0) {
    return [];
  }
  return findings
    .marksOf({ ...box, groups: groupsOf(store, box) }, side, withPair)
    .filter(({ finding, role }) => !ONLY_IF_ACTIVE.has(role) || finding.key === state.finding);
}

/** The group that a box represents, or all groups of its folded run; none for other boxes. */
export function groupsOf({ hierarchy, state }: Pictured, box: Marked): number[] {
  if (!isGroup(box)) {
    return [];
  }
  return box.kind === "fold" ? [...foldAround(hierarchy, state, box.group)] : [box.group];
}

/**
 * The side whose marks a box shows. In a ladder, ops and grad nodes have their own marks. In other
 * modes, an op and its grad node share their marks.
 */
function sideOf({ state }: Pictured, box: Marked): MarkSide {
  const isRight = box.gradNode >= 0 || state.mode === "backward" || box.id.endsWith(":backward");
  return isRight && box.op < 0 ? "grad_nodes" : "ops";
}

/** "✕ Error, failed here: …", once for each finding. */
export function markLines(marks: readonly Mark[], most = 3): string[] {
  const lines = new Map<number, string>();
  for (const { finding, role } of marks) {
    if (!lines.has(finding.key)) {
      const severity = `${SEVERITY_SIGNS[finding.severity]} ${t(`severity.${finding.severity}`)}`;
      const where = t(`mark.where_${role}`);
      lines.set(finding.key, t("mark.line", { severity, where, message: finding.message }));
    }
  }
  const all = [...lines.values()];
  return all.length > most
    ? [...all.slice(0, most), t("list.more", { n: all.length - most })]
    : all;
}
