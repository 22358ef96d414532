/** The state that all parts of the view share. The store calls listeners after each change. */

import { kept } from "../../trace/kept.ts";
import type { Trace } from "../../trace/trace.ts";
import { firstCall, outermostCall } from "../gradients/backward_calls.ts";
import { Gradients } from "../gradients/gradients.ts";
import { comparisonOf } from "../graph/comparison.ts";
import { type Finding, Findings } from "../graph/findings.ts";
import { Hierarchy } from "../graph/hierarchy.ts";
import { OddSiblings } from "../graph/odd_siblings.ts";
import { allClosed, allOpen, isAllClosed, isAllOpen } from "./all_open.ts";
import { FirstOpen } from "./first_open.ts";
import { isFolded } from "./folding.ts";
import { isLeft, isolated } from "./isolating.ts";
import type { LineNow } from "./open_source_event.ts";
import { inGraph } from "./owner.ts";
import { litGradNodes, litGroups, litOps } from "./pairing.ts";
import { hasSameShape, shapeOf } from "./shaping.ts";
import { type Isolation, isGraph, type Selection, type ViewState, type Way } from "./view_state.ts";

export type StoreListener = (state: ViewState, previous: ViewState) => void;
export type RevealListener = (selection: Selection) => void;
/** @param now the state of the line, if its cell or file was edited */
export type SourceListener = (file: number, line: number, now?: LineNow) => void;

const LONGEST_HISTORY = 200;
/** If an isolated part has at most this many ops, its groups are opened. */
const MOST_OPENED = 40;
const NOTHING: Selection = { kind: "none" };
/** In a larger graph, norms are drawn only if the user asks for them. */
const MOST_GRAD_NODES_WITH_NORMS = 150;

export class Store {
  readonly trace: Trace;
  readonly hierarchy: Hierarchy;
  readonly findings: Findings;
  readonly gradients: Gradients;
  readonly oddSiblings: OddSiblings;
  /** Listeners that scroll a selection into view. */
  readonly onReveal = new Set<RevealListener>();
  readonly #firstOpen: FirstOpen;
  /** Listeners that show a line of source in the panel. */
  readonly onSource = new Set<SourceListener>();
  #state: ViewState;
  readonly #listeners = new Set<StoreListener>();
  #past: ViewState[] = [];
  #future: ViewState[] = [];

