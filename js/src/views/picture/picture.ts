/** Updates the picture when the store changes: arrange, lay out, compose. */
import { type LayoutCache, layoutNested } from "../../layout/index.ts";
import { membersOf } from "../../model/gradients/backward_calls.ts";
import { hasSameShape } from "../../model/state/shaping.ts";
import type { Store } from "../../model/state/store.ts";
import { isGraph, type ViewState } from "../../model/state/view_state.ts";
import type { VisibleTree } from "../../model/visible/visible_tree.ts";
import { arrange, compose } from "../arrange/arrange.ts";
import { WIDEST_NARROW_PX, WIDEST_PX } from "../arrange/box_lines.ts";
import { arrangeLadder } from "../arrange/ladder_rows.ts";
import { composeLadder } from "../arrange/ladder_scene.ts";
import { SPACING } from "../arrange/spacing.ts";
import { widestGroups } from "../arrange/widest_groups.ts";
import type { Extent } from "../scene/extent.ts";
import type { TextMeasure } from "../scene/measure.ts";
import type { Scene } from "../scene/scene.ts";
import { wholeParts } from "../scene/taken.ts";
import { isTooWide, roomFor } from "./first_view.ts";

/** The most items of a first picture that is fitted to the view's width. */
const MOST_FITTED = 300;

/** By how much the widest box becomes narrower until the first picture fits. */
const NARROWER_PX = 40;
/** A picture should have at least this many outermost boxes. */
const FEW_BOXES = 3;
/** After this many pictures that are too wide, all groups that may be too wide are closed. */
const MOST_TRIES = 4;

export interface Made {
  readonly tree: VisibleTree;
  readonly scene: Scene;
  readonly state: ViewState;
}

export interface PictureListener {
  /**
   * @param before the previous picture
   * @param isNew whether the picture shows another mode or backward call
   */
  composed(made: Made, before: Made | undefined, isNew: boolean): void;
  failed(error: unknown): void;
}

export class Picture {
  #listener: PictureListener | undefined;
  readonly #unsubscribe: () => void;
  /** Layouts of groups, by their content. */
  readonly #cache: LayoutCache = new Map();
  /** The view's width in CSS px, 0 if unknown. The first picture opens only groups that fit. */
  room = 0;
  /** How many first pictures in a row were too wide. */
  #tries = 0;
  /**
   * The width of the widest box. It is reduced if the first picture is too wide although all groups
   * are closed.
   */
  #widest_px = WIDEST_PX;
  #shown: Made | undefined;

  constructor(
    readonly store: Store,
    readonly measure: TextMeasure,
  ) {
    this.#unsubscribe = store.subscribe((state, previous) => {
      if (!hasSameShape(state, previous)) {
        this.refresh();
      }
    });
  }

  /** @param listener is called for each picture from now on */
  listen(listener: PictureListener): void {
    this.#listener = listener;
  }

  dispose(): void {
    this.#unsubscribe();
  }

  /** Make the picture of the open groups in the store, unless this picture is already shown. */
  refresh(): void {
    const { state } = this.store;
    const before = this.#shown;
    // Wait if there is no view. Groups that were opened in the meantime appear in the next graph.
    if (!this.#listener || !isGraph(state.mode)) {
      return;
    }
    if (before && hasSameShape(state, before.state)) {
      this.#listener.composed(before, before, false);
      return;
    }
    try {
      const isNew = !before || !isSameKind(before.state, state);
      if (isNew) this.#widest_px = WIDEST_PX;
      let made = this.#make(state);
      const cut = isNew ? this.#partsOfTooWide(made) : undefined;
      const groups = cut ? this.#groupsToClose(made, cut) : [];
      if (groups.length) {
        this.#tries++;
        this.store.shutAtFirst(groups);
        return;
      }
      // Names are cut only as far as the picture needs.
      for (let isWide = !!cut; isWide && this.#widest_px > WIDEST_NARROW_PX; ) {
        this.#widest_px -= NARROWER_PX;
        made = this.#make(state);
        isWide = !!this.#partsOfTooWide(made);
      }
      this.#tries = 0;
      this.#shown = made;
      this.#listener.composed(made, before, isNew);
    } catch (error) {
      this.#listener.failed(error);
    }
  }

  #make(state: ViewState): Made {
    const { store, measure } = this;
    const options = { ...SPACING, cache: this.#cache };
    if (state.mode === "ladder") {
      const arrangement = arrangeLadder(store, measure, this.#widest_px);
      const result = layoutNested(arrangement.graph, options);
      return { tree: arrangement.tree, scene: composeLadder(store, arrangement, result), state };
    }
    const side = state.mode === "backward" ? "backward" : "forward";
    const arrangement = arrange(store, side, measure, this.#widest_px);
    const result = layoutNested(arrangement.graph, options);
    return { tree: arrangement.tree, scene: compose(store, arrangement, result), state };
  }

  /** The parts of a first picture that is too wide; undefined if the user has opened or closed groups. */
  #partsOfTooWide({ tree, scene }: Made): readonly Extent[] | undefined {
    const isSmall = tree.items.length <= MOST_FITTED;
    if (!this.room || !isSmall || !this.store.isAsAtFirst) {
      return undefined;
    }
    const parts = wholeParts(scene, this.measure, Number.POSITIVE_INFINITY);
    return isTooWide(scene, this.room, parts) ? parts : undefined;
  }

  #groupsToClose({ tree, scene }: Made, parts: readonly Extent[]): number[] {
    const { trace } = this.store;
    const structure = trace.table("groups").column("structure");
    const most = this.#tries < MOST_TRIES ? 1 : Number.POSITIVE_INFINITY;
    const outer = tree.items.filter(({ parent }) => parent < 0);
    // Keep iterations open. If the iterations of a loop were closed, almost nothing would be
    // visible.
    const isTurn = (group: number): boolean => trace.groupKind(group) === "turn";
    const last = new Set(
      outer.length < FEW_BOXES
        ? outer.flatMap(({ isOpen, key }) => (isOpen && isTurn(key) ? [key] : []))
        : [],
    );
    const groups = widestGroups({ scene, tree, parts, structure }, roomFor(this.room), most);
    if (!groups.some(isTurn)) return groups;
    // Keep the iteration of the shown backward call open. If it were closed, only other iterations
    // would be visible.
    const { groupOfGradNode, state } = this.store;
    const isMember = membersOf(trace, state.backwardCall);
    const inLadder = state.mode === "ladder" ? groupOfGradNode : new Int32Array();
    const innermost = new Set(inLadder.filter((_, node) => isMember[node]));
    const ofCall = new Set([...innermost].flatMap((group) => trace.groupPath(group)));
    const mayClose = (group: number): boolean =>
      !last.has(group) && !(isTurn(group) && ofCall.has(group));
    const others = groups.filter(mayClose);
    return others.length ? others : innermostOpen(tree).filter(mayClose);
  }
}

/** The open groups without an open group inside. */
function innermostOpen({ items }: VisibleTree): number[] {
  const open = items.filter(({ isOpen }) => isOpen);
  const around = new Set(open.map(({ parent }) => items[parent]));
  return open.filter((item) => !around.has(item)).map(({ key }) => key);
}

/** Whether two pictures show the same mode, backward call and isolated part. */
function isSameKind(one: ViewState, other: ViewState): boolean {
  const isSameCall = one.mode === "forward" || one.backwardCall === other.backwardCall;
  return one.mode === other.mode && isSameCall && one.isolation === other.isolation;
}
