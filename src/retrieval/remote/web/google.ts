import { z } from "../../../base/schema.ts";
import { present, type WebEngine } from "./web-engine.ts";

const replySchema = z.object({
  kind: z.literal("customsearch#search"),
  items: z
    .array(z.object({ title: z.string(), link: z.string(), snippet: z.string().default("") }))
    .default([]), // no key at all when nothing was found
});

/**
 * Google's Custom Search JSON API. As documented in 2026: closed to new customers, ends for all on 1 January 2027; ten
 * results a request, the first hundred at most.
 */
export const google: WebEngine = {
  endpoint: "https://www.googleapis.com/customsearch/v1",
  keyVariable: "GOOGLE_API_KEY",
  pageSize: 10,
  maxResults: 100,
  request: ({ query, offset, count, country, language, engineId }, key) => ({
    parameters: present({
      key,
      cx: engineId,
      q: query,
      num: String(count),
      start: String(offset + 1),
      gl: country,
      lr: language === undefined ? undefined : `lang_${language}`,
    }),
  }),
  results: (reply) =>
    replySchema
      .safeParse(reply)
      .data?.items.map(({ title, link, snippet }) => ({ title, url: link, snippet })) ?? null,
};
