/** One picture being made: arranged, laid out in the background, composed. */

import { inSlices, nextTask } from "../../dom/slices.ts";
import { LayoutCancelled, type LayoutRunner, type NestedResult } from "../../layout/index.ts";
import type { Pictured } from "../../model/state/pictured.ts";
import type { ViewState } from "../../model/state/view_state.ts";
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

export class Making {
  readonly #pictured: Pictured;
  readonly #measure: TextMeasure;
  readonly #runner: LayoutRunner;
  readonly #isStale = (): boolean => this.#isGivenUp;
  #listener: MakingListener | undefined;
  /** It has come so far. */
  #stage = "";
  #arranged: VisibleTree | undefined;
  #made: Promise<Made> | undefined;
  #isGivenUp = false;

  /** @param pictured stays as it is while the picture is made */
  constructor(pictured: Pictured, measure: TextMeasure, runner: LayoutRunner) {
    this.#pictured = pictured;
    this.#measure = measure;
    this.#runner = runner;
  }

  get state(): ViewState {
    return this.#pictured.state;
  }

  /**
   * Begin, if that has not been done.
   *
   * @param listener is told of all that comes, and at once of what has come so far
   * @returns rejects with LayoutCancelled where it was given up
   */
  made(listener?: MakingListener): Promise<Made> {
    this.#listener = listener;
    if (this.#stage) {
      listener?.progress(this.#stage);
    }
    if (this.#arranged) {
      listener?.arranged(this.#arranged);
    }
    this.#made ??= this.#make();
    return this.#made;
  }

  giveUp(): void {
    this.#isGivenUp = true;
  }

  #make(): Promise<Made> {
    const { mode } = this.state;
    return mode === "ladder" ? this.#ladder() : this.#side(mode === "backward" ? mode : "forward");
  }

  async #ladder(): Promise<Made> {
    const steps = arrangeLadderSteps(this.#pictured, this.#measure);
    const arrangement = await inSlices(steps, this.#isStale);
    const result = await this.#layout(arrangement);
    return this.#composed(arrangement, composeLadderSteps(this.#pictured, arrangement, result));
  }

  async #side(side: "forward" | "backward"): Promise<Made> {
    const steps = arrangeSteps(this.#pictured, side, this.#measure);
    const arrangement = await inSlices(steps, this.#isStale);
    const result = await this.#layout(arrangement);
    return this.#composed(arrangement, composeSteps(this.#pictured, arrangement, result));
  }

  /** The scene, ready to be drawn. */
  async #composed({ tree }: Arrangement, steps: Steps<Scene>): Promise<Made> {
    this.#tellStage(t("status.placing", { n: tree.items.length }));
    const scene = await inSlices(steps, this.#isStale);
    await inSlices(SceneIndex.steps(scene), this.#isStale);
    return { tree, scene };
  }

  async #layout({ graph, tree }: Arrangement): Promise<NestedResult> {
    this.#endIfStale();
    this.#tellStage(t("status.laying_out", { n: tree.items.length }));
    const result = this.#runner.layout(graph, SPACING);
    // While the worker lays out, the outline is written; of much in a task of its own.
    if (tree.items.length > MOST_AT_ONCE) {
      result.catch(() => {});
      await nextTask();
    }
    this.#endIfStale();
    this.#arranged = tree;
    this.#listener?.arranged(tree);
    return result;
  }

  #endIfStale(): void {
    if (this.#isGivenUp) {
      throw new LayoutCancelled();
    }
  }

  #tellStage(stage: string): void {
    this.#stage = stage;
    this.#listener?.progress(stage);
  }
}
