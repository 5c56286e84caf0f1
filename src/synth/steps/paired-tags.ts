import { nearestName } from "../../base/nearest.ts";
import type { ProtocolTag } from "../../env/protocols/protocol.ts";

interface FoundTag extends ProtocolTag {
  /** End of its closing tag. */
  end: number;
}

/**
 * The tag pairs of a message in order, or their problem.
 * @example pairedTags("a</think>", protocol.tags) // "unpaired tag"
 */
export function pairedTags(text: string, tags: readonly ProtocolTag[]): FoundTag[] | string {
  const found: FoundTag[] = [];
  let open: ProtocolTag | null = null;
  for (const { 0: written, index, groups } of text.matchAll(LIKE_A_TAG)) {
    const name = groups?.["name"] ?? "";
    const tag = tags.find((each) => each.name === name);
    const closes = groups?.["slash"] === "/";
    if (tag === undefined || written !== `<${closes ? "/" : ""}${name}>`) {
      if (isAlmost(name, tags)) return "broken tag";
      continue;
    }
    if (tag.holds === "observation") return "faked observation";
    if (!closes) {
      if (open !== null) {
        const closing = text.indexOf(`</${open.name}>`, index);
        return open.name === name || closing < 0 ? "unpaired tag" : "nested tag";
      }
      open = tag;
    } else {
      if (open?.name !== name) return "unpaired tag";
      found.push({ ...tag, end: index + written.length });
      open = null;
    }
  }
  return open === null ? found : "unpaired tag";
}

const LIKE_A_TAG = /<\s*(?<slash>\/?)\s*(?<name>\p{L}[\p{L}\p{N}_-]*)\s*\/?>?/gu;

/** Whether a name differs from a tag's only by case or a typo. */
function isAlmost(name: string, tags: readonly ProtocolTag[]): boolean {
  return (
    nearestName(
      name,
      tags.map((tag) => tag.name),
    ) !== null
  );
}
