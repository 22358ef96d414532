/** Unpacks a zlib stream that arrives in parts. */

const FIRST_BYTES = 1 << 22;

/** What the parts have given so far grows in place: it is there in one when the last has come. */
export class Inflating {
  readonly #writer: WritableStreamDefaultWriter<BufferSource>;
  readonly #reading: Promise<Uint8Array<ArrayBuffer>>;

  constructor() {
    const { readable, writable } = new DecompressionStream("deflate");
    this.#writer = writable.getWriter();
    this.#reading = readAll(readable);
    // Whoever waits for the end is told.
    this.#reading.catch(() => {});
  }

  add(part: Uint8Array<ArrayBuffer>): void {
    this.#writer.write(part).catch(() => {});
  }

  /**
   * Resolves with all of it, once no more is added.
   *
   * @throws TypeError if the stream is cut short or altered
   */
  end(): Promise<Uint8Array<ArrayBuffer>> {
    this.#writer.close().catch(() => {});
    return this.#reading;
  }
}

async function readAll(readable: ReadableStream<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> {
  const reader = readable.getReader();
  let room = new Uint8Array(FIRST_BYTES);
  let size = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const end = size + part.value.length;
    if (end > room.length) {
      const larger = new Uint8Array(Math.max(end, 2 * room.length));
      larger.set(room.subarray(0, size));
      room = larger;
    }
    room.set(part.value, size);
    size = end;
  }
  return room.subarray(0, size);
}
