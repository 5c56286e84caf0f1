// The corpora and queries that all contenders read: files in the work folder, made once and used again.
import { createWriteStream, existsSync } from "node:fs";
import { mkdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { once } from "node:events";
import { join } from "node:path";
import { random } from "../../dist/base/random.js";
import { readPassages } from "../../dist/data/passages.js";
import { searchedText } from "../../dist/retrieval/store/passage-file.js";
import { english } from "../../dist/text/analyzer.js";
import { passages, PASSAGES_VERSION, realParagraphs } from "./made-passages.mjs";

/** Where the tests look for it too: beside the project. */
const shared = join(import.meta.dirname, "../../../shared/data");
const encyclopedia = join(shared, "enwiki/docs.jsonl.gz");
const questions = join(shared, "hotpotqa/dev-7405-qa.json");

/** What is missing for making a corpus, in words; null when all is there. */
export function missingSources() {
  const missing = [encyclopedia, questions].filter((path) => !existsSync(path));
  return missing.length === 0 ? null : `${missing.join(" and ")} not here`;
}

/**
 * Corpus and queries of one size.
 * @param work folder for all that is made; a corpus takes some 500 bytes a passage.
 * @returns `text`: passages and questions as they are, read by whoever analyses for itself. `terms`: the same as our
 *   analyzer's terms with blanks between, for contenders that compare only what comes after.
 */
export async function corpora(work, count) {
  await mkdir(work, { recursive: true });
  const name = (what) => join(work, `v${PASSAGES_VERSION}-${what}.jsonl`);
  const text = name(`passages-${count}`);
  const terms = name(`terms-${count}`);
  await unlessThere(text, () => passages(count, encyclopedia));
  return {
    count,
    real: Math.min(count, await realCount(work)),
    text: { corpus: text, ...(await queryFiles(name, "text", (query) => query)) },
    /** Written on demand: the scaling curve has no use for it. */
    async terms() {
      await unlessThere(terms, () => analysed(text));
      const analysedQuery = (query) => english.analyze(query).join(" ");
      return { corpus: terms, ...(await queryFiles(name, "terms", analysedQuery)) };
    },
  };
}

/** HotpotQA's dev questions and 2 000 titles of real paragraphs, each in a seeded order: two kinds of query. */
async function queryFiles(name, kind, form) {
  const asked = name(`questions-${kind}`);
  const titled = name(`titles-${kind}`);
  const draw = random("bench retrieval queries");
  await unlessThere(asked, async function* () {
    const all = JSON.parse(await readFile(questions, "utf8")).map(({ question }) => question);
    for (const question of draw.derive("questions").shuffle(all)) yield form(question);
  });
  await unlessThere(titled, async function* () {
    const titles = new Set();
    for await (const { title } of realParagraphs(encyclopedia)) titles.add(title);
    const shuffled = draw.derive("titles").shuffle([...titles]);
    for (const title of shuffled.slice(0, 2000)) yield form(title);
  });
  return { questions: asked, titles: titled };
}

async function* analysed(path) {
  for await (const passage of readPassages(path)) {
    yield { id: passage.id, title: "", text: english.analyze(searchedText(passage)).join(" ") };
  }
}

async function realCount(work) {
  const path = join(work, `v${PASSAGES_VERSION}-real-count.json`);
  if (!existsSync(path)) {
    const paragraphs = realParagraphs(encyclopedia);
    let count = 0;
    while (!(await paragraphs.next()).done) count += 1;
    await writeFile(path, JSON.stringify(count));
  }
  return JSON.parse(await readFile(path, "utf8"));
}

/** Writes one JSON value a line, under another name until it is whole. */
async function unlessThere(path, values) {
  if (existsSync(path)) return;
  console.error(`making ${path}`);
  const out = createWriteStream(`${path}.part`);
  let block = "";
  for await (const value of values()) {
    block += `${JSON.stringify(value)}\n`;
    if (block.length < 1 << 20) continue;
    if (!out.write(block)) await once(out, "drain");
    block = "";
  }
  out.end(block);
  await once(out, "finish");
  await rename(`${path}.part`, path);
}

/** @returns bytes. */
export async function sizeOf(path) {
  return (await stat(path)).size;
}
