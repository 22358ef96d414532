/** Single-key commands, for focus anywhere in the app except in a field. */
import { isFolded } from "../../model/state/folding.ts";
import type { Store } from "../../model/state/store.ts";
import { beginWay, isolateSelection, leave } from "../actions/isolating.ts";
import {
  isOffered,
  jumpToGradNode,
  jumpToOp,
  showNextDifference,
  showNextFinding,
  switchMode,
} from "../actions/jump.ts";
import { toggleGroup } from "../actions/opening.ts";
import { boxOfSelection, selectionOfBox } from "../actions/selecting.ts";
import type { GraphCanvas } from "../picture/canvas.ts";
import { openHelp } from "./help.ts";
import { type Direction, neighbour } from "./neighbours.ts";

const ARROWS: Readonly<Record<string, Direction>> = {
  ArrowUp: "up",
  ArrowDown: "down",
  ArrowLeft: "left",
  ArrowRight: "right",
};
const ZOOM_STEP = 1.25;

/** @returns a function that stops listening */
export function listenToKeys(app: HTMLElement, store: Store, canvas: GraphCanvas): () => void {
  const press = (event: KeyboardEvent): void => {
    const target = event.target as HTMLElement;
    if (target.closest("input, select, textarea, [role=dialog], [role=menu]")) {
      return;
    }
    const isDone =
      event.ctrlKey || event.metaKey
        ? pressWithControl(event, store)
        : !event.altKey && pressPlain(event, app, store, canvas);
    if (isDone) {
      // The notebook has commands on the same keys.
      event.preventDefault();
      event.stopPropagation();
    }
  };
  app.addEventListener("keydown", press);
  return () => app.removeEventListener("keydown", press);
}

function pressWithControl(event: KeyboardEvent, store: Store): boolean {
  const key = event.key.toLowerCase();
  if (key === "z" && !event.shiftKey) {
    store.undo();
  } else if (key === "y" || (key === "z" && event.shiftKey)) {
    store.redo();
  } else {
    return false;
  }
  return true;
}

function pressPlain(
  event: KeyboardEvent,
  app: HTMLElement,
  store: Store,
  canvas: GraphCanvas,
): boolean {
  const direction = ARROWS[event.key];
  const isOnCanvas = event.target === canvas.element;
  if (direction) {
    if (isOnCanvas) {
      step(store, canvas, direction);
    }
    return isOnCanvas;
  }
  const openChosen = (): boolean => isOnCanvas && open(store, event.shiftKey);
  const zoomIn = (): void => canvas.zoom(ZOOM_STEP);
  const keys: Readonly<Record<string, () => unknown>> = {
    Enter: openChosen,
    " ": openChosen,
    Escape: () => letGo(store),
    u: () => isolateSelection(store, "ancestors"),
    d: () => isolateSelection(store, "descendants"),
    w: () => beginWay(store),
    l: () => isolateSelection(store, "neighbours"),
    "/": () => app.querySelector<HTMLElement>(".pdl-search input")?.focus(),
    f: () => canvas.fit(),
    "1": () => switchMode(store, "forward"),
    "2": () => switchMode(store, "backward"),
    "3": () => switchMode(store, "ladder"),
    "4": () => isOffered(store.trace, "memory") && switchMode(store, "memory"),
    "5": () => isOffered(store.trace, "table") && switchMode(store, "table"),
    "6": () => isOffered(store.trace, "time") && switchMode(store, "time"),
    "?": () => openHelp(app),
    "+": zoomIn,
    "=": zoomIn,
    "-": () => canvas.zoom(1 / ZOOM_STEP),
    "[": () => alongExecution(store, -1),
    "]": () => alongExecution(store, 1),
    p: () => toPair(store),
    v: () => showValue(app, store),
    e: () => showNextFinding(store, 1),
    E: () => showNextFinding(store, -1),
    n: () => showNextDifference(store, 1),
    N: () => showNextDifference(store, -1),
  };
  const act = keys[event.key];
  // If an action has no effect, it returns false, and the notebook gets the key.
  return act !== undefined && act() !== false;
}

function showValue(app: HTMLElement, store: Store): boolean {
  const opener = app.querySelector<HTMLElement>(".pdl-computed > .pdl-button");
  if (!opener) return false;
  store.update({ panelOpen: true });
  app.querySelector<HTMLElement>(".pdl-tabs [role=tab]")?.click();
  opener.click();
  return true;
}

function step(store: Store, canvas: GraphCanvas, direction: Direction): void {
  const { scene } = canvas;
  const to = neighbour(scene, boxOfSelection(store, scene), direction);
  const box = scene.boxes[to];
  if (box) {
    store.select(selectionOfBox(box), { reveal: true });
  }
}

/** @param isOne whether to open only one member of a fold */
function open(store: Store, isOne: boolean): boolean {
  const { selection } = store.state;
  if (selection.kind !== "group") {
    return false;
  }
  const folded = isFolded(store.hierarchy, store.state, selection.group);
  if (folded && isOne) {
    store.takeOut(selection.group);
  } else {
    toggleGroup(store, selection.group, folded);
  }
  return true;
}

/**
 * Escape first shows the whole graph again, then clears the selection; without a selection the key
 * goes to the notebook.
 */
function letGo(store: Store): boolean {
  if (store.state.isolation || store.state.wayFrom.kind !== "none") {
    leave(store);
    return true;
  }
  if (store.state.selection.kind === "none") {
    return false;
  }
  store.select({ kind: "none" });
  return true;
}

function alongExecution(store: Store, by: 1 | -1): void {
  const { trace, hierarchy, state } = store;
  const selection = store.selectionInGraph;
  const from =
    selection.kind === "op"
      ? selection.op
      : selection.kind === "grad_node"
        ? trace.pairedOp(selection.gradNode)
        : selection.kind === "group"
          ? trace.at("groups", "first_op", selection.group) - (by > 0 ? 1 : 0)
          : by > 0
            ? -1
            : trace.opCount;
  for (let op = from + by; op >= 0 && op < trace.opCount; op += by) {
    if (state.isolation && !state.isolation.ops[op]) continue;
    if (state.showOptimizer || !hierarchy.isAside[op]) {
      jumpToOp(store, op);
      return;
    }
  }
}

function toPair(store: Store): void {
  const { trace } = store;
  const selection = store.selectionInGraph;
  if (selection.kind === "op") {
    const node = trace.gradNodesOfOp(selection.op)[0];
    if (node !== undefined) {
      jumpToGradNode(store, node);
    }
  } else if (selection.kind === "grad_node") {
    const op = trace.pairedOp(selection.gradNode);
    if (op >= 0) {
      jumpToOp(store, op);
    }
  }
}
