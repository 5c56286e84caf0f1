import { nearestName } from "../../base/nearest.ts";
import { type ProtocolTag, anyTag, tagOf } from "../../env/protocols/protocol.ts";

interface FoundTag extends ProtocolTag {
  end: number;
}

/** The tag pairs of a message in order, or their problem. @example pairedTags("a</think>", protocol.tags) // "unpaired tag" */
export function pairedTags(text: string, tags: readonly ProtocolTag[]): FoundTag[] | string {
  const found: FoundTag[] = [];
  let open: ProtocolTag | null = null;
  const likeATag = tags.length === 0 ? LIKE_A_TAG : `${anyTag(tags)}|${LIKE_A_TAG}`;
  for (const { 0: mark, index, groups } of text.matchAll(new RegExp(likeATag, "gu"))) {
    const whole = tags.find((each) => each.whole !== undefined && mark.startsWith(each.opening));
    if (whole !== undefined) {
      // A program may print one.
      if (open?.holds === "call") continue;
      if (open !== null) return "nested tag";
      if (mark === whole.opening) return "unpaired tag";
      found.push({ ...whole, end: index + mark.length });
      continue;
    }
    const tag = tagOf(mark, tags);
    if (tag === undefined) {
      if (isAlmost(groups?.["name"] ?? "", tags)) return "broken tag";
      continue;
    }
    if (tag.holds === "observation") return "faked observation";
    if (mark === tag.opening) {
      if (open !== null) {
        const closing = text.indexOf(open.closing, index);
        return open === tag || closing < 0 ? "unpaired tag" : "nested tag";
      }
      open = tag;
    } else {
      if (open !== tag) return "unpaired tag";
      found.push({ ...tag, end: index + mark.length });
      open = null;
    }
  }
  return open === null ? found : "unpaired tag";
}

const LIKE_A_TAG = String.raw`<\s*\/?\s*(?<name>\p{L}[\p{L}\p{N}_\-]*)\s*\/?>?`;

/** Whether a name differs from a tag's only by case or a typo. */
function isAlmost(name: string, tags: readonly ProtocolTag[]): boolean {
  return (
    nearestName(
      name,
      tags.map((tag) => tag.name),
    ) !== null
  );
}
