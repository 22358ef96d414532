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
  noteOfBox,
  strokeOfBox,
} from "../scene/drawing_style.ts";
import type { SceneBox } from "../scene/scene.ts";
import { isGroup } from "../scene/scene_index.ts";
import type { Brush } from "./brush.ts";
import { paintChevron } from "./frame.ts";
import { colourOfMark } from "./mark.ts";

export function paintBox(brush: Brush, drawn: SceneBox, withText: boolean): void {
  const { context, theme, emphasis } = brush;
  const box = drawn.kind === "fold" ? frontCard(drawn) : drawn;
  const left = box.x - box.width / 2;
  const top = box.y - box.height / 2;
  const isSelected = emphasis.isSelected(box);
  const isLit = isSelected || emphasis.isLit(box);
  const mark = emphasis.marksOf(box)[0];
  const isFailed = mark?.role === "failed";
  const plain = strokeOfBox(box, theme);
  const stroke = mark
    ? { ...plain, colour: colourOfMark(mark, theme), width: isFailed ? 2.6 : 1.9 }
    : plain;
  const radius = box.kind === "parameter" || box.kind === "leaf" ? box.height / 2 : BOX_RADIUS_PX;
  if (box.kind === "fold") {
    paintCards(brush, box, stroke.colour);
  }
  context.beginPath();
  context.roundRect(left, top, box.width, box.height, radius);
  // Without text a box has to be told from what is around it by its colour.
  const isBare = !withText && !isLit && !mark && box.state === "normal";
  context.fillStyle = isBare
    ? mix(theme.bg, theme[colourOfBox(box)], 0.25)
    : mark && !isLit
      ? mix(theme.bg, stroke.colour, isFailed ? 0.22 : 0.1)
      : fillOfBox(box, theme, isLit);
  context.fill();
  context.strokeStyle = stroke.colour;
  context.lineWidth = isLit || brush.hovered === box.id ? stroke.width + 0.9 : stroke.width;
  context.setLineDash([...stroke.dash]);
  context.stroke();
  context.setLineDash([]);
  if (box.kind === "pylayer" || isFailed) {
    context.lineWidth = 1;
    context.beginPath();
    context.roundRect(left + 3, top + 3, box.width - 6, box.height - 6, radius - 2);
    context.stroke();
  }
  if (isSelected || emphasis.isMatch(box)) {
    context.beginPath();
    context.roundRect(left - 4, top - 4, box.width + 8, box.height + 8, radius + 4);
    context.strokeStyle = isSelected ? theme.select : mix(theme.bg, theme.ink, 0.45);
    context.lineWidth = isSelected ? 2 : 1.5;
    context.setLineDash(isSelected ? [] : [4, 3]);
    context.stroke();
    context.setLineDash([]);
  }
  if (withText) {
    if (isGroup(box)) {
      paintGroupText(brush, box, left, isLit);
    } else {
      paintLine(brush, box);
    }
    paintNote(brush, box);
  }
  paintChips(brush, box, withText);
}

/** The part of a fold that its text is on. */
function frontCard(box: SceneBox): SceneBox {
  const height = box.height - 2 * FOLD_CARD_PX;
  return { ...box, height, y: box.y - FOLD_CARD_PX };
}

/** The cards behind a fold. */
function paintCards({ context, theme }: Brush, box: SceneBox, colour: string): void {
  for (const card of [2, 1]) {
    const inset = card * 5;
    const y = box.y - box.height / 2 + card * FOLD_CARD_PX;
    context.beginPath();
    context.roundRect(
      box.x - box.width / 2 + inset,
      y,
      box.width - 2 * inset,
      box.height,
      BOX_RADIUS_PX,
    );
    context.fillStyle = mix(theme.bg, theme[colourOfBox(box)], 0.05);
    context.fill();
    context.strokeStyle = mix(theme.bg, colour, 0.6);
    context.lineWidth = 1;
    context.stroke();
  }
}

/** Name and secondary text side by side, in the middle; the secondary text gives way first. */
function paintLine({ context, theme, measure }: Brush, box: SceneBox): void {
  const room = box.width - 2 * BOX_PADDING_PX + 4;
  const label = measure.fit(box.label, "label", room);
  const labelWidth = measure.width(label, "label");
  const rest = room - labelWidth - LABEL_GAP_PX;
  const sublabel = box.sublabel ? measure.fit(box.sublabel, "sublabel", rest) : "";
  const width = labelWidth + (sublabel ? LABEL_GAP_PX + measure.width(sublabel, "sublabel") : 0);
  const y = box.y + 0.5;
  context.textBaseline = "middle";
  context.textAlign = "start";
  context.font = measure.font("label");
  context.fillStyle = box.kind === "ghost" ? theme.soft : theme.ink;
  context.fillText(label, box.x - width / 2, y);
  if (sublabel) {
    context.font = measure.font("sublabel");
    context.fillStyle = theme.soft;
    context.fillText(sublabel, box.x - width / 2 + labelWidth + LABEL_GAP_PX, y + 0.5);
  }
}

function paintGroupText(
  { context, theme, measure }: Brush,
  box: SceneBox,
  left: number,
  isLit: boolean,
): void {
  const room = box.width - GROUP_TEXT_PX - 10;
  paintChevron(context, left + 13, box.y, false, theme[colourOfBox(box)]);
  context.textBaseline = "middle";
  context.textAlign = "start";
  context.font = measure.font("label");
  context.fillStyle = theme.ink;
  context.fillText(measure.fit(box.label, "label", room), left + GROUP_TEXT_PX, box.y - 7.5);
  context.font = measure.font("sublabel");
  context.fillStyle = isLit ? mix(theme.soft, theme.ink, 0.3) : theme.soft;
  context.fillText(measure.fit(box.sublabel, "sublabel", room), left + GROUP_TEXT_PX, box.y + 8.5);
}

function paintNote({ context, theme, measure }: Brush, box: SceneBox): void {
  const note = noteOfBox(box);
  if (note) {
    context.textBaseline = "middle";
    context.textAlign = "start";
    context.font = measure.font("sublabel");
    context.fillStyle = theme.warn;
    context.fillText(note, box.x + box.width / 2 + 9, box.y + 0.5);
  }
}

function paintChips(brush: Brush, box: SceneBox, withText: boolean): void {
  const { context, theme, measure, emphasis } = brush;
  for (const chip of box.chips) {
    const colour = colourOfChip(chip.kind, theme);
    const [x, y] = [box.x + chip.x, box.y + chip.y];
    const isSelected = emphasis.isChipSelected(chip);
    context.beginPath();
    context.roundRect(
      x - chip.width / 2,
      y - chip.height / 2,
      chip.width,
      chip.height,
      chip.height / 2,
    );
    context.fillStyle = isSelected ? theme.lit : mix(theme.bg, colour, 0.08);
    context.fill();
    if (chip.kind !== "more") {
      context.strokeStyle = mix(theme.bg, colour, isSelected ? 1 : 0.6);
      context.lineWidth = isSelected ? 1.8 : 1;
      context.setLineDash(chip.kind === "external" ? [3, 2] : []);
      context.stroke();
      context.setLineDash([]);
    }
    if (withText) {
      context.textBaseline = "middle";
      context.textAlign = "center";
      context.font = measure.font("small");
      context.fillStyle = colour;
      context.fillText(chip.label, x, y + 0.5);
    }
  }
}
