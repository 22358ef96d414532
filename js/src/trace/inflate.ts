/** Unpacks a zlib stream with what the browser has. */
export async function inflate(bytes: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new DecompressionStream("deflate");
  const parts: Uint8Array[] = [];
  let size = 0;
  const writing = write(stream.writable, bytes as Uint8Array<ArrayBuffer>);
  const reader = stream.readable.getReader();
  try {
    // By hand: a Blob at one end and a Response at the other take half as long again.
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      parts.push(part.value);
      size += part.value.length;
    }
  } finally {
    // Fails with the same error as the reading.
    await writing.catch(() => {});
  }
  const whole = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

async function write(
  writable: WritableStream<BufferSource>,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<void> {
  const writer = writable.getWriter();
  await writer.write(bytes);
  await writer.close();
}
