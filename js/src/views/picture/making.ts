/** How a picture is made: arranged, laid out in the background, composed. */

import { inSlices, nextTask } from "../../dom/slices.ts";
import { LayoutCancelled, type LayoutRunner, type NestedResult } from "../../layout/index.ts";
import type { Pictured } from "../../model/state/pictured.ts";
import type { VisibleTree } from "../../model/visible/visible_tree.ts";
import type { Steps } from "../../trace/steps.ts";
import { t } from "../../words/page.ts";
import { type Arrangement, arrangeSteps, composeSteps } from "../arrange/arrange.ts";
import { arrangeLadderSteps } from "../arrange/ladder_rows.ts";
import { composeLadderSteps } from "../arrange/ladder_scene.ts";
import { SPACING } from "../arrange/spacing.ts";
import type { TextMeasure } from "../scene/measure.ts";
import type { Scene } from "../scene/scene.ts";
import { SceneIndex } from "../scene/scene_index.ts";

/** Items that are arranged and listed in one task. */
const MOST_AT_ONCE = 2000;

export interface Made {
  readonly tree: VisibleTree;
  readonly scene: Scene;
}

export interface MakingListener {
  arranged(tree: VisibleTree): void;
  progress(stage: string): void;
}

/**
 * @param pictured stays as it is while the picture is made
 * @param isStale whether it has been given up
 * @returns the scene, ready to be drawn; rejects with LayoutCancelled where it was given up
 */
export async function makePicture(
  pictured: Pictured,
  measure: TextMeasure,
  runner: LayoutRunner,
  listener: MakingListener | undefined,
  isStale: () => boolean,
): Promise<Made> {
  const { mode } = pictured.state;
  if (mode === "ladder") {
    const arrangement = await inSlices(arrangeLadderSteps(pictured, measure), isStale);
    const result = await laidOut(arrangement);
    return composed(arrangement, composeLadderSteps(pictured, arrangement, result));
  }
  const side = mode === "backward" ? mode : "forward";
  const arrangement = await inSlices(arrangeSteps(pictured, side, measure), isStale);
  const result = await laidOut(arrangement);
  return composed(arrangement, composeSteps(pictured, arrangement, result));

  async function laidOut({ graph, tree }: Arrangement): Promise<NestedResult> {
    endIfStale();
    listener?.progress(t("status.laying_out", { n: tree.items.length }));
    const result = runner.layout(graph, SPACING);
    // While the worker lays out, the outline is written; of much in a task of its own.
    if (tree.items.length > MOST_AT_ONCE) {
      result.catch(() => {});
      await nextTask();
    }
    endIfStale();
    listener?.arranged(tree);
    return result;
  }

  async function composed({ tree }: Arrangement, steps: Steps<Scene>): Promise<Made> {
    endIfStale();
    listener?.progress(t("status.placing", { n: tree.items.length }));
    const scene = await inSlices(steps, isStale);
    await inSlices(SceneIndex.steps(scene), isStale);
    return { tree, scene };
  }

  function endIfStale(): void {
    if (isStale()) {
      throw new LayoutCancelled();
    }
  }
}
