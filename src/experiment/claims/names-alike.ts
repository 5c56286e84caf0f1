/**
 * Whether a dataset's or model's name or path is that of a paper's.
 * @example namesAlike("../data/hotpotqa/dev.jsonl", "HotpotQA") // true
 */
export function namesAlike(ours: string, theirs: string): boolean {
  return letters(ours).includes(letters(theirs));
}

/** A name's letters and digits, in lower case. @example letters("2Wiki-QA") // "2wikiqa" */
export function letters(text: string): string {
  return text.toLowerCase().replace(/[^a-z0-9]/g, "");
}
