/** Base64: the form in which modules and pages contain bytes. */

type Decoder = { fromBase64?(text: string): Uint8Array<ArrayBuffer> };

/**
 * Decode a base64 text.
 *
 * @throws Error if the text is not base64.
 */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  const { fromBase64 } = Uint8Array as Decoder;
  if (fromBase64) {
    return fromBase64.call(Uint8Array, text);
  }
  const characters = atob(text.trim());
  const bytes = new Uint8Array(characters.length);
  for (let at = 0; at < bytes.length; at++) {
    bytes[at] = characters.charCodeAt(at);
  }
  return bytes;
}
