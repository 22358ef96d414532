/** The values by which boxes are coloured: a box's own value, or the value of its content. */
import { gradNodeValues } from "../../model/colour/grad_node_values.ts";
import { opValues } from "../../model/colour/op_values.ts";
import { parameterReads } from "../../model/graph/parameter_reads.ts";
import type { Store } from "../../model/state/store.ts";
import type { Colouring } from "../../model/state/view_state.ts";
import { backwardLeaves, forwardLeaves } from "../../model/visible/leaves.ts";
import { pairedNodes } from "../arrange/ladder_rows.ts";
import { groupsOf } from "../scene/box_marks.ts";
import type { Scene, SceneBox } from "../scene/scene.ts";

/**
 * The quantities that are summed over the ops of a closed group. For other quantities the group
 * shows the largest value.
 */
const SUMMED: ReadonlySet<Colouring> = new Set([
  "time",
  "flops",
  "output_bytes",
  "saved_bytes",
  "parameters",
]);

export interface BoxValue {
  /** The value; NaN if it is unknown. */
  value: number;
  /** How many ops or grad nodes of the box have a value, and how many have none. */
  known: number;
  unknown: number;
  /** How many known values are above 0. */
  positive: number;
  /** String codes of dtypes, in the order of the first op with each dtype. */
  readonly dtypes: Set<number>;
}

export function isSummed(name: Colouring): boolean {
  return SUMMED.has(name);
}

/** The values by the ids of the boxes. Only boxes of ops, grad nodes and groups have values. */
export function boxValues(store: Store, scene: Scene, name: Colouring): Map<string, BoxValue> {
  const [left, right]: SceneBox[][] = [[], []];
  for (const box of scene.boxes) {
    if (box.kind === "ghost" || box.kind === "parameter") continue;
    (isOfGradients(store, box) ? right! : left!).push(box);
  }
  return new Map([...opSide(store, left!, name), ...gradientSide(store, right!, name)]);
}

function isOfGradients({ state }: Store, { op, gradNode, id }: SceneBox): boolean {
  return op < 0 && (gradNode >= 0 || state.mode === "backward" || id.endsWith(":backward"));
}

function opSide(store: Store, boxes: SceneBox[], name: Colouring): Map<string, BoxValue> {
  if (!boxes.length) return new Map();
  const { trace, hierarchy, state } = store;
  const isInView = state.mode === "backward" ? undefined : forwardLeaves(trace, hierarchy, state);
  const owner = ownersOf(store, boxes, hierarchy.groupOfOp);
  boxes.forEach((box, at) => {
    if (box.op >= 0) owner.ofLeaf[box.op] = at;
  });
  const values = name === "gradient_norm" ? normsOfOps(store) : opValues(trace, name);
  const isInside = (op: number): boolean =>
    boxes[owner.ofLeaf[op]!]!.op === op || isInView?.isShown[op] === 1;
  const made = gather(
    boxes,
    owner.ofLeaf,
    values,
    name,
    (op) =>
      // The time of a PyLayer's own op includes the time of its inner ops.
      isInside(op) && !(name === "time" && isOuter(store, boxes[owner.ofLeaf[op]!]!, op)),
  );
  if (name === "parameters") countEachOnce(store, boxes, owner.ofLeaf, made, isInside);
  return made;
}

function gradientSide(store: Store, boxes: SceneBox[], name: Colouring): Map<string, BoxValue> {
  if (!boxes.length) return new Map();
  const { trace, hierarchy, state, gradients, groupOfGradNode } = store;
  const { isShown } =
    state.mode === "ladder" ? pairedNodes(store) : backwardLeaves(trace, hierarchy, state);
  const owner = ownersOf(store, boxes, groupOfGradNode);
  boxes.forEach((box, at) => {
    if (box.gradNode >= 0) owner.ofLeaf[box.gradNode] = at;
  });
  const values = gradNodeValues(trace, gradients, name, state.backwardCall);
  return gather(boxes, owner.ofLeaf, values, name, (node) => isShown[node] === 1);
}

/** The position of the closed box that contains each leaf, -1 for none. */
function ownersOf(
  store: Store,
  boxes: readonly SceneBox[],
  groupOf: Int32Array,
): { ofLeaf: Int32Array } {
  const { parents } = store.hierarchy;
  const ofGroup = new Int32Array(parents.length).fill(-1);
  boxes.forEach((box, at) => {
    for (const group of groupsOf(store, box)) ofGroup[group] = at;
  });
  // Parents come before children.
  for (let group = 0; group < ofGroup.length; group++) {
    const around = parents[group]!;
    if (ofGroup[group]! < 0 && around >= 0) ofGroup[group] = ofGroup[around]!;
  }
  return { ofLeaf: groupOf.map((group) => (group >= 0 ? ofGroup[group]! : -1)) };
}

function gather(
  boxes: readonly SceneBox[],
  owner: Int32Array,
  values: Float64Array,
  name: Colouring,
  isInside: (leaf: number) => boolean,
): Map<string, BoxValue> {
  const made = boxes.map(
    (): BoxValue => ({ value: Number.NaN, known: 0, unknown: 0, positive: 0, dtypes: new Set() }),
  );
  for (let leaf = 0; leaf < owner.length; leaf++) {
    const at = owner[leaf]!;
    if (at < 0 || !isInside(leaf)) continue;
    const [of, value] = [made[at]!, values[leaf]!];
    if (Number.isNaN(value)) {
      of.unknown++;
      continue;
    }
    if (name === "dtype") of.dtypes.add(value);
    of.value = of.known ? (isSummed(name) ? of.value + value : Math.max(of.value, value)) : value;
    of.known++;
    if (value > 0) of.positive++;
  }
  return new Map(boxes.map(({ id }, at) => [id, made[at]!]));
}

function isOuter({ trace }: Store, box: SceneBox, op: number): boolean {
  return box.op !== op && trace.at("ops", "is_pylayer", op) === 1;
}

/** The largest norm among the gradients that an op's grad nodes pass on. */
function normsOfOps({ trace, gradients, state }: Store): Float64Array {
  const norms = gradNodeValues(trace, gradients, "gradient_norm", state.backwardCall);
  const values = new Float64Array(trace.opCount).fill(Number.NaN);
  trace.pairedOps.forEach((op, node) => {
    const norm = norms[node]!;
    if (op < 0 || Number.isNaN(norm)) return;
    values[op] = Number.isNaN(values[op]!) ? norm : Math.max(values[op]!, norm);
  });
  return values;
}

/** Count each parameter once per box, even if several ops of the box read it. */
function countEachOnce(
  { trace }: Store,
  boxes: readonly SceneBox[],
  owner: Int32Array,
  made: Map<string, BoxValue>,
  isInside: (op: number) => boolean,
): void {
  const counted = boxes.map(() => new Set<number>());
  const { ops, numbers, elements } = parameterReads(trace);
  ops.forEach((op, read) => {
    if (owner[op]! >= 0 && isInside(op)) counted[owner[op]!]!.add(numbers[read]!);
  });
  boxes.forEach(({ id }, at) => {
    const of = made.get(id)!;
    if (of.known) of.value = [...counted[at]!].reduce((sum, number) => sum + elements[number]!, 0);
  });
}
