// Writes the passages, queries and terms that bm25-variants.py scores: a small tiny world and sentences with awkward counts.
//
//   npm run build
//   node test/golden/bm25-variants.mjs TERMS.json
import { writeFileSync } from "node:fs";
import { tinyWorld } from "../../dist/worlds/tiny/tiny-world.js";
import { english } from "../../dist/text/analyzer.js";

const world = tinyWorld({ seed: 7, split: "dev", people: 20 });

const sentences = [
  ["Rain", "Rain, rain and more rain: it rained on every day of that rainy week."],
  ["Harbour", "The harbour."],
  ["Ferries", "Two ferries leave the harbour at noon; the second ferry waits for the train."],
  ["Trains", "No train left the station while the river stood above the rails of the harbour line."],
  ["A lamp", "The keeper lit the lamp, carried the lamp up the stairs and set the lamp in the window."],
  ["Or not", "To be, or not to be: it is as it was."],
  ["Born twice", "The town was born of two villages, born again after the flood, born of stubbornness."],
  ["Inventory", `Lamp, rope, sail, ${"nail, ".repeat(40)}hammer, anchor, ferry, rope.`],
  // With these two "born" is in more than half of the passages: the classic idf would be negative.
  ["Register", "Whoever was born in the valley is in the register."],
  ["Census", "Born: forty. Married: nine. Counted by the ferry keeper."],
];

const passages = [
  ...[...world.passages()].map(({ id, title, text }) => ({ id, title, text })),
  ...sentences.map(([title, text], i) => ({ id: `sentence-${i}`, title, text })),
];

const queries = [
  "Where was Globor Stenkamp born?",
  "Which firm was founded by the person who studied under Globor Stenkamp?",
  "born",
  "lamp",
  "the harbour ferry and the harbour train", // a term twice
  "rain zyzzyva", // a term that no passage has
  "Lumuma Dyntrak Lumuma Dyntrak",
  "nail hammer in the rain",
];

const dump = {
  passages: passages.map((passage) => ({
    ...passage,
    terms: english.analyze(`${passage.title} ${passage.text}`),
  })),
  queries: queries.map((text) => ({ text, terms: english.analyze(text) })),
};
writeFileSync(process.argv[2], JSON.stringify(dump));
