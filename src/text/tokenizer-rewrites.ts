import type { Part } from "./token-bytes.ts";

/** The parts of tokenizer.json that are rewritten. */
interface Pipeline {
  normalizer?: unknown;
  pre_tokenizer?: unknown;
}

/**
 * The same tokenizer without the space that it puts before a text (Prepend, Metaspace, add_prefix_space): right for a text that
 * continues a sequence. Null when it puts none.
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

/** GPT-2's split, which a ByteLevel part with `use_regex` stands for. */
const GPT2_SPLIT =
  "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

/**
 * Writes GPT-2's split out as a Split part: in those, @huggingface/tokenizers (0.2.0) reads \s as Unicode's white space, as it
 * is meant; the one inside its ByteLevel part is JavaScript's, which takes U+FEFF for a space and U+0085 for none.
 */
export function unicodeSpaces<T extends Pipeline>(json: T): T {
  const pre_tokenizer = rewritten(json.pre_tokenizer, (part) => {
    // A space that is added comes before the split.
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
 * Splits a SentencePiece vocabulary's text before each word where no piece reaches over such a place (none holds a ▁ after
 * another character): the ids stay the same, and words, not whole texts, are merged and remembered, which is more than ten times faster.
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

/** A part with each part of its sequences rewritten; null drops one. */
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
