/** Chips beside a box: the tensors that an op takes, or the leaves of a grad node. */

import { TENSOR_KINDS } from "../../trace/protocol.ts";
import type { Trace } from "../../trace/trace.ts";
import { t } from "../../words/page.ts";
import type { TextMeasure } from "../scene/measure.ts";
import type { SceneChip } from "../scene/scene.ts";

const CHIP_HEIGHT_PX = 18;
const CHIP_GAP_PX = 4;
const CHIP_PADDING_PX = 6;
const MOST_CHIPS = 4;
/** Short names of tensors, as in formulas. */
const SYMBOLS: Readonly<Record<string, string>> = {
  weight: "W",
  bias: "b",
  _mean: "μ",
  _variance: "σ²",
};
/** Weights of a recurrent layer: for input (ih) or hidden state (hh), layer number, direction. */
const RECURRENT = /^(weight|bias)_(ih|hh)(?:_l(\d+)(_reverse)?)?$/;
const LONGEST_CHIP = 7;

export const NO_CHIPS: readonly SceneChip[] = [];

export class ChipWriter {
  /** Labels, by the path and kind of their tensors. */
  readonly #labels = new Map<number, string>();

  constructor(
    readonly trace: Trace,
    readonly measure: TextMeasure,
  ) {}

  /** Chips of the tensors that an op takes, on the left of the op's box. */
  given(tensors: readonly number[], boxWidth: number): readonly SceneChip[] {
    return this.#row(
      tensors.map((tensor) => ({
        label: this.#label(tensor),
        tensor,
        kind: this.trace.tensorKind(tensor),
      })),
      -1,
      boxWidth,
    );
  }

  /** Chips of the leaves that get gradients from a grad node, on the right of the node's box. */
  leaves(leaves: readonly number[], boxWidth: number): readonly SceneChip[] {
    return this.#row(
      leaves.map((leaf) => {
        const tensor = this.trace.at("grad_nodes", "parameter", leaf);
        return { label: leafLabel(this.trace, tensor), tensor, kind: "leaf" };
      }),
      1,
      boxWidth,
    );
  }

  /** The chip that folds a run of groups again. */
  refold(label: string, boxWidth: number): readonly SceneChip[] {
    return this.#row([{ label: `⊟ ${label}`, tensor: -1, kind: "refold" }], -1, boxWidth);
  }

  #label(tensor: number): string {
    const { trace } = this;
    const path = trace.at("tensors", "path", tensor);
    if (!trace.text(path)) {
      return chipLabel(trace, tensor);
    }
    const key = path * TENSOR_KINDS.length + trace.at("tensors", "kind", tensor);
    let label = this.#labels.get(key);
    if (label === undefined) {
      label = chipLabel(trace, tensor);
      this.#labels.set(key, label);
    }
    return label;
  }

  /** A row of chips that starts at the box and goes to the left (-1) or right (1). */
  #row(
    chips: readonly Pick<SceneChip, "label" | "tensor" | "kind">[],
    side: 1 | -1,
    boxWidth: number,
  ): readonly SceneChip[] {
    if (!chips.length) {
      return NO_CHIPS;
    }
    const shown = chips.slice(0, chips.length > MOST_CHIPS ? MOST_CHIPS - 1 : MOST_CHIPS);
    const all =
      shown.length < chips.length
        ? [...shown, { label: `+${chips.length - shown.length}`, tensor: -1, kind: "more" }]
        : shown;
    // The first chip is always leftmost. On the left side, that is the farthest from the box.
    const outwards = side < 0 ? all.reverse() : all;
    let edge = boxWidth / 2 + CHIP_GAP_PX + 1;
    return outwards.map((chip) => {
      const text = this.measure.width(chip.label, "small");
      const width = Math.max(CHIP_HEIGHT_PX, Math.ceil(text) + 2 * CHIP_PADDING_PX);
      const x = side * (edge + width / 2);
      edge += width + CHIP_GAP_PX;
      const { label, tensor, kind } = chip;
      return { label, tensor, kind, x, y: 0, width, height: CHIP_HEIGHT_PX };
    });
  }
}

function chipLabel(trace: Trace, tensor: number): string {
  const name = trace.tensorLabel(tensor);
  const kind = trace.tensorKind(tensor);
  const plain = name.replace(/^_+/, "");
  const short = plain.length > LONGEST_CHIP ? `${plain.slice(0, LONGEST_CHIP - 1)}…` : plain;
  if (kind === "parameter" || kind === "buffer") {
    const symbol = SYMBOLS[name] ?? recurrentSymbol(name);
    return symbol ?? (short || (kind === "parameter" ? "W" : t("chip.buffer")));
  }
  if (/^[-\d[]/.test(name)) {
    return short; // the name of a constant of a static program is its value
  }
  return t(kind === "gradient" ? "chip.gradient" : "chip.data");
}

/** "W ih0" of `weight_ih_l0`; "W ih0′" of the reverse direction. */
function recurrentSymbol(name: string): string | undefined {
  const [, what, of, layer = "", reverse] = RECURRENT.exec(name) ?? [];
  return what && `${SYMBOLS[what]} ${of}${layer}${reverse ? "′" : ""}`;
}

function leafLabel(trace: Trace, tensor: number): string {
  const isNamed = tensor >= 0 && trace.tensorLabel(tensor) !== "";
  return isNamed ? chipLabel(trace, tensor) : t("chip.leaf");
}
