import { DataError } from "../base/errors.ts";
import { quote } from "../base/schema.ts";
import type { RetrievalQuery } from "./retrieval-runs.ts";

/**
 * TREC topics: each `<top>` has a `<num>` ("Number: 301") and a `<title>`, closed or not; the title is the query, the
 * description and the narrative are left out, as in TREC's title-only runs.
 *
 * @param path for messages.
 * @throws {DataError} QRELS_BAD_LINE with the topic that lacks one of both.
 * @example parseTopics("<top><num> Number: 301 <title> Organized Crime <desc> …</top>", "t") // [{ id: "301", … }]
 */
export function parseTopics(text: string, path: string): RetrievalQuery[] {
  return text
    .split(/<top>/i)
    .slice(1)
    .map((topic, i) => {
      const id = field(topic, "num").replace(/^number:\s*/i, "");
      const title = field(topic, "title").replace(/^topic:\s*/i, "");
      if (id !== "" && title !== "") return { id, text: title };
      throw new DataError(
        "QRELS_BAD_LINE",
        `${path}: topic ${i + 1} is ${quote(topic.trim())}; expected <num> and <title> with something in them. Mend or drop the topic.`,
      );
    });
}

/** What stands between a tag and the next one, blanks squeezed. */
function field(topic: string, tag: string): string {
  const content = new RegExp(`<${tag}>([^<]*)`, "i").exec(topic)?.[1] ?? "";
  return content.replaceAll(/\s+/g, " ").trim();
}
