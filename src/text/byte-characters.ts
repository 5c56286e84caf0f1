/**
 * Byte-level BPE writes each byte as one printable character: bytes that are printable in Latin-1 stand for themselves, the
 * others are shifted past 255 in order (GPT-2's table).
 */
const byteOfCharacter = new Map<string, number>();
{
  const printable = (byte: number): boolean =>
    (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
  let shifted = 256;
  for (let byte = 0; byte < 256; byte++) {
    byteOfCharacter.set(String.fromCharCode(printable(byte) ? byte : shifted++), byte);
  }
}

/** The printable characters that stand for the bytes 0–255, in order. */
export const BYTE_CHARACTERS: readonly string[] = [...byteOfCharacter]
  .sort((a, b) => a[1] - b[1])
  .map(([c]) => c);

/** The bytes that a byte-level token stands for; null for text with a character of no byte. */
export function byteLevelBytes(token: string): Uint8Array | null {
  const bytes: number[] = [];
  for (const character of token) {
    const byte = byteOfCharacter.get(character);
    if (byte === undefined) return null;
    bytes.push(byte);
  }
  return Uint8Array.from(bytes);
}
