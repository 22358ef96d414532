/** The box that an arrow key leads to. */
import { type IcicleBox, nameOfPart, type Part } from "../../model/time/icicle.ts";

/** `out`: to the box that contains this box; `in`: to the widest box inside. */
export type IcicleStep = "out" | "in" | "left" | "right";

/** @returns undefined if there is none */
export function stepAmong(
  boxes: readonly IcicleBox[],
  from: Part,
  step: IcicleStep,
): IcicleBox | undefined {
  const name = nameOfPart(from);
  const at = boxes.find((box) => nameOfPart(box) === name);
  if (!at) return boxes[0];
  const middle_px = at.left_px + at.width_px / 2;
  switch (step) {
    case "out":
      return boxes.findLast(
        (box) =>
          box.row === at.row - 1 &&
          box.left_px <= middle_px &&
          middle_px <= box.left_px + box.width_px,
      );
    case "in": {
      const end_px = at.left_px + at.width_px;
      const isInside = (box: IcicleBox): boolean => {
        const x = box.left_px + box.width_px / 2;
        return box.row === at.row + 1 && at.left_px <= x && x <= end_px;
      };
      return boxes
        .filter(isInside)
        .reduce<IcicleBox | undefined>(
          (widest, box) => (widest && widest.width_px >= box.width_px ? widest : box),
          undefined,
        );
    }
    case "left":
    case "right": {
      const row = boxes.filter((box) => box.row === at.row);
      return row[row.indexOf(at) + (step === "left" ? -1 : 1)];
    }
  }
}
