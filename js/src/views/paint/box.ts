/** Draws a box with its text and chips. */

import {
  BOX_PADDING_PX,
  BOX_RADIUS_PX,
  colourOfBox,
  colourOfChip,
  FOLD_CARD_PX,
  fillOfBox,
  GROUP_TEXT_PX,
  LABEL_GAP_PX,
  mix,
  NOTE_GAP_PX,
  noteOfBox,
  strokeOfBox,
} from "../scene/drawing_style.ts";
import type { SceneBox } from "../scene/scene.ts";
import { isGroup } from "../scene/scene_index.ts";
import {
  type Brush,
  fillPath,
  paintChevron,
  strokePath,
  traceHatching,
  traceRectangle,
  write,
} from "./brush.ts";
import { colourOfMark } from "./mark.ts";

/** Room for the secondary text after a value. */
const LEAST_REST_PX = 45;

export function paintBox(brush: Brush, drawn: SceneBox, withText: boolean): void {
  const { context, theme, emphasis, measure } = brush;
  const box = drawn.kind === "fold" ? frontCard(drawn) : drawn;
  const isSelected = emphasis.isSelected(box);
  const isLit = isSelected || emphasis.isLit(box);
  const mark = emphasis.marksOf(box)[0];
  const isFailed = mark?.role === "failed";
  const plain = strokeOfBox(box, theme);
  const colour = mark ? colourOfMark(mark, theme) : plain.colour;
  const width = mark ? (isFailed ? 2.6 : 1.9) : plain.width;
  const radius = box.kind === "parameter" || box.kind === "leaf" ? box.height / 2 : BOX_RADIUS_PX;
  if (box.kind === "fold") {
    paintCards(brush, box, colour);
  }
  // Without text, only the colour distinguishes a box from its surroundings.
  const isBare = !withText && !isLit && !mark && box.state === "normal";
  const tint = brush.colours?.fill(drawn, theme);
  const fill = tint
    ? tint
    : isBare
      ? mix(theme.bg, theme[colourOfBox(box)], 0.25)
      : mark && !isLit
        ? mix(theme.bg, colour, isFailed ? 0.22 : 0.1)
        : fillOfBox(box, theme, isLit);
  const isStrong = isLit || brush.hovered === box.id;
  traceRectangle(context, box, radius);
  fillPath(context, fill);
  if (brush.colours?.isUnknown(drawn)) {
    traceHatching(context, box);
    strokePath(context, mix(theme.bg, theme.soft, 0.35), 1);
    traceRectangle(context, box, radius);
  }
  strokePath(context, colour, isStrong ? width + 0.9 : width, plain.dash);
  if (box.kind === "pylayer" || isFailed) {
    traceRectangle(context, box, radius - 2, -3);
    strokePath(context, colour, 1);
  }
  if (isSelected || emphasis.isMatch(box)) {
    traceRectangle(context, box, radius + 4, 4);
    if (isSelected) strokePath(context, theme.select, 2);
    else strokePath(context, mix(theme.bg, theme.ink, 0.45), 1.5, [4, 3]);
  }
  if (withText) {
    const inked = brush.colours?.brushFor(brush, drawn) ?? brush;
    if (isGroup(box)) {
      paintGroupText(inked, withValue(inked, box, GROUP_TEXT_PX + 10), isLit);
    } else {
      const label = measure.width(box.label, "label");
      paintLine(inked, withValue(inked, box, 2 * BOX_PADDING_PX - 4 + label + LABEL_GAP_PX));
    }
    const note = noteOfBox(box);
    if (note) {
      write(brush, note, box.x + box.width / 2 + NOTE_GAP_PX, box.y + 0.5, "sublabel", theme.warn);
    }
  }
  paintChips(brush, box, withText);
}