  constructor(trace: Trace) {
    this.trace = trace;
    this.hierarchy = new Hierarchy(trace);
    this.findings = new Findings(trace, this.hierarchy);
    this.gradients = new Gradients(trace);
    this.oddSiblings = new OddSiblings(trace);
    this.#firstOpen = new FirstOpen(this.hierarchy);
    this.#state = {
      mode: "forward",
      backwardCall: firstCall(trace),
      selection: { kind: "none" },
      ...this.#firstOpen.of("forward"),
      unfolded: new Set(),
      isolation: undefined,
      wayFrom: NOTHING,
      showParameters: false,
      showOptimizer: false,
      showShapes: true,
      showNorms: this.gradients.isRecorded && trace.gradNodeCount <= MOST_GRAD_NODES_WITH_NORMS,
      colourBy: comparisonOf(trace) ? "difference" : "none",
      query: "",
      matches: [],
      panelOpen: true,
      outlineOpen: false,
      finding: this.findings.all.length ? 0 : -1,
      findingsShown: "one",
    };
  }

  get state(): ViewState {
    return this.#state;
  }

  /** @returns a function that ends the subscription. */
  subscribe(listener: StoreListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The finding that is shown above the graph. */
  get finding(): Finding | undefined {
    return this.findings.all[this.#state.finding];
  }

  /** The selection in the graph. For a memory block this is its owner. */
  get selectionInGraph(): Selection {
    return inGraph(this.trace, this.#state.selection);
  }

  /** The group of each grad node in the picture. */
  get groupOfGradNode(): Int32Array {
    const { groupOnRow, groupOfGradNode } = this.hierarchy;
    return this.#state.mode === "ladder" ? groupOnRow : groupOfGradNode;
  }

  /** Change the state. Each listener is called once, before this returns. */
  update(change: Partial<ViewState>): void {
    const previous = this.#state;
    const isOther = change.mode !== undefined && change.mode !== previous.mode;
    const first = isOther && this.isAsAtFirst ? this.#firstOpen.of(change.mode!) : {};
    const next = { ...previous, ...first, ...change };
    if (!hasSameShape(next, previous)) {
      this.#past = [...this.#past.slice(1 - LONGEST_HISTORY), previous];
      this.#future = [];
    }
    this.#become(next);
  }

  /** Whether the user has not opened, closed or selected anything yet. */
  get isAsAtFirst(): boolean {
    const { unfolded, selection, isolation } = this.#state;
    return (
      !isolation && !unfolded.size && selection.kind === "none" && this.#firstOpen.is(this.#state)
    );
  }

  /**
   * Keep groups closed at first, because they make the picture too wide. Undo does not change this.
   */
  shutAtFirst(groups: readonly number[]): void {
    const { mode } = this.#state;
    this.#become({ ...this.#state, ...this.#firstOpen.shut(mode, groups) });
  }

  /** @param options.reveal open the groups that contain the selection, and bring it into view */
  select(selection: Selection, options: { reveal?: boolean } = {}): void {
    if (!options.reveal) {
      this.update({ selection });
      return;
    }
    const shown = inGraph(this.trace, selection);
    const { isolation } = this.#state;
    if (isolation && !isLeft(this.trace, isolation, shown)) this.showAll();
    const op = shown.kind === "op" ? shown.op : -1;
    const around = this.#openAround(this.#groupAround(shown), op);
    this.update({ selection, ...around, ...this.#modeFor(shown) });
    for (const listener of this.onReveal) {
      listener(selection);
    }
  }

  /**
   * Hide everything except a part of the graph, which depends on a selection.
   *
   * @param to the second end, for `between`
   * @returns whether there is such a part; for example, no path may connect the two ends
   */
  isolate(way: Way, from: Selection, to: Selection = NOTHING): boolean {
    const isolation = isolated(this, way, inGraph(this.trace, from), inGraph(this.trace, to));
    if (isolation) this.update({ isolation, wayFrom: NOTHING, ...this.#openInside(isolation) });
    return isolation !== undefined;
  }

  /** Show the whole graph again, with the groups that were open before. */
  showAll(): void {
    const { isolation } = this.#state;
    this.update({ isolation: undefined, wayFrom: NOTHING, ...isolation?.before });
  }

  /** The highlighted ops: 1 for each. */
  litOps(): Uint8Array {
    return this.#kept("ops", () => litOps(this.trace, this.selectionInGraph));
  }

  /** The highlighted grad nodes: 1 for each. */
  litGradNodes(): Uint8Array {
    const find = () => litGradNodes(this.trace, this.selectionInGraph, this.litOps());
    return this.#kept("grad nodes", find);
  }

  /** The groups that contain a highlighted op or grad node. */
  litGroups(): Uint8Array {
    const find = () => litGroups(this.hierarchy, this.litOps(), this.litGradNodes());
    return this.#kept("groups", find);
  }

  /** Compute highlighted parts on first use, because closed groups may not need them. */
  #kept(what: string, find: () => Uint8Array): Uint8Array {
    return kept(this.#state.selection, what, find);
  }

  /** The ops that the search found: 1 for each. */
  matchMask(): Uint8Array {
    const { matches } = this.#state;
    return kept(matches, "mask", () => {
      const mask = new Uint8Array(matches.length ? this.trace.opCount : 0);
      for (const op of matches) {
        mask[op] = 1;
      }
      return mask;
    });
  }

  get canUndo(): boolean {
    return this.#past.length > 0;
  }

  get canRedo(): boolean {
    return this.#future.length > 0;
  }

  undo(): void {
    const state = this.#past.pop();
    if (state) {
      this.#future.push(this.#state);
      this.#restore(state);
    }
  }

  redo(): void {
    const state = this.#future.pop();
    if (state) {
      this.#past.push(this.#state);
      this.#restore(state);
    }
  }

  setOpen(group: number, isOpen: boolean): void {
    const open = new Set(this.#state.open);
    if (isOpen) {
      open.add(group);
    } else {
      open.delete(group);
    }
    this.update({ open });
  }

  /** Show the run of a group as single members, or as one box. */
  setUnfolded(group: number, isUnfolded: boolean): void {
    const run = this.hierarchy.runOf[group]!;
    const unfolded = new Set(this.#state.unfolded);
    if (isUnfolded) {
      unfolded.add(run);
    } else {
      unfolded.delete(run);
    }
    const taken = [...this.#state.taken].filter((member) => this.hierarchy.runOf[member] !== run);
    this.update({ unfolded, taken: new Set(taken) });
  }

  /** Open one member of a folded run, and show it next to the box of the others. */
  takeOut(group: number): void {
    const open = new Set([...this.#state.open, group]);
    this.update({ open, taken: new Set([...this.#state.taken, group]) });
  }

  get isAllOpen(): boolean {
    return isAllOpen(this.hierarchy, this.#state);
  }

  get isAllClosed(): boolean {
    return isAllClosed(this.#state);
  }

  openAll(): void {
    if (!this.isAllOpen) {
      this.update(allOpen(this.hierarchy));
    }
  }

  closeAll(): void {
    if (!this.isAllClosed) {
      this.update(allClosed());
    }
  }

  /** Open the groups that contain the remaining part, if the part is small. */
  #openInside({ ops, gradNodes, isBackward }: Isolation): Partial<ViewState> {
    const [isLeaf, groupOf] = isBackward
      ? [gradNodes, this.groupOfGradNode]
      : [ops, this.hierarchy.groupOfOp];
    const groups = new Set<number>();
    let count = 0;
    for (let leaf = 0; leaf < isLeaf.length && count <= MOST_OPENED; leaf++) {
      if (!isLeaf[leaf]) continue;
      count++;
      for (const group of this.hierarchy.pathOf(groupOf[leaf]!)) groups.add(group);
    }
    return count > MOST_OPENED ? {} : { open: new Set([...this.#state.open, ...groups]) };
  }

  #restore(state: ViewState): void {
    this.#become({ ...this.#state, ...shapeOf(state) });
  }

  #become(next: ViewState): void {
    const previous = this.#state;
    this.#state = next;
    for (const listener of [...this.#listeners]) {
      listener(next, previous);
    }
  }

  #groupAround(selection: Selection): number {
    const { trace, hierarchy } = this;
    switch (selection.kind) {
      case "op": {
        const pylayer = hierarchy.pylayerOfBackwardOp[selection.op] ?? -1;
        return pylayer >= 0 ? pylayer : (hierarchy.groupOfOp[selection.op] ?? -1);
      }
      case "grad_node":
        return this.groupOfGradNode[selection.gradNode] ?? -1;
      case "group":
        return trace.at("groups", "parent", selection.group);
      case "gradient": {
        const source = trace.at("grad_edges", "source", selection.edge);
        return source >= 0 ? this.groupOfGradNode[source]! : -1;
      }
      case "tensor": {
        const producer = trace.at("tensors", "producer", selection.tensor);
        return producer >= 0 ? hierarchy.groupOfOp[producer]! : -1;
      }
      default:
        return -1;
    }
  }

  /**
   * The mode that can show a selection. Ops of a PyLayer's backward are not in the forward graph,
   * so the mode changes for them.
   */
  #modeFor(selection: Selection): Partial<ViewState> {
    const op = selection.kind === "op" ? selection.op : -1;
    if (op < 0 || this.hierarchy.pylayerOfBackwardOp[op]! < 0 || !isGraph(this.#state.mode)) {
      return {};
    }
    const mode = this.#state.mode === "forward" ? "backward" : this.#state.mode;
    return { mode, backwardCall: outermostCall(this.trace, this.trace.backwardCallOf(op)) };
  }

  #openAround(group: number, op: number): Partial<ViewState> {
    const path = this.hierarchy.pathOf(group);
    const folded = path.filter((at) => isFolded(this.hierarchy, this.#state, at));
    const { isOptimizer, isAside } = this.hierarchy;
    const isShown = (group >= 0 && isOptimizer[group]) || (op >= 0 && isAside[op]);
    return {
      ...(path.every((at) => this.#state.open.has(at))
        ? {}
        : { open: new Set([...this.#state.open, ...path]) }),
      ...(folded.length ? { taken: new Set([...this.#state.taken, ...folded]) } : {}),
      ...(isShown ? { showOptimizer: true } : {}),
    };
  }
}
