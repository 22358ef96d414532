/** Distances of the layout, in world px. */
export const SPACING = { nodeGap: 28, rankGap: 34, groupPaddingPx: 18, groupTitlePx: 26 } as const;
