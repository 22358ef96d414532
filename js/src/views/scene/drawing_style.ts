/** How the parts of a scene look: shared by the canvas and the exported picture. */

import type { ColourName, Theme } from "../../dom/theme.ts";
import { t } from "../../words/page.ts";
import type { TextMeasure } from "./measure.ts";
import type { BoxKind, EdgeKind, SceneBox, SceneEdge, SceneFrame } from "./scene.ts";

export const BOX_RADIUS_PX = 6;
export const FRAME_RADIUS_PX = 10;
export const FOLD_CARD_PX = 4;
export const BOX_PADDING_PX = 12;
export const LABEL_GAP_PX = 7;
/** Between a box and the note to the right of it. */
export const NOTE_GAP_PX = 9;
/** Where a group's text begins: after the sign for opening. */
export const GROUP_TEXT_PX = 25;

export interface Stroke {
  readonly colour: string;
  readonly width: number;
  readonly dash: readonly number[];
  readonly alpha: number;
}

export function colourOfBox(box: SceneBox): ColourName {
  if (box.state === "raised") {
    return "warn";
  }
  return box.kind === "leaf" || box.kind === "parameter" ? "leaf" : box.phase;
}

export function fillOfBox(box: SceneBox, theme: Theme, isLit: boolean): string {
  if (isLit) {
    return theme.lit;
  }
  if (box.state !== "normal") {
    return mix(theme.bg, theme.warn, 0.14);
  }
  return mix(theme.bg, theme[colourOfBox(box)], isStacked(box.kind) ? 0.09 : 0.035);
}

export function strokeOfBox(box: SceneBox, theme: Theme): Stroke {
  const name = box.state === "normal" ? colourOfBox(box) : "warn";
  const isGhost = box.kind === "ghost";
  return {
    colour: isGhost ? theme.line : mix(theme.bg, theme[name], isStacked(box.kind) ? 0.6 : 0.85),
    width: 1.3,
    dash: isGhost ? [4, 3] : [],
    alpha: 1,
  };
}

/** Frames get slightly darker with depth, so that nesting is visible without heavy lines. */
export function fillOfFrame(frame: SceneFrame, theme: Theme): string {
  return mix(theme.frame, theme.ink, Math.min(frame.depth, 5) * 0.018);
}

export function strokeOfFrame(frame: SceneFrame, theme: Theme): Stroke {
  const isSpecial = frame.kind === "region" || frame.kind === "pylayer";
  return {
    colour: isSpecial ? mix(theme.bg, theme.soft, 0.75) : mix(theme.line, theme.soft, 0.12),
    width: frame.kind === "region" ? 1.4 : 1,
    dash: frame.kind === "region" ? [6, 4] : [],
    alpha: 1,
  };
}

const EDGE_STYLES: Readonly<Record<EdgeKind, { width: number; dash: number[]; alpha: number }>> = {
  data: { width: 1.4, dash: [], alpha: 0.7 },
  gradient: { width: 1.4, dash: [], alpha: 0.7 },
  lane: { width: 1.2, dash: [], alpha: 0.5 },
  feedback: { width: 1.3, dash: [7, 3], alpha: 0.7 },
  detach: { width: 1.3, dash: [2, 3], alpha: 0.95 },
};

export function strokeOfEdge(
  edge: Pick<SceneEdge, "kind" | "phase">,
  theme: Theme,
  isStrong: boolean,
): Stroke {
  const style = EDGE_STYLES[edge.kind];
  const colour = edge.kind === "detach" ? theme.detach : theme[edge.phase];
  return isStrong
    ? { colour, width: 2.4, dash: style.dash, alpha: 1 }
    : { colour, width: style.width, dash: style.dash, alpha: style.alpha };
}

export function colourOfChip(kind: string, theme: Theme): string {
  if (kind === "refold") {
    return theme.forward;
  }
  return kind === "parameter" || kind === "leaf" || kind === "buffer" ? theme.leaf : theme.soft;
}

/** The note next to a box, for states that need more than a colour. */
export function noteOfBox({ state }: Pick<SceneBox, "state">): string {
  return state === "raised" ? t("box.raised") : state === "in_place" ? t("box.in_place") : "";
}

/** The room that a box's note takes to the right of the box. */
export function noteRoom(box: Pick<SceneBox, "state">, measure: TextMeasure): number {
  const note = noteOfBox(box);
  return note ? NOTE_GAP_PX + measure.width(note, "sublabel") : 0;
}

/** Kinds of boxes that represent several ops; they have two text lines and a sign for opening. */
function isStacked(kind: BoxKind): boolean {
  return kind === "group" || kind === "fold";
}

const mixed = new Map<string, string>();

/** Mix `share` of `b` into `a`; both are #rrggbb. */
export function mix(a: string, b: string, share: number): string {
  const key = `${a}${b}${share}`;
  let colour = mixed.get(key);
  if (colour === undefined) {
    const channel = (at: number): string => {
      const [from, to] = [a, b].map((hex) => Number.parseInt(hex.slice(at, at + 2), 16) || 0);
      return Math.round(from! + (to! - from!) * share)
        .toString(16)
        .padStart(2, "0");
    };
    colour = `#${channel(1)}${channel(3)}${channel(5)}`;
    mixed.set(key, colour);
  }
  return colour;
}
