// See word-tokenizer.py: writes the tokenizer.json of the words and specials in word-tokenizer.json.
import { readFile, writeFile } from "node:fs/promises";
import { wordTokenizer } from "../../dist/text/word-tokenizer.js";

const source = new URL("word-tokenizer.json", import.meta.url);
const { words, specials } = JSON.parse(await readFile(source, "utf8"));
await writeFile(process.argv[2], JSON.stringify(wordTokenizer({ words, specials }).tokenizer));
