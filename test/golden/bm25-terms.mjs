// Writes the terms that bm25-scores.py scores: ours, so that only the formula is compared.
//
//   npm run build
//   node test/golden/bm25-terms.mjs ../shared/data TERMS.json
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { readPassages } from "../../dist/data/passages.js";
import { readJsonl } from "../../dist/base/jsonl.js";
import { readQrels } from "../../dist/data/qrels.js";
import { readQueries } from "../../dist/evaluate/retrieval-sets.js";
import { searchedText } from "../../dist/retrieval/store/passage-file.js";
import { english } from "../../dist/text/analyzer.js";

const [data, out] = process.argv.slice(2);
const hotpotqa = join(data, "hotpotqa/dev-500-paragraphs.jsonl");
const scifact = join(data, "scifact");
const questions = [];
for await (const { value } of readJsonl(hotpotqa)) {
  questions.push({ id: value.question_id, text: value.question_text });
}

async function terms(corpus, queries) {
  const passages = [];
  for await (const passage of readPassages(corpus)) passages.push(passage);
  return {
    ids: passages.map(({ id }) => id),
    passages: passages.map((passage) => english.analyze(searchedText(passage))),
    queries: queries.map(({ id, text }) => ({ id, terms: english.analyze(text) })),
  };
}

const qrels = await readQrels(join(scifact, "qrels.txt"));
const dump = {
  hotpotqa: await terms(hotpotqa, questions),
  scifact: {
    ...(await terms(join(scifact, "corpus.jsonl.gz"), await readQueries(join(scifact, "queries.tsv")))),
    qrels: Object.fromEntries([...qrels].map(([id, judged]) => [id, Object.fromEntries(judged)])),
  },
};
writeFileSync(out, JSON.stringify(dump));
