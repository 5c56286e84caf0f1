/**
 * Porter's suffix stripper for English: "connections" and "connected" both become "connect".
 *
 * Words shorter than three letters and words with other characters than a to z are returned unchanged.
 *
 * @param word lower case.
 *
 * Source: M. F. Porter, An algorithm for suffix stripping, Program 14(3), 1980, with two changes from the author's
 * later implementation, also in Lucene: step 2 has "bli" → "ble" instead of "abli" → "able", and "logi" → "log".
 *
 * @example porterStem("relational")   // "relat"
 * @example porterStem("hopefulness")  // "hope"
 */
export function porterStem(word: string): string {
  if (word.length < 3 || !/^[a-z]+$/.test(word)) return word;
  let stem = stripPlural(word);
  stem = stripPastAndGerund(stem);
  if (stem.endsWith("y") && hasVowel(stem.slice(0, -1))) stem = `${stem.slice(0, -1)}i`;
  stem = replaceLongest(stem, DOUBLE_SUFFIXES, 0);
  stem = replaceLongest(stem, DERIVED_SUFFIXES, 0);
  stem = dropLongest(stem);
  return tidyEnd(stem);
}

type Rule = readonly [suffix: string, replacement: string];

// Step 2. No suffix ends in an earlier suffix of the list, so the first match is the longest.
const DOUBLE_SUFFIXES: readonly Rule[] = [
  ["ational", "ate"],
  ["tional", "tion"],
  ["enci", "ence"],
  ["anci", "ance"],
  ["izer", "ize"],
  ["bli", "ble"],
  ["alli", "al"],
  ["entli", "ent"],
  ["eli", "e"],
  ["ousli", "ous"],
  ["ization", "ize"],
  ["ation", "ate"],
  ["ator", "ate"],
  ["alism", "al"],
  ["iveness", "ive"],
  ["fulness", "ful"],
  ["ousness", "ous"],
  ["aliti", "al"],
  ["iviti", "ive"],
  ["biliti", "ble"],
  ["logi", "log"],
];

// Step 3.
const DERIVED_SUFFIXES: readonly Rule[] = [
  ["icate", "ic"],
  ["ative", ""],
  ["alize", "al"],
  ["iciti", "ic"],
  ["ical", "ic"],
  ["ful", ""],
  ["ness", ""],
];

// Step 4. Longer suffixes come before shorter ones that they end in (ement, ment, ent).
const SINGLE_SUFFIXES: readonly string[] = [
  "al",
  "ance",
  "ence",
  "er",
  "ic",
  "able",
  "ible",
  "ant",
  "ement",
  "ment",
  "ent",
  "ion",
  "ou",
  "ism",
  "ate",
  "iti",
  "ous",
  "ive",
  "ize",
];

/** Step 1a. */
function stripPlural(word: string): string {
  if (word.endsWith("sses") || word.endsWith("ies")) return word.slice(0, -2);
  if (word.endsWith("s") && !word.endsWith("ss")) return word.slice(0, -1);
  return word;
}

/** Step 1b: -eed, -ed, -ing, and repairs after the last two. */
function stripPastAndGerund(word: string): string {
  if (word.endsWith("eed")) return measure(word.slice(0, -3)) > 0 ? word.slice(0, -1) : word;
  const suffix = word.endsWith("ed") ? "ed" : word.endsWith("ing") ? "ing" : null;
  if (suffix === null) return word;
  const stem = word.slice(0, -suffix.length);
  if (!hasVowel(stem)) return word;
  if (stem.endsWith("at") || stem.endsWith("bl") || stem.endsWith("iz")) return `${stem}e`;
  if (endsInDouble(stem)) return /[lsz]$/.test(stem) ? stem : stem.slice(0, -1);
  return measure(stem) === 1 && endsInShort(stem) ? `${stem}e` : stem;
}

/** Steps 2 and 3: applies the rule whose suffix matches, if the remaining stem has a measure above `least`. */
function replaceLongest(word: string, rules: readonly Rule[], least: number): string {
  for (const [suffix, replacement] of rules) {
    if (!word.endsWith(suffix)) continue;
    const stem = word.slice(0, -suffix.length);
    return measure(stem) > least ? stem + replacement : word;
  }
  return word;
}

/** Step 4. */
function dropLongest(word: string): string {
  for (const suffix of SINGLE_SUFFIXES) {
    if (!word.endsWith(suffix)) continue;
    const stem = word.slice(0, -suffix.length);
    const fits = suffix !== "ion" || stem.endsWith("s") || stem.endsWith("t");
    return fits && measure(stem) > 1 ? stem : word;
  }
  return word;
}

/** Step 5: removes a final e, and one l of two. */
function tidyEnd(word: string): string {
  let stem = word;
  if (stem.endsWith("e")) {
    const shorter = stem.slice(0, -1);
    const syllables = measure(shorter);
    if (syllables > 1 || (syllables === 1 && !endsInShort(shorter))) stem = shorter;
  }
  return stem.endsWith("ll") && measure(stem) > 1 ? stem.slice(0, -1) : stem;
}

/** a, e, i, o, u are vowels; y is one after a consonant. */
function isConsonant(word: string, at: number): boolean {
  const letter = word[at];
  if (letter === "y") return at === 0 || !isConsonant(word, at - 1);
  return !(letter === "a" || letter === "e" || letter === "i" || letter === "o" || letter === "u");
}

/** Number of vowel runs that a consonant run follows: tree 0, trouble 1, private 2. */
function measure(stem: string): number {
  let count = 0;
  let afterVowel = false;
  for (let i = 0; i < stem.length; i++) {
    const consonant = isConsonant(stem, i);
    if (consonant && afterVowel) count += 1;
    afterVowel = !consonant;
  }
  return count;
}

function hasVowel(stem: string): boolean {
  for (let i = 0; i < stem.length; i++) if (!isConsonant(stem, i)) return true;
  return false;
}

function endsInDouble(stem: string): boolean {
  const last = stem.length - 1;
  return last > 0 && stem[last] === stem[last - 1] && isConsonant(stem, last);
}

/** Consonant, vowel, consonant other than w, x, y: hop, not snow. */
function endsInShort(stem: string): boolean {
  const last = stem.length - 1;
  return (
    last > 1 &&
    isConsonant(stem, last) &&
    !isConsonant(stem, last - 1) &&
    isConsonant(stem, last - 2) &&
    !/[wxy]$/.test(stem)
  );
}
