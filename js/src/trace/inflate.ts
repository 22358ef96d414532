/** Unpacks zlib streams with the browser's own decompression. */

/**
 * The content of a zlib stream.
 *
 * @throws TypeError if the stream is cut short or altered
 */
export async function inflate(bytes: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  const packed = new Blob([bytes as Uint8Array<ArrayBuffer>]).stream();
  const unpacked = packed.pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(unpacked).arrayBuffer());
}
