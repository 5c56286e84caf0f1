// Passages of any number, streamed: real Wikipedia paragraphs, and beyond them made ones that keep a real corpus's statistics.
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { createGunzip } from "node:zlib";
import { random } from "../../dist/base/random.js";
import { NAME_WORDS } from "../../dist/worlds/tiny/names.js";
import { permutation } from "../../dist/worlds/tiny/permutation.js";
import { tinyWorld } from "../../dist/worlds/tiny/tiny-world.js";

/** Grows with every change that could change a passage. */
export const PASSAGES_VERSION = 1;

/** Paragraphs of this length and longer are passages; what is shorter is mostly headings. 129 341 in the shared text. */
const SHORTEST = 120;

/** Heaps' law, V = K · n^β, fitted to the real paragraphs between 30 000 (1.39 M terms, 69 090 distinct) and 129 000
 *  (5.93 M, 175 984): how many words nobody has written before a made passage must bring. */
const HEAPS = { K: 7.71, beta: 0.6435 };

/** Share of tiny-world passages among the made ones. */
const WORLD_SHARE = 0.1;

/** The shared text's paragraphs of 120 characters and more, in its order. */
export async function* realParagraphs(file) {
  const lines = createInterface({ input: createReadStream(file).pipe(createGunzip()) });
  for await (const line of lines) {
    const { id, title, text } = JSON.parse(line);
    for (const [i, paragraph] of text.split("\n").entries()) {
      if (paragraph.length >= SHORTEST) yield { id: `${id}-${i}`, title, text: paragraph };
    }
  }
}

/**
 * `count` passages: the real ones first; each made one is a tiny-world passage (1 in 10) or as many sentences as some real
 * paragraph has, each from a different paragraph, with names never seen before as often as Heaps' law asks for them and one
 * invented earlier. The same count gives the same passages; a larger count begins with the same real ones.
 */
export async function* passages(count, file) {
  const sentences = sentenceStore();
  let made = 0;
  for await (const passage of realParagraphs(file)) {
    if (made === count) return;
    sentences.add(passage.text);
    made += 1;
    yield passage;
  }
  yield* madePassages(count - made, sentences);
}

function* madePassages(count, sentences) {
  const draw = random("bench retrieval passages");
  const titles = permutation(NAME_WORDS.length ** 3, 1);
  const people = Math.max(2, Math.ceil((count * WORLD_SHARE) / 1.6));
  const world = tinyWorld({ seed: 1, split: "train", people }).passages();
  const names = inventedNames(draw, sentences.words);
  for (let i = 0; i < count; i++) {
    if (i % Math.round(1 / WORLD_SHARE) === 0) {
      const { value, done } = world.next();
      if (!done) {
        const { id, title, text } = value;
        yield { id: `world-${id}`, title, text };
        continue;
      }
    }
    const code = titles.at(i);
    const [first, second, third] = [1, NAME_WORDS.length, NAME_WORDS.length ** 2].map(
      (unit) => NAME_WORDS[Math.floor(code / unit) % NAME_WORDS.length],
    );
    // No name of a tiny world has an "of": titles stay unique.
    const title = `${first} ${second} of ${third}`;
    const chosen = Array.from({ length: sentences.someLength(draw) }, () => sentences.some(draw));
    const words = chosen.reduce((sum, sentence) => sum + sentence.split(" ").length, 0);
    const called = names.next(words);
    if (called.length > 0) chosen.splice(1, 0, `Known as ${called.join(", ")}.`);
    yield { id: `made-${i}`, title, text: chosen.join(" ") };
  }
}

/** Sentences of all real paragraphs, and how many each paragraph has: the only thing kept in memory, some 100 MB. */
function sentenceStore() {
  const sentences = [];
  const lengths = [];
  let words = 0;
  return {
    get words() {
      return words;
    },
    add(text) {
      const parts = text.split(/(?<=[.!?]["”)]?)\s+(?=[\p{Lu}"“(])/u);
      lengths.push(parts.length);
      sentences.push(...parts);
      words += text.split(" ").length;
    },
    someLength: (draw) => draw.pick(lengths),
    some: (draw) => draw.pick(sentences),
  };
}

/** Names for a passage of so many words: new ones by Heaps' law, and one of the earlier ones, early ones more often. */
function inventedNames(draw, wordsSoFar) {
  let words = wordsSoFar;
  let invented = 0;
  let owed = 0;
  return {
    next(length) {
      owed += HEAPS.K * HEAPS.beta * words ** (HEAPS.beta - 1) * length;
      words += length;
      const names = [];
      // Log-uniform ranks: the n-th name occurs about 1/n as often as the first, as names in a real corpus do.
      if (invented > 0) names.push(coined(Math.floor(invented ** draw.next()) - 1));
      for (; owed >= 1; owed--) names.push(coined(invented++));
      return names;
    },
  };
}

/** The j-th coined name: words of the tiny world's names run together, as many as it takes. */
function coined(j) {
  let rest = j;
  let name = "";
  do {
    const word = NAME_WORDS[rest % NAME_WORDS.length];
    name += name === "" ? word : word.toLowerCase();
    rest = Math.floor(rest / NAME_WORDS.length);
  } while (rest > 0 || name.length < 9);
  return name;
}
