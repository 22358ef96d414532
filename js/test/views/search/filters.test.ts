import { expect, test } from "vitest";
import { parseQuery, SearchIndex } from "../../../src/views/search/search_index.ts";
import { SyntheticTrace } from "../../records/synthetic.ts";
import { chain, encoder } from "../../records/synthetic_nets.ts";

/** x float32 [4, 16] -> cast float16 -> matmul float16 [4, 64] -> sum float32 []. */
async function mixedPrecision() {
  const made = new SyntheticTrace();
  const amp = made.group("amp.block", { className: "Block" });
  const other = made.group("amp.block1", { className: "Block1" });
  const x = made.tensor("[4, 16]", { kind: "external" });
  const cast = made.op("cast", { inputs: [x], group: amp });
  const matmul = made.op("matmul", { inputs: cast.out, shape: "[4, 64]", group: amp });
  const sum = made.op("sum", { inputs: matmul.out, shape: "[]", group: other });
  // It has no input: it makes float16, but not from another dtype.
  const ones = made.op("ones", { shape: "[7]" });
  made.op("adam_", { inputs: sum.out, shape: "[]", phase: "optimizer" });
  for (const tensor of [...cast.out, ...matmul.out, ...ones.out]) {
    made.tables.tensors.dtype![tensor] = made.text("float16");
  }
  made.tables.ops.duration_ns = [900, 1_000_000, 2_500_000, 1000, 40];
  const trace = await made.trace();
  const index = new SearchIndex(trace);
  return {
    index,
    names: (query: string) => index.find(query).map((op) => trace.opLabel(op)),
    wrong: (query: string) => index.ask(query).problem,
  };
}

test("a filter finds ops by dtype, by the dtype that they made, and by shape", async () => {
  const { names } = await mixedPrecision();
  expect(names("dtype:float16")).toEqual(["cast", "matmul", "sum", "ones"]);
  expect(names("DTYPE:Float16")).toEqual(["cast", "matmul", "sum", "ones"]);
  expect(names("made-dtype:float16")).toEqual(["cast"]);
  expect(names("made-dtype:float32")).toEqual(["sum"]);
  expect(names("shape:[*,64]")).toEqual(["matmul", "sum"]);
  expect(names("shape:[4, *]")).toEqual(["cast", "matmul", "sum"]);
  expect(names("shape:*,64")).toEqual(["matmul", "sum"]);
  expect(names("shape:[...,64]")).toEqual(["matmul", "sum"]);
  expect(names("shape:[4,...]")).toEqual(["cast", "matmul", "sum"]);
  expect(names("shape:[64]")).toEqual([]);
  expect(names("shape:[]")).toEqual(["sum", "adam_"]);
});

test("a filter finds ops by host time, phase, layer and name", async () => {
  const { names } = await mixedPrecision();
  expect(names(">1ms")).toEqual(["sum"]);
  expect(names(">=1ms")).toEqual(["matmul", "sum"]);
  expect(names("> 0.5 ms")).toEqual(["matmul", "sum"]);
  expect(names("<1us")).toEqual(["cast", "adam_"]);
  expect(names("<=0.04µs")).toEqual(["adam_"]);
  expect(names("phase:optimizer")).toEqual(["adam_"]);
  expect(names("layer:amp.block")).toEqual(["cast", "matmul"]);
  expect(names("layer:block1")).toEqual(["sum"]);
  expect(names("layer:block*")).toEqual(["cast", "matmul", "sum"]);
  expect(names("op:mat*")).toEqual(["matmul"]);
  expect(names("op:sum")).toEqual(["sum"]);
});

test("filters and words combine, and a minus sign negates", async () => {
  const { names } = await mixedPrecision();
  expect(names("dtype:float16 -op:cast")).toEqual(["matmul", "sum", "ones"]);
  expect(names("block dtype:float16 >1us -sum")).toEqual(["matmul"]);
  expect(names("-shape:[4, 64]")).toEqual(["cast", "ones", "adam_"]);
  expect(names("->1us")).toEqual(["cast", "ones", "adam_"]);
  expect(names("-1")).toEqual([]);
});

test("a false filter finds nothing and names the nearest right one", async () => {
  const { index, wrong } = await mixedPrecision();
  expect(index.find("dtype:flaot16")).toEqual([]);
  expect(wrong("dtype:flaot16")).toMatchObject({
    kind: "unknown",
    instead: ["dtype:float16", "dtype:float32"],
  });
  expect(wrong("-dtype:flaot16")?.instead[0]).toBe("dtype:float16");
  expect(wrong("dtype:int8")?.instead).toContain("dtype:float16");
  expect(wrong("made-dtype:")?.instead).toEqual(["made-dtype:float32", "made-dtype:float16"]);
  expect(wrong("shape:[4,x]")).toMatchObject({ kind: "bad_shape", instead: ["shape:[4,*]"] });
  expect(wrong(">5msec")).toMatchObject({ kind: "bad_time", instead: [">5ms"] });
  expect(wrong(">5")?.instead).toEqual([">5us", ">5ms", ">5s"]);
  expect(wrong("phase:backwards")?.instead).toEqual(["phase:forward"]);
  expect(wrong("op:matmull")?.instead).toEqual(["op:matmul"]);
  expect(wrong("layer:blok1")?.instead[0]).toBe("layer:block1");
  expect(wrong("dytpe:float16")).toMatchObject({
    kind: "no_filter",
    instead: ["dtype:float16"],
  });
  expect(wrong("matmul nothing")).toBeUndefined();
});

test("what was plain text stays so", async () => {
  const { find } = await indexed(encoder(3));
  expect(parseQuery("<lambda> a:b [4, 16")).toEqual([
    { kind: "text", text: "<lambda>" },
    { kind: "text", text: "a:b" },
    { kind: "text", text: "[4,16" },
  ]);
  expect(find("gelu float32")).toHaveLength(3);
});

async function indexed(made: SyntheticTrace) {
  const index = new SearchIndex(await made.trace());
  return { find: (query: string) => index.find(query) };
}

test("of 100,000 ops each filter finds what it should", async () => {
  const { find } = await indexed(chain(100_000));
  for (const query of [
    "dtype:float32",
    "shape:[*,16]",
    "<1us",
    "op:relu",
    "made-dtype:float32 -x",
  ]) {
    const before = performance.now();
    const found = find(query).length;
    console.info(`${query}: ${(performance.now() - before).toFixed(0)} ms`);
    expect(found).toBe(query.startsWith("made") ? 0 : 100_000);
  }
});
