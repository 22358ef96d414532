/** Unpacks zlib streams with what the browser has. */

const FIRST_BYTES = 1 << 22;

export function inflate(bytes: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  const inflating = new Inflating(8 * bytes.length);
  inflating.add(bytes as Uint8Array<ArrayBuffer>);
  return inflating.end();
}

/** Unpacks a stream that arrives in parts. */
export class Inflating {
  readonly #writer: WritableStreamDefaultWriter<BufferSource>;
  readonly #reading: Promise<Uint8Array<ArrayBuffer>>;

  /** @param expected_bytes what the stream holds, about */
  constructor(expected_bytes = FIRST_BYTES) {
    const { readable, writable } = new DecompressionStream("deflate");
    this.#writer = writable.getWriter();
    this.#reading = readAll(readable, expected_bytes);
    // The code that waits for the end gets the error; do not also report it as unhandled.
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

/** What has been read grows in place: a Blob or a Response would take half as long again. */
async function readAll(
  readable: ReadableStream<Uint8Array>,
  expected_bytes: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const reader = readable.getReader();
  let room = new Uint8Array(expected_bytes);
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
  // A part of a much larger buffer would keep all of it.
  return 2 * size < room.length ? room.slice(0, size) : room.subarray(0, size);
}
