import type { Part } from "./token-bytes.ts";

/** The rewritten parts of tokenizer.json. */
interface Pipeline {
  normalizer?: unknown;
  pre_tokenizer?: unknown;
}

/**
 * The same tokenizer without the space that it adds before a text (Prepend, Metaspace, add_prefix_space), for text that
 * continues a sequence. Null when it adds none.
 */
export function withoutAddedSpace<T extends Pipeline>(json: T): T | null {
  const found: Part[] = [];
  const drop = (part: Part): Part | null => {
    const adds =
      part.type === "Prepend" ||
      (part.type === "Metaspace" && part["prepend_scheme"] !== "never") ||
      (part.type === "ByteLevel" && part["add_prefix_space"] === true);
    if (!adds) return part;
    found.push(part);
    if (part.type === "Prepend") return null;
    const never = part.type === "Metaspace" ? { prepend_scheme: "never" } : {};
    return { ...part, ...never, add_prefix_space: false };
  };
  const normalizer = rewritten(json.normalizer, drop);
  const pre_tokenizer = rewritten(json.pre_tokenizer, drop);
  return found.length > 0 ? { ...json, normalizer, pre_tokenizer } : null;
}

/** GPT-2's split pattern, which ByteLevel's `use_regex` means. */
const GPT2_SPLIT =
  "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

/**
 * Replaces ByteLevel's implicit GPT-2 split by an explicit Split part. @huggingface/tokenizers 0.2.0 reads \s in a Split as Unicode
 * white space, which is correct; its ByteLevel uses JavaScript's \s, which includes U+FEFF and excludes U+0085.
 */
export function unicodeSpaces<T extends Pipeline>(json: T): T {
  const pre_tokenizer = rewritten(json.pre_tokenizer, (part) => {
    // The added space comes before the split.
    if (part.type !== "ByteLevel" || part["add_prefix_space"] === true) return part;
    if (part["use_regex"] === false) return part;
    const split = { type: "Split", pattern: { Regex: GPT2_SPLIT }, behavior: "Isolated" };
    const pretokenizers = [
      { ...split, invert: false },
      { ...part, use_regex: false },
    ];
    return { type: "Sequence", pretokenizers };
  });
  return { ...json, pre_tokenizer };
}

/**
 * Splits the text of a SentencePiece tokenizer before each word, if no piece crosses a word boundary (none has a ▁ after
 * another character). The ids stay the same, and words instead of whole texts are merged and cached: more than ten times faster.
 */
export function splitAtWords<T extends Pipeline & { model?: unknown }>(json: T): T {
  const { type, vocab } = (json.model ?? {}) as { type?: unknown; vocab?: unknown };
  if (type !== "BPE" || typeof vocab !== "object" || vocab === null) return json;
  if (Object.keys(vocab).some((piece) => /[^▁]▁/.test(piece))) return json;
  const split = { type: "Split", pattern: { Regex: "▁*[^▁]+|▁+" }, behavior: "Isolated" };
  const own = json.pre_tokenizer ?? null;
  const pretokenizers = [...(own === null ? [] : [own]), { ...split, invert: false }];
  return { ...json, pre_tokenizer: { type: "Sequence", pretokenizers } };
}

/** Rewrites a part and, recursively, the parts of its sequences; null drops a part. */
function rewritten(part: unknown, rewrite: (part: Part) => Part | null): unknown {
  if (typeof part !== "object" || part === null) return part;
  const own = rewrite(part as Part);
  if (own === null || own !== part) return own;
  for (const key of ["normalizers", "pretokenizers"]) {
    const parts = own[key];
    if (Array.isArray(parts)) {
      const kept = parts.map((each) => rewritten(each, rewrite)).filter((each) => each !== null);
      return { ...own, [key]: kept };
    }
  }
  return own;
}
