import { escapeRegExp } from "../../base/escape-reg-exp.ts";
import { between, type Protocol, type ProtocolTag } from "./protocol.ts";

/** Names that models give their thoughts' tags, beside a grammar's own. */
const NAMES = ["think", "thinking", "thought", "reasoning"];

/**
 * A message with blanks in place of its thoughts, so that places stay. An unclosed thought lasts to the end; a closing tag without an
 * opening one ends a thought that the prompt opened. @param acting tags whose texts are no thoughts, whatever they quote.
 * @param options.whole the message has ended: a thought that names its own tag without closing it ends with the last closing tag.
 */
export function withoutThoughts(
  text: string,
  { thought, acting, whole }: { thought: ProtocolTag; acting: readonly ProtocolTag[]; whole: boolean }, // prettier-ignore
): string {
  const names = [...new Set([thought.name, ...NAMES])].map(escapeRegExp).join("|");
  const mark = `<(/?)(?:${names})(?:\\s[^<>]*)?(/?)>`;
  const action = acting.map((tag) => between(tag).source).join("|");
  const outside = new RegExp(`${mark}|${action}`, "gis");
  const inside = new RegExp(mark, "gi");

  const first = new RegExp(mark, "i").exec(text);
  let spoken = "";
  let at = 0;
  if (first?.[1] === "/") {
    at = first.index + first[0].length;
    spoken = blank(text.slice(0, at));
  }
  for (;;) {
    outside.lastIndex = at;
    const found = outside.exec(text);
    if (found === null) return spoken + text.slice(at);
    const end = found.index + found[0].length;
    if (found[1] === undefined) spoken += text.slice(at, end);
    else {
      const opens = found[1] === "" && found[2] === "";
      const last = opens ? endOfThought(text, end, inside, whole) : end;
      spoken += text.slice(at, found.index) + blank(text.slice(found.index, last));
      at = last;
      continue;
    }
    at = end;
  }
}

function endOfThought(text: string, from: number, mark: RegExp, whole: boolean): number {
  let depth = 1;
  let opened: number | null = from;
  let lastClosed: number | null = null;
  mark.lastIndex = from;
  for (let found = mark.exec(text); found !== null; found = mark.exec(text)) {
    const end = found.index + found[0].length;
    if (found[2] === "/") continue;
    if (found[1] === "/") {
      depth -= 1;
      lastClosed = end;
      opened = null;
    } else if (opened !== null && text.slice(opened, found.index).trim() === "") {
      opened = end;
    } else depth += 1;
    if (depth === 0) return end;
  }
  return whole && lastClosed !== null ? lastClosed : text.length;
}

function blank(text: string): string {
  return text.replace(/[^\n]/g, " ");
}

/** Whether what a message does stands inside of a thought: grammars whose published cut is the first tag take it. */
export function actsInThought(
  text: string,
  { tags, parse }: Pick<Protocol, "tags" | "parse">,
): boolean {
  // prettier-ignore
  const thought = tags.find(({ holds }) => holds === "thought");
  if (thought === undefined) return false;
  const [action] = parse(text).actions;
  const acting = tags.filter(({ holds }) => holds === "call" || holds === "answer");
  const said = withoutThoughts(text, { thought, acting, whole: true });
  const [spoken] = parse(said).actions;
  return action !== undefined && (spoken?.tool !== action.tool || spoken.input !== action.input);
}
