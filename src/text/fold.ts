/** Separates words; a combining mark without a letter is part of the separator. */
export const WORD_SEPARATOR = /[^\p{L}\p{M}\p{N}]+\p{M}*|^\p{M}+/u;

/** NFKC ("ﬁ", full-width letters, composed accents), without soft hyphens. */
export function composed(text: string): string {
  return text.normalize("NFKC").replaceAll("\u00ad", "");
}

/**
 * A word without accents: removes the marks U+0300 to U+036F, as FlexSearch does.
 *
 * Letters that Unicode does not decompose into letter and mark stay (ø, ß, ł, ı).
 *
 * @param word composed (NFC).
 * @param kept letters that keep their accents, composed.
 * @example foldAccents("smörgåsbord à", "åäö") // "smörgåsbord a"
 */
export function foldAccents(word: string, kept = ""): string {
  if (/^[\0-\x7f]*$/.test(word)) return word;
  let folded = "";
  for (const letter of word)
    folded += kept.includes(letter)
      ? letter
      : letter
          .normalize("NFD")
          .replaceAll(/[\u0300-\u036f]/g, "")
          .normalize("NFC");
  return folded;
}
