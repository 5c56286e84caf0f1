import type {
  ViewerBlock,
  ViewerDetail,
  ViewerEntry,
  ViewerPassage,
  ViewerSpan,
  ViewerSpec,
} from "../viewer/contract.ts";
import { escapeRegExp } from "../../base/escape-reg-exp.ts";
import { element, MARKS } from "./elements.ts";

const OWNERS: Record<ViewerSpan["owner"], string> = {
  policy: "policy",
  environment: "environment",
  template: "template",
  inserted: "inserted",
};

/** All details of one entry. @param others entries of its group, each with a function to open it. */
export function detailView(
  { entry, detail }: { entry: ViewerEntry; detail: ViewerDetail },
  spec: ViewerSpec,
  others: readonly ViewerEntry[],
): HTMLElement[] {
  const title = element("h3", "", entry.title);
  const head = element("header", "", title, factList(entry, detail), ...siblings(entry, others));
  const blocks = detail.blocks.map((block) => blockView(block, spec));
  const none = element("p", "empty", `No ${spec.noun[0]} was kept for this row.`);
  return [head, ...(blocks.length === 0 ? [none] : blocks)];
}

function factList({ verdict }: ViewerEntry, { facts }: ViewerDetail): HTMLElement {
  const all = facts.map(({ label, value }) =>
    element("div", "", element("dt", "", label), element("dd", "", value)),
  );
  if (verdict !== null) {
    const shown = element("dd", `badge ${verdict}`, MARKS[verdict][1]);
    all.unshift(element("div", "", element("dt", "", "Verdict"), shown));
  }
  return element("dl", "facts", ...all);
}

function siblings(entry: ViewerEntry, others: readonly ViewerEntry[]): HTMLElement[] {
  if (others.length < 2) return [];
  const links = others.map((other) => {
    const [sign, meaning] = MARKS[other.verdict ?? "none"];
    const mark = element("span", "", ` ${sign}`);
    mark.setAttribute("aria-label", meaning);
    mark.setAttribute("role", "img");
    const link = element("a", `badge ${other.verdict ?? "none"}`, other.label, mark);
    link.setAttribute("href", `#${encodeURIComponent(other.id)}`);
    link.title = other.subtitle;
    if (other.id === entry.id) link.setAttribute("aria-current", "true");
    return link;
  });
  const nav = element("nav", "siblings", element("span", "", "Same question:"), ...links);
  nav.setAttribute("aria-label", "Same question");
  return [nav];
}

function blockView(block: ViewerBlock, spec: ViewerSpec): HTMLElement {
  if (block.kind === "remark") {
    const heading = element("h4", "", block.title);
    return element("section", `remark ${block.tone}`, heading, element("p", "", block.text));
  }
  const writer = tagWriter(spec.tags);
  const parts: HTMLElement[] = [];
  let owner: ViewerSpan["owner"] | null = null;
  for (const span of block.spans) {
    const text = span.gold === undefined ? element("span", "") : element("span", "passage");
    if (span.gold === true) {
      text.classList.add("gold");
      text.append(element("b", "gold-mark", "★ gold"), " ");
    }
    text.append(...(span.mentionsTags === true ? [span.text] : writer(span.text)));
    let part = parts.at(-1);
    if (part === undefined || span.owner !== owner) {
      owner = span.owner;
      part = element(
        "div",
        `part ${owner}`,
        element("b", "owner", OWNERS[owner]),
        element("pre", ""),
      );
      parts.push(part);
    }
    part.lastElementChild?.append(text);
  }
  for (const part of parts) trimEnds(part.lastElementChild);
  // Below the text that contains them.
  const [shown] = parts.filter((part) => part.classList.contains("environment")).slice(-1);
  const passages = found(block.passages);
  if (shown === undefined) parts.unshift(...passages);
  else parts.splice(parts.indexOf(shown) + 1, 0, ...passages);
  return element("section", "message", element("h4", "", block.title), ...parts);
}

/** The returned passages, with gold passages marked. */
function found(passages: readonly ViewerPassage[]): HTMLElement[] {
  if (passages.length === 0) return [];
  const shown = passages.map(({ id, gold }) =>
    element("li", gold === true ? "gold" : "", `${gold === true ? "★ " : ""}${id}`),
  );
  return [element("div", "found", element("b", "owner", "passages"), element("ol", "", ...shown))];
}

/** Text with the protocol's tags marked; text between two tags gets their class, also across spans. */
function tagWriter(tags: ViewerSpec["tags"]): (text: string) => (Node | string)[] {
  let inside = "";
  if (tags.length === 0) return (text) => [text];
  const texts = tags.flatMap(({ opening, closing }) => [opening, closing]);
  const pattern = new RegExp(`(${texts.map(escapeRegExp).join("|")})`);
  return (text) =>
    text.split(pattern).map((piece, i) => {
      if (i % 2 === 0) return inside === "" ? piece : element("span", `in in-${inside}`, piece);
      const tag = tags.find(({ opening, closing }) => piece === opening || piece === closing);
      const holds = tag?.holds ?? "";
      inside = piece === tag?.closing ? "" : holds;
      return element("span", `tag tag-${holds}`, piece);
    });
}

/** Removes blank lines around a part, which already has a frame. */
function trimEnds(part: Element | null): void {
  if (part === null) return;
  const texts = document.createTreeWalker(part, NodeFilter.SHOW_TEXT);
  const nodes: Text[] = [];
  while (texts.nextNode() !== null) nodes.push(texts.currentNode as Text);
  for (const node of nodes) {
    node.data = node.data.replace(/^\s*\n/, "");
    if (node.data !== "") break;
  }
  for (const node of nodes.reverse()) {
    node.data = node.data.trimEnd();
    if (node.data !== "") break;
  }
}
