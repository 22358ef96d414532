/** Traces with allocations, made by hand: a training loop's, and as many as wanted. */

import { ALLOCATION_KINDS, PHASES, TABLES, type TableName } from "../../src/trace/protocol.ts";
import { Trace } from "../../src/trace/trace.ts";
import type { Packed } from "../../src/trace/unpack.ts";
import type { SyntheticTrace } from "./synthetic.ts";

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
      scope?: number;
      stack?: number;
      place?: string;
      phase?: (typeof PHASES)[number];
      address?: number;
    } = {},
  ): number {
    const { kind = "activation", op = -1, gradNode = -1, tensor = -1, stack = -1 } = options;
    const { scope = -1 } = options;
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
      scope,
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
  const [kind, phase] = [new Int32Array(count), new Int32Array(count)];
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
  }
  return traceOf({ address, bytes, start_ns, end_ns, phase, kind });
}

/** A trace of `count` blocks of all sizes that end in no order, some of them never. */
export function randomLives(count: number): Trace {
  const random = randomNumbers(5);
  const duration_ns = count * 1000;
  return livesOf(count, () => ({
    start_ns: random() * duration_ns,
    life_ns: random() < 0.01 ? -1 : 500 / (random() + 1e-4),
    bytes: 2 ** (6 + 20 * random()),
  }));
}

/** A trace of `count` blocks that are freed within microseconds, over a few that stay. */
export function tinyTemporaries(count: number): Trace {
  const random = randomNumbers(6);
  return livesOf(count, (row) => ({
    start_ns: row * 1000 + random() * 500,
    life_ns: random() < 0.005 ? -1 : 20 + random() * 3000,
    bytes: 64 * Math.ceil(16 * random()),
  }));
}

/** A trace of `count` blocks that nothing frees: a leak. */
export function neverFreed(count: number): Trace {
  const random = randomNumbers(8);
  return livesOf(count, (row) => ({
    start_ns: row * 1000,
    life_ns: -1,
    bytes: 256 * Math.ceil(4 * random()),
  }));
}

function livesOf(
  count: number,
  live: (row: number) => { start_ns: number; life_ns: number; bytes: number },
): Trace {
  const column = (): Float64Array => new Float64Array(count);
  const [bytes, start_ns, end_ns] = [column(), column(), column()];
  const kind = new Int32Array(count);
  for (let row = 0; row < count; row++) {
    const made = live(row);
    start_ns[row] = Math.floor(made.start_ns);
    end_ns[row] = made.life_ns < 0 ? -1 : start_ns[row]! + Math.ceil(made.life_ns);
    bytes[row] = Math.round(made.bytes);
    kind[row] = row % ALLOCATION_KINDS.length;
  }
  return traceOf({ bytes, start_ns, end_ns, kind });
}

const NONE: readonly string[] = ["op", "grad_node", "scope", "stack", "tensor"];

/** Of blocks that nothing else is known of. */
function traceOf(given: Record<string, Int32Array | Float64Array>): Trace {
  const { length } = given.bytes!;
  const none = new Int32Array(length).fill(-1);
  const zero = new Int32Array(length);
  const columns = Object.fromEntries(
    Object.keys(TABLES.allocations).map((name) => [
      name,
      given[name] ?? (NONE.includes(name) ? none : zero),
    ]),
  );
  const tables = Object.fromEntries(
    Object.entries(TABLES).map(([name, names]) => [
      name,
      {
        length: 0,
        columns: Object.fromEntries(
          Object.keys(names).map((column) => [column, new Int32Array(0)]),
        ),
      },
    ]),
  ) as unknown as Record<TableName, Packed["tables"][TableName]>;
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
