import { escapeRegExp } from "../base/escape-reg-exp.ts";

/** A regular expression, as text, without groups: a closed block of a tag, without that tag inside. Use it with the flag s. */
export function blockPattern(tag: string): string {
  const name = escapeRegExp(tag);
  return `<${name}>(?:(?!</?${name}>).)*</${name}>`;
}

/** What a text says in its closed blocks of a tag, in order. @example blockTexts("<refine> a</refine>", "refine") // [" a"] */
export function blockTexts(text: string, tag: string): string[] {
  const [opening, closing] = [`<${tag}>`, `</${tag}>`];
  const blocks = text.matchAll(new RegExp(blockPattern(tag), "gs"));
  return Array.from(blocks, ([block]) => block.slice(opening.length, -closing.length));
}
