// What the stub server says: messages of about 325 tokens as ids, searches first, an answer last; passages for the searches; questions; and
// a policy folder with a tokenizer and a config.json, without weights.
import { createReadStream, existsSync, readdirSync, readFileSync } from "node:fs";
import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { createGunzip } from "node:zlib";

const { random } = await import("../../dist/base/random.js");
const { loadTokenizer } = await import("../../dist/text/tokenizer.js");
const { BYTE_CHARACTERS } = await import("../../dist/text/token-bytes.js");

const shared = join(import.meta.dirname, "../../../shared/data");
const RANKS = join(shared, "tokenizers/qwen.tiktoken");

/** Different messages of each kind. */
const VARIANTS = 64;
/** Tokens of a message, so that a trajectory of five and four observations has about 4 000 and nothing is dropped. */
const MESSAGE_TOKENS = 320;
const PASSAGES = 512;
const PASSAGE_CHARACTERS = 620;

/** @param folder tokenizer.json of the user's; undefined: Qwen's ranks where they are, else the package's own base policy. */
export async function madeScript({ work, tokenizer: folder, questions }) {
  const policy = join(work, "policy");
  await mkdir(policy, { recursive: true });
  const name = await writeTokenizer(policy, folder);
  const tokenizer = await loadTokenizer(policy);
  await writeFile(join(policy, "config.json"), JSON.stringify(configOf(tokenizer)));
  const draw = random(1);
  const paragraphs = await someText();
  const pick = () => draw.pick(paragraphs);
  const marker = markerOf(tokenizer, paragraphs);
  const cut = (text, count) => tokenizer.decode(tokenizer.encode(text).slice(0, count));
  const message = (end) => {
    const filler = Array.from({ length: 8 }, () => pick().slice(0, 600)).join(" ");
    const left = MESSAGE_TOKENS - tokenizer.encode(end).length - 12;
    return tokenizer.encode(`<think>\n${marker}\n${cut(filler, left)}\n</think>\n${end}`);
  };
  const query = () => pick().split(" ").slice(0, 7).join(" ").replaceAll(/[<>]/g, "");
  const list = (make) => Array.from({ length: VARIANTS }, make);
  const script = {
    marker: tokenizer.encode(`\n${marker}\n`)[1],
    searches: list(() => message(`<search>${query()}</search>`)),
    right: list(() => message("<answer>right</answer>")),
    wrong: list(() => message("<answer>wrong</answer>")),
    passages: Array.from({ length: PASSAGES }, () => pick().slice(0, PASSAGE_CHARACTERS)),
  };
  const file = join(work, "script.json");
  await writeFile(file, JSON.stringify(script));
  const written = async (name, count) => {
    const lines = Array.from({ length: count }, (_, i) =>
      JSON.stringify({ id: `q${i}`, question: `${query()}, is it so (${i})?`, answer: "right" }),
    );
    await writeFile(join(work, name), `${lines.join("\n")}\n`);
    return join(work, name);
  };
  const train = await written("train.jsonl", questions);
  const test = await written("test.jsonl", 2);
  return { policy, file, train, test, tokenizer: { name, size: tokenizer.vocabSize } };
}

/** Qwen2.5-7B's positions. */
function configOf({ vocabSize }) {
  return { architectures: ["Qwen2ForCausalLM"], model_type: "qwen2", max_position_embeddings: 32768, vocab_size: vocabSize }; // prettier-ignore
}

/** A single token that no text has: the server counts it to know the turn. */
function markerOf(tokenizer, paragraphs) {
  const text = paragraphs.join("");
  const found = [..."ΩЖЫЮЭЩ§¶"].find(
    (each) => !text.includes(each) && tokenizer.encode(`\n${each}\n`).length === 3,
  );
  if (found === undefined) throw new Error("the tokenizer has no marker of one token");
  return found;
}

async function writeTokenizer(into, folder) {
  const own = join(import.meta.dirname, "../../datasets/base-policy");
  const from = folder ?? (existsSync(RANKS) ? null : own);
  if (from === null) {
    await writeFile(join(into, "tokenizer.json"), JSON.stringify(qwenTokenizer()));
    return "Qwen's BPE, from its ranks";
  }
  for (const name of ["tokenizer.json", "tokenizer_config.json"])
    if (existsSync(join(from, name))) await copyFile(join(from, name), join(into, name));
  return folder ?? "the base policy's (no full-size tokenizer here: --tokenizer FOLDER)";
}

const SPLIT =
  "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

/** Qwen2's tokenizer.json; a token's merge is the pair that encoding its bytes with all lower ranks ends in. */
function qwenTokenizer() {
  const lines = readFileSync(RANKS, "latin1").trimEnd().split("\n");
  const tokens = lines.map((line) =>
    [...Buffer.from(line.split(" ")[0], "base64")].map((byte) => BYTE_CHARACTERS[byte]).join(""),
  );
  const ranks = new Map(tokens.map((token, rank) => [token, rank]));
  const merges = tokens.flatMap((token, rank) => {
    const pieces = encodedBelow([...token], rank, ranks);
    return pieces.length === 2 ? [pieces] : [];
  });
  const bytes = {
    type: "ByteLevel",
    add_prefix_space: false,
    trim_offsets: true,
    use_regex: false,
  };
  const split = { type: "Split", pattern: { Regex: SPLIT }, behavior: "Isolated", invert: false };
  const special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"];
  return {
    ...{ version: "1.0", truncation: null, padding: null, post_processor: null },
    normalizer: { type: "NFC" },
    pre_tokenizer: { type: "Sequence", pretokenizers: [split, bytes] },
    decoder: bytes,
    model: { type: "BPE", dropout: null, unk_token: null, continuing_subword_prefix: "", end_of_word_suffix: "", fuse_unk: false, byte_fallback: false, vocab: Object.fromEntries(ranks), merges }, // prettier-ignore
    added_tokens: special.map((content, i) => {
      const plain = { normalized: false, single_word: false, lstrip: false, rstrip: false };
      return { id: tokens.length + i, content, special: true, ...plain };
    }),
  };
}

function encodedBelow(pieces, limit, ranks) {
  for (;;) {
    let best = limit;
    let at = -1;
    for (let i = 0; i + 1 < pieces.length; i++) {
      const rank = ranks.get(pieces[i] + pieces[i + 1]) ?? limit;
      if (rank < best) [best, at] = [rank, i];
    }
    if (at < 0) return pieces;
    pieces.splice(at, 2, pieces[at] + pieces[at + 1]);
  }
}

/** Paragraphs of Wikipedia where they are, else of this project's documentation. */
async function someText() {
  const file = join(shared, "enwiki/docs.jsonl.gz");
  if (existsSync(file)) return wikipedia(file);
  const docs = join(import.meta.dirname, "../../docs");
  const pages = readdirSync(docs).filter((name) => name.endsWith(".md"));
  const texts = await Promise.all(pages.map((name) => readFile(join(docs, name), "utf8")));
  return texts.flatMap((text) => text.split("\n\n")).filter((text) => text.length > 300);
}

async function wikipedia(file) {
  const found = [];
  const input = createReadStream(file).pipe(createGunzip());
  for await (const line of createInterface({ input })) {
    for (const text of JSON.parse(line).text.split("\n")) if (text.length > 700) found.push(text);
    if (found.length >= 4000) break;
  }
  input.destroy();
  return found;
}