/** The value that gives the box its colour, before the secondary text, if all of it fits. */
function withValue({ colours, measure }: Brush, box: SceneBox, taken: number): SceneBox {
  const room = box.width - taken;
  const fitting = [colours?.text(box), colours?.sign(box)].find(
    (text) => text && measure.width(text, "sublabel") <= room,
  );
  if (!fitting) return box;
  const value = fitting;
  const width = measure.width(value, "sublabel");
  const both = box.sublabel ? `${value} · ${box.sublabel}` : value;
  // The secondary text may be shortened if enough of it is left; the value never is.
  const fits = measure.width(both, "sublabel") <= room || room - width > LEAST_REST_PX;
  return { ...box, sublabel: fits ? both : value };
}

/** The front card of a fold, which has the text. */
function frontCard(box: SceneBox): SceneBox {
  const height = box.height - 2 * FOLD_CARD_PX;
  return { ...box, height, y: box.y - FOLD_CARD_PX };
}

/** The cards behind a fold. */
function paintCards({ context, theme }: Brush, box: SceneBox, colour: string): void {
  for (const card of [2, 1]) {
    const place = { ...box, y: box.y + card * FOLD_CARD_PX, width: box.width - card * 10 };
    traceRectangle(context, place, BOX_RADIUS_PX);
    fillPath(context, mix(theme.bg, theme[colourOfBox(box)], 0.05));
    strokePath(context, mix(theme.bg, colour, 0.6), 1);
  }
}

/** Name and secondary text in one centred line; the secondary text is shortened first. */
function paintLine(brush: Brush, box: SceneBox): void {
  const { theme, measure } = brush;
  const room = box.width - 2 * BOX_PADDING_PX + 4;
  const label = measure.fit(box.label, "label", room);
  const labelWidth = measure.width(label, "label");
  const rest = room - labelWidth - LABEL_GAP_PX;
  const sublabel = box.sublabel ? measure.fit(box.sublabel, "sublabel", rest) : "";
  const width = labelWidth + (sublabel ? LABEL_GAP_PX + measure.width(sublabel, "sublabel") : 0);
  const [left, y] = [box.x - width / 2, box.y + 0.5];
  write(brush, label, left, y, "label", box.kind === "ghost" ? theme.soft : theme.ink);
  if (sublabel) {
    write(brush, sublabel, left + labelWidth + LABEL_GAP_PX, y + 0.5, "sublabel", theme.soft);
  }
}

function paintGroupText(brush: Brush, box: SceneBox, isLit: boolean): void {
  const { context, theme, measure } = brush;
  const left = box.x - box.width / 2;
  const room = box.width - GROUP_TEXT_PX - 10;
  const soft = isLit ? mix(theme.soft, theme.ink, 0.3) : theme.soft;
  const sublabel = measure.fit(box.sublabel, "sublabel", room);
  paintChevron(context, left + 13, box.y, false, theme[colourOfBox(box)]);
  const label = measure.fit(box.label, "label", room);
  write(brush, label, left + GROUP_TEXT_PX, box.y - 7.5, "label", theme.ink);
  write(brush, sublabel, left + GROUP_TEXT_PX, box.y + 8.5, "sublabel", soft);
}

function paintChips(brush: Brush, box: SceneBox, withText: boolean): void {
  const { context, theme, emphasis } = brush;
  for (const chip of box.chips) {
    const colour = colourOfChip(chip.kind, theme);
    const place = { ...chip, x: box.x + chip.x, y: box.y + chip.y };
    const isSelected = emphasis.isChipSelected(chip);
    traceRectangle(context, place, chip.height / 2);
    fillPath(context, isSelected ? theme.lit : mix(theme.bg, colour, 0.08));
    if (chip.kind !== "more") {
      const line = mix(theme.bg, colour, isSelected ? 1 : 0.6);
      const dash = chip.kind === "external" ? [3, 2] : [];
      strokePath(context, line, isSelected ? 1.8 : 1, dash);
    }
    if (withText) {
      write(brush, chip.label, place.x, place.y + 0.5, "small", colour, "center");
    }
  }
}
