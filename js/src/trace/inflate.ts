/** Unpacks zlib streams with the browser's own decompression. */

/**
 * The content of a zlib stream.
 *
 * @throws TypeError if the stream is cut short or altered
 */
export function inflate(bytes: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  const { readable, writable } = new DecompressionStream("deflate");
  const writer = writable.getWriter();
  // The reader gets the error; do not also report it as unhandled.
  writer.write(bytes as Uint8Array<ArrayBuffer>).catch(() => {});
  writer.close().catch(() => {});
  return readAll(readable, 8 * bytes.length);
}

/** The buffer grows in place: a Blob or a Response would take 50 % longer. */
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
  // A small view of a much larger buffer would keep the whole buffer alive.
  return 2 * size < room.length ? room.slice(0, size) : room.subarray(0, size);
}
