import { z } from "../../../base/schema.ts";
import { present, type WebEngine } from "./web-engine.ts";

const replySchema = z.object({
  type: z.literal("search"),
  web: z
    .object({
      results: z.array(
        z.object({ title: z.string(), url: z.string(), description: z.string().default("") }),
      ),
    })
    .optional(), // absent when nothing was found
});

/**
 * Brave's Web Search API. As documented in 2026: twenty results a request, ten pages at most, a query of up to 400 characters
 * and 50 words. Its offset counts pages, so every page is asked for whole.
 */
export const brave: WebEngine = {
  endpoint: "https://api.search.brave.com/res/v1/web/search",
  keyVariable: "BRAVE_API_KEY",
  pageSize: 20,
  maxResults: 200,
  request: ({ query, offset, count, country, language }, key) => ({
    headers: { "x-subscription-token": key },
    parameters: present({
      q: query,
      count: String(offset === 0 ? count : brave.pageSize),
      offset: String(Math.floor(offset / brave.pageSize)),
      text_decorations: "false", // no <strong> around the words found
      result_filter: "web",
      country: country?.toUpperCase(),
      search_lang: language,
    }),
  }),
  results: (reply) => {
    const parsed = replySchema.safeParse(reply).data;
    if (parsed === undefined) return null;
    const found = parsed.web?.results ?? [];
    return found.map(({ title, url, description }) => ({ title, url, snippet: description }));
  },
};
