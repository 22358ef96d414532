/** The public functions and types of the layout. */

export * from "./contract.ts";
export { type CurveSink, traceEdge } from "./curve.ts";
export { GapRemoval, type Span } from "./gap_removal.ts";
export { gradientPaths } from "./ladder.ts";
export { layoutNested } from "./nested.ts";
