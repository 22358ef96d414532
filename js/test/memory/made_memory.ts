/** Traces with allocations, made by hand: a training loop's, and as many as wanted. */

import { Trace } from "../../src/model/trace.ts";
import type { Packed } from "../../src/model/unpack.ts";
import { ALLOCATION_KINDS, PHASES, TABLES, type TableName } from "../../src/protocol.ts";
import type { SyntheticTrace } from "../synthetic.ts";

type Kind = (typeof ALLOCATION_KINDS)[number];

/** Adds allocations to a synthetic trace. */
export class MemoryWriter {
  #address = 0x7f00_0000_0000;

  constructor(readonly trace: SyntheticTrace) {}

  /** @param end_ns -1 where it stays */
  block(
    start_ns: number,
    end_ns: number,
    size_bytes: number,
    options: {
      kind?: Kind;
      op?: number;
      gradNode?: number;
      tensor?: number;
      stack?: number;
      place?: string;
      phase?: (typeof PHASES)[number];
      address?: number;
    } = {},
  ): number {
    const { kind = "activation", op = -1, gradNode = -1, tensor = -1, stack = -1 } = options;
    const address = options.address ?? this.#address;
    this.#address += Math.max(256, Math.ceil(size_bytes / 256) * 256);
    return this.trace.add("allocations", {
      address,
      bytes: size_bytes,
      place: this.trace.text(options.place ?? "cpu"),
      start_ns,
      end_ns,
      thread: 0,
      op,
      grad_node: gradNode,
      scope: -1,
      stack,
      phase: PHASES.indexOf(options.phase ?? "forward"),
      tensor,
      kind: ALLOCATION_KINDS.indexOf(kind),
    });
  }
}

/** A trace of `count` allocations as a training loop makes them: steps of forward and backward. */
export function loopOfSteps(count: number, { perStep = 1000, seed = 1 } = {}): Trace {
  const random = randomNumbers(seed);
  const column = (): Float64Array => new Float64Array(count);
  const [address, bytes, start_ns, end_ns] = [column(), column(), column(), column()];
  const [kind, phase, op] = [new Int32Array(count), new Int32Array(count), new Int32Array(count)];
  const half = perStep / 2;
  for (let row = 0; row < count; row++) {
    const at = row % perStep;
    const step_ns = (row - at) * 1000;
    const isForward = at < half;
    address[row] = 0x7f00_0000_0000 + at * 2 ** 20;
    bytes[row] = Math.round(2 ** (8 + 12 * random()));
    start_ns[row] = row * 1000;
    // What the forward saves, the backward frees in the opposite order; a fifth is temporary.
    const isSaved = isForward && at % 5 !== 0;
    end_ns[row] = isSaved ? step_ns + (perStep - at) * 1000 - 1 : start_ns[row]! + 1400;
    kind[row] = ALLOCATION_KINDS.indexOf(isSaved ? "saved_activation" : "temporary");
    phase[row] = isForward ? 0 : 1;
    op[row] = -1;
  }
  const none = new Int32Array(count).fill(-1);
  return traceOf({
    address,
    bytes,
    place: new Int32Array(count),
    start_ns,
    end_ns,
    thread: new Int32Array(count),
    op,
    grad_node: none,
    scope: none,
    stack: none,
    phase,
    tensor: none,
    kind,
  });
}

function traceOf(columns: Record<string, Int32Array | Float64Array>): Trace {
  const tables = Object.fromEntries(
    Object.entries(TABLES).map(([name, names]) => [
      name,
      {
        length: 0,
        columns: Object.fromEntries(names.map((column) => [column, new Int32Array(0)])),
      },
    ]),
  ) as unknown as Record<TableName, Packed["tables"][TableName]>;
  const length = columns.bytes!.length;
  const origin = { title: "Cell 4", duration_ns: length * 1000, notices: [] };
  return new Trace({
    strings: ["cpu"],
    origin: origin as unknown as Packed["origin"],
    tables: { ...tables, allocations: { length, columns } },
  });
}

/** Numbers from 0 to 1 that are the same in every run. */
export function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
