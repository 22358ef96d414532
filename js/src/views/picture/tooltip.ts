/** The tooltip of the picture: a few lines about the part under the pointer. */

import type { Store } from "../../model/state/store.ts";
import type { Trace } from "../../trace/trace.ts";
import { t } from "../../words/page.ts";
import { formatBytes, formatDuration } from "../../words/quantities.ts";
import type { ColourInk } from "../colour/colour_ink.ts";
import { frameLabel } from "../names/stack_order.ts";
import { shapesOf } from "../names/tensors.ts";
import { valueText } from "../names/value_text.ts";
import { normText } from "../paint/norm_ink.ts";
import { markLines, marksOfBox } from "../scene/box_marks.ts";
import type { SceneBox, SceneEdge } from "../scene/scene.ts";
import { type Hit, isGroup } from "../scene/scene_index.ts";
import { TooltipBox } from "../tooltip_box.ts";

const DELAY_MS = 250;

export class Tooltip {
  readonly #box: TooltipBox;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #shown = "";

  /** @param app the `.pdl-app` element */
  constructor(
    app: HTMLElement,
    readonly store: Store,
    /** The colours of the boxes, if these show a quantity. */
    readonly colours: () => ColourInk | undefined,
  ) {
    this.#box = new TooltipBox(app);
  }

  /** `x`, `y` relative to the app. */
  show(hit: Hit, x: number, y: number): void {
    const [title, ...rest] = linesOf(this.store, hit);
    const value = hit.kind === "box" ? this.colours()?.sentence(hit.box) : "";
    const lines = [title, value, ...rest].filter(
      (line) => line !== undefined && line !== "",
    ) as string[];
    const key = lines.join("\n");
    clearTimeout(this.#timer);
    if (!key) {
      this.hide();
    } else if (key === this.#shown) {
      this.#box.place(x, y);
    } else {
      const show = (): void => {
        this.#shown = key;
        this.#box.show(lines, x, y);
      };
      // If one tooltip is open, the next one opens almost at once.
      this.#timer = setTimeout(show, this.#shown ? 40 : DELAY_MS);
    }
  }

  hide(): void {
    clearTimeout(this.#timer);
    this.#shown = "";
    this.#box.hide();
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.#box.dispose();
  }
}

function linesOf(store: Store, hit: Hit): string[] {
  const { trace } = store;
  switch (hit.kind) {
    case "box":
      return withMarks(boxLines(store, hit.box), markLines(marksOfBox(store, hit.box)));
    case "chip":
      if (hit.chip.kind === "refold") {
        return [t("tooltip.refold")];
      }
      return hit.chip.tensor >= 0 ? tensorLines(trace, hit.chip.tensor) : [];
    case "edge":
      return [`${hit.from} → ${hit.to}`, ...edgeLines(store, hit.edge)];
    case "frame":
      return hit.onToggle
        ? [t("tooltip.close", { title: hit.frame.title })]
        : hit.onRefold
          ? [t("tooltip.refold")]
          : [];
  }
}

/** The marks of findings come directly below the name. */
function withMarks([name, ...rest]: string[], marks: readonly string[]): string[] {
  return name === undefined ? [] : [name, ...marks, ...rest];
}

function boxLines({ trace, oddSiblings }: Store, box: SceneBox): string[] {
  if (box.tensor >= 0) {
    return tensorLines(trace, box.tensor);
  }
  if (isGroup(box)) {
    const path = trace.textAt("groups", "path", box.group);
    return [
      box.label,
      box.sublabel,
      box.kind === "fold" ? "" : oddSiblings.sentence(box.group),
      oddSiblings.alikeSentence(box.group),
      path !== box.label ? path : "",
      t("tooltip.open"),
    ].filter(Boolean);
  }
  const op = box.op >= 0 ? box.op : trace.pairedOp(box.gradNode);
  const title = box.op >= 0 ? trace.opLabel(op) : trace.textAt("grad_nodes", "name", box.gradNode);
  if (op < 0) {
    return [title, box.kind === "leaf" ? t("tooltip.accumulates") : t("tooltip.no_op")];
  }
  const own = trace.ownFrameOf(op);
  const lines = [
    `${title} #${op}`,
    box.op < 0 ? t("tooltip.gradient_of", { op: trace.opLabel(op) }) : shapesThrough(trace, op),
    trace.layerOf(op),
    box.op >= 0
      ? t("tooltip.on_host", { time: formatDuration(trace.at("ops", "duration_ns", op)) })
      : "",
    own >= 0 ? frameLabel(trace, own) : "",
  ];
  return lines.filter(Boolean);
}

/** The shapes of an op's inputs and outputs: "[4, 16] [16, 16] → [4, 16]". */
function shapesThrough(trace: Trace, op: number): string {
  const [given, made] = [trace.inputsOf(op), trace.outputsOf(op)].map((uses) => {
    const shapes = shapesOf(trace, uses);
    return shapes.length > 5 ? `${shapes.slice(0, 5).join(" ")} …` : shapes.join(" ");
  });
  return `${given} → ${made}`;
}

function tensorLines(trace: Trace, tensor: number): string[] {
  const text = (column: "path" | "name" | "dtype" | "shape"): string =>
    trace.textAt("tensors", column, tensor);
  return [
    text("path") || text("name") || t(`tensor_kind.${trace.tensorKind(tensor)}`),
    `${text("dtype")} ${text("shape")} · ${formatBytes(trace.at("tensors", "bytes", tensor))}`,
    t(`tensor_kind.${trace.tensorKind(tensor)}`),
  ];
}

function edgeLines({ trace, gradients, state }: Store, edge: SceneEdge): string[] {
  const norm = edge.gradEdges.length
    ? gradients.normOf(edge.gradEdges, state.backwardCall)
    : undefined;
  const norms = norm ? [t("gradient.norm_of", { norm: normText(norm) })] : [];
  if (edge.count > 1) {
    const key = edge.phase === "backward" ? "count.gradient" : "count.tensor";
    return [t(key, { n: edge.count }), ...norms];
  }
  if (edge.kind === "detach" && edge.phase === "backward") {
    return [t("tooltip.ends")];
  }
  const note = edge.kind === "detach" ? t("tooltip.detached") : "";
  const values = valueText(trace, edge.tensor);
  return edge.tensor >= 0
    ? [
        tensorLines(trace, edge.tensor)[1]!,
        [values?.range, values?.rest, values?.broken].filter(Boolean).join(" · "),
        note,
      ].filter(Boolean)
    : [t("gradient.labelled", { label: edge.label }), ...norms];
}
