/** Base64: the form in which modules and pages contain bytes. */

/**
 * Decode a base64 text.
 *
 * @throws Error if the text is not base64.
 */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  const characters = atob(text.trim());
  const bytes = new Uint8Array(characters.length);
  for (let at = 0; at < bytes.length; at++) {
    bytes[at] = characters.charCodeAt(at);
  }
  return bytes;
}
