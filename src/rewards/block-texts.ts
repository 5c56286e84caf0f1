import { escapeRegExp } from "../base/escape-reg-exp.ts";

/** What a text says in its closed blocks of a tag, in order. @example blockTexts("<refine> a</refine>", "refine") // [" a"] */
export function blockTexts(text: string, tag: string): string[] {
  const name = escapeRegExp(tag);
  const block = new RegExp(`<${name}>((?:(?!</?${name}>).)*)</${name}>`, "gs");
  return Array.from(text.matchAll(block), ([, said = ""]) => said);
}
