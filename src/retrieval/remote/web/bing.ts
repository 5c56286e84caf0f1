import { z } from "../../../base/schema.ts";
import { present, type WebEngine } from "./web-engine.ts";

const replySchema = z.object({
  _type: z.literal("SearchResponse"),
  webPages: z
    .object({
      value: z.array(
        z.object({ name: z.string(), url: z.string(), snippet: z.string().default("") }),
      ),
    })
    .optional(), // absent when nothing was found
});

/**
 * Bing's Web Search API v7. Microsoft retired it on 11 August 2025 in favour of Grounding with Bing Search, which gives no
 * results page: the default address no longer answers. Kept for services that copy its replies; name one by `endpoint`.
 */
export const bing: WebEngine = {
  endpoint: "https://api.bing.microsoft.com/v7.0/search",
  keyVariable: "BING_SEARCH_API_KEY",
  pageSize: 50,
  maxResults: 1000,
  request: ({ query, offset, count, country, language }, key) => ({
    headers: { "ocp-apim-subscription-key": key },
    parameters: present({
      q: query,
      count: String(count),
      offset: String(offset),
      responseFilter: "Webpages",
      cc: country,
      setLang: language,
    }),
  }),
  results: (reply) => {
    const parsed = replySchema.safeParse(reply).data;
    if (parsed === undefined) return null;
    const pages = parsed.webPages?.value ?? [];
    return pages.map(({ name, url, snippet }) => ({ title: name, url, snippet }));
  },
};
