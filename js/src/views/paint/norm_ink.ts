/** Norms of gradients on the edges of the backward graph: as text, width and tint. */

import type { Theme } from "../../dom/theme.ts";
import type { GradientNorm, NormRange } from "../../model/gradients/gradients.ts";
import type { Store } from "../../model/state/store.ts";
import { formatValue } from "../../words/quantities.ts";
import { mix, type Stroke } from "../scene/drawing_style.ts";
import type { SceneEdge } from "../scene/scene.ts";

const THINNEST_PX = 0.9;
const THICKEST_PX = 5;
/** The scale covers at least this many decades, so that noise does not look like a trend. */
const LEAST_DECADES = 4;

export class NormInk {
  private constructor(
    readonly store: Store,
    readonly range: NormRange,
  ) {}

  /** @returns undefined if norms are switched off or not recorded */
  static of(store: Store): NormInk | undefined {
    const { state, gradients } = store;
    const isMeant = state.showNorms && (state.mode === "backward" || state.mode === "ladder");
    const range = isMeant ? gradients.range(state.backwardCall) : undefined;
    return range && new NormInk(store, range);
  }

  /** The norm of the gradient along an edge; undefined if the norm is not known. */
  of(edge: SceneEdge): GradientNorm | undefined {
    const { gradients, state } = this.store;
    return edge.gradEdges.length ? gradients.normOf(edge.gradEdges, state.backwardCall) : undefined;
  }

  label(edge: SceneEdge): string {
    const norm = this.of(edge);
    return norm ? normText(norm) : "";
  }

  /** Edges of the same class are drawn in one stroke. */
  classOf(edge: SceneEdge): string {
    const norm = this.of(edge);
    if (!norm) return "";
    if (norm.nans || norm.infs) return "broken";
    return norm.norm > 0 ? String(Math.floor(Math.log10(norm.norm))) : "zero";
  }

  stroke(plain: Stroke, kind: string, theme: Theme): Stroke {
    switch (kind) {
      case "":
        return plain;
      case "broken":
        return { ...plain, colour: theme.warn, width: 3, alpha: 1 };
      case "zero":
        return { ...plain, colour: theme.detach, width: THINNEST_PX, dash: [1, 4], alpha: 1 };
      default:
        return {
          ...plain,
          colour: mix(theme.bg, plain.colour, 0.4 + 0.6 * this.share(Number(kind))),
          width: this.width(Number(kind)),
          alpha: 1,
        };
    }
  }

  width(decade: number): number {
    return THINNEST_PX + (THICKEST_PX - THINNEST_PX) * this.share(decade);
  }

  /** 0 for the smallest decade, 1 for the largest. */
  share(decade: number): number {
    const { least, most } = this.range;
    const decades = Math.max(LEAST_DECADES, most - least);
    return Math.max(0, Math.min(1, 1 - (most - decade) / decades));
  }
}

/** A norm as text: "3.2e−4", "0", "NaN". */
export function normText({ norm, nans, infs }: GradientNorm): string {
  return nans ? "NaN" : infs ? "Inf" : formatValue(norm);
}
