import { z } from "../../../base/schema.ts";
import { present, type WebEngine } from "./web-engine.ts";

const replySchema = z.object({
  organic: z.array(
    z.object({ title: z.string(), link: z.string(), snippet: z.string().default("") }),
  ),
});

/** Serper (serper.dev): Google's results page as JSON, by pages of ten. Only the organic results are taken. */
export const serper: WebEngine = {
  endpoint: "https://google.serper.dev/search",
  keyVariable: "SERPER_API_KEY",
  pageSize: 10,
  maxResults: 100,
  request: ({ query, offset, country, language }, key) => ({
    headers: { "x-api-key": key },
    body: present<string | number>({
      q: query,
      page: offset / serper.pageSize + 1,
      num: serper.pageSize,
      gl: country,
      hl: language,
    }),
  }),
  results: (reply) =>
    replySchema
      .safeParse(reply)
      .data?.organic.map(({ title, link, snippet }) => ({ title, url: link, snippet })) ?? null,
};
