import type { Hit } from "../retrieval/retriever.ts";

/**
 * One query's hits as Search-R1's server writes them. Clients read `contents` alone: the title in double quotes, a
 * newline, the text. A passage without a title gets an empty one, `""`, or they would take its first line for it.
 *
 * @param withScores `{"document": …, "score": …}` instead of bare documents.
 *
 * @example hitsJson([{ id: "1", title: "Oslo", text: "A city.", score: 2 }], true)
 * // [{"document":{"id":"1","contents":"\"Oslo\"\nA city.","title":"Oslo","text":"A city."},"score":2.0}]
 */
export function hitsJson(hits: readonly Hit[], withScores: boolean): string {
  const items = hits.map((hit) =>
    withScores
      ? `{"document":${documentJson(hit)},"score":${numberJson(hit.score)}}`
      : documentJson(hit),
  );
  return `[${items.join(",")}]`;
}

function documentJson({ id, title, text }: Hit): string {
  const oneLine = title.replaceAll(/[\r\n]+/g, " ");
  return JSON.stringify({ id, contents: `"${oneLine}"\n${text}`, title, text });
}

/** As Python writes it: a client there must get a float, not an int. */
function numberJson(value: number): string {
  return Number.isInteger(value) && Math.abs(value) < 1e16 ? `${value}.0` : JSON.stringify(value);
}
