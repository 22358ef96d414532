/** Which open groups make a picture wider than its view. */
import type { VisibleTree } from "../../model/visible/visible_tree.ts";
import { type Extent, extentOf } from "../scene/extent.ts";
import { mainGroups, reachOf } from "../scene/main_groups.ts";
import type { Scene } from "../scene/scene.ts";

/** Height of the bands in which a picture's width is measured. */
const BAND_PX = 24;
/** A main group stays open if it takes at most this share of the available width. */
const MAIN_SHARE = 0.9;
/**
 * A frame that is at most this far from a side of the picture counts as a cause of the picture's
 * width.
 */
const NEAR_PX = 40;

/** A picture, and the data from which the picture was made. */
export interface Wide {
  readonly scene: Scene;
  readonly tree: VisibleTree;
  /** Boxes and words of the scene. */
  readonly parts: readonly Extent[];
  readonly structure: ArrayLike<number>;
}

/**
 * The open groups to close first: the innermost groups at heights where the picture is too wide,
 * the widest ones first. Groups with the same structure are closed with them.
 *
 * @param room the available width, in world px
 * @param most how many to close, not counting groups with the same structure
 * @returns empty if no open group makes the picture wide
 */
export function widestGroups(
  { scene, tree, parts, structure }: Wide,
  room: number,
  most: number,
): number[] {
  const bands = new Map<number, [left: number, right: number]>();
  for (const { left, right, top, bottom } of parts) {
    for (const band of bandsOf(top, bottom)) {
      const known = bands.get(band);
      bands.set(band, [Math.min(left, known?.[0] ?? left), Math.max(right, known?.[1] ?? right)]);
    }
  }
  const isBesideMuch = ({ top, bottom }: Extent): boolean =>
    bandsOf(top, bottom).some((band) => {
      const [left, right] = bands.get(band) ?? [0, 0];
      return right - left > room;
    });
  const reaches = ({ left, right }: Extent): boolean =>
    left < NEAR_PX || right > scene.width - NEAR_PX;

  // A main group stays open if it fits by itself.
  const kept = mainGroups(tree).filter((group) => {
    const reach = reachOf(group, scene.frames);
    return reach && reach.right - reach.left <= MAIN_SHARE * room;
  });
  const open = tree.items.flatMap(({ isOpen, key }) =>
    isOpen && !kept.includes(key) ? [key] : [],
  );
  const [wide, reaching] = [isBesideMuch, reaches].map((asked) => {
    const widths = new Map<number, number>();
    for (const frame of scene.frames) {
      if (open.includes(frame.group) && asked(extentOf(frame))) {
        widths.set(frame.group, (widths.get(frame.group) ?? 0) + frame.width);
      }
    }
    return innermostOf(widths, tree);
  });
  const candidates = [...(wide!.size ? wide! : reaching!)].sort((a, b) => b[1] - a[1]);
  const widest = candidates.slice(0, most).map(([group]) => group);
  const like = new Set(widest.map((group) => structure[group]!).filter((at) => at >= 0));
  return open.filter((group) => widest.includes(group) || like.has(structure[group]!));
}

/** The groups that contain no other group of the map. */
function innermostOf(widths: Map<number, number>, { items }: VisibleTree): Map<number, number> {
  const innermost = new Map(widths);
  for (const { isOpen, key, parent } of items) {
    for (let at = isOpen && widths.has(key) ? parent : -1; at >= 0; at = items[at]!.parent) {
      innermost.delete(items[at]!.key);
    }
  }
  return innermost;
}

function bandsOf(top: number, bottom: number): number[] {
  const first = Math.floor(top / BAND_PX);
  const count = Math.max(0, Math.ceil(bottom / BAND_PX) - first);
  return Array.from({ length: count }, (_, at) => first + at);
}
