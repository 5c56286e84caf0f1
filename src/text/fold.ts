/** What stands between words; a mark with no letter to sit on belongs to it. */
export const WORD_SEPARATOR = /[^\p{L}\p{M}\p{N}]+\p{M}*|^\p{M}+/u;

/** Compatibility forms made one ("ﬁ", full-width letters), accents joined to their letters, soft hyphens dropped. */
export function composed(text: string): string {
  return text.normalize("NFKC").replaceAll("\u00ad", "");
}

/**
 * A word without accents: the marks U+0300 to U+036F, which FlexSearch drops too.
 *
 * Letters that are not a letter and a mark to Unicode stay (ø, ß, ł, ı).
 *
 * @param word composed.
 * @param kept letters that keep theirs, composed.
 * @example foldAccents("smörgåsbord à", "åäö") // "smörgåsbord a"
 */
export function foldAccents(word: string, kept = ""): string {
  if (/^[\0-\x7f]*$/.test(word)) return word;
  let folded = "";
  for (const letter of word) {
    folded += kept.includes(letter)
      ? letter
      : letter
          .normalize("NFD")
          .replaceAll(/[\u0300-\u036f]/g, "")
          .normalize("NFC");
  }
  return folded;
}
