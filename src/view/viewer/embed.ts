import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { html, jsonScript, Markup } from "../html/markup.ts";
import { protocols } from "../../env/protocols/index.ts";
import type { ViewerDetail, ViewerEntry, ViewerSpec } from "./contract.ts";

const compress = promisify(gzip);

/** Data shared by all items of a kind. */
export type ItemSpec = Omit<ViewerSpec, "tags">;

/** An entry with its details. */
export interface ViewerItem {
  entry: ViewerEntry;
  detail: ViewerDetail;
}

/**
 * The viewer's data as pieces of a page, in order: shared data, details in chunks, the list last. Chunks and list are gzip in base64 (an
 * eighth of the plain JSON); details are held one chunk at a time, entries until the end.
 */
export async function* embedded(
  spec: ItemSpec,
  items: AsyncIterable<ViewerItem>,
): AsyncGenerator<string> {
  yield jsonScript("viewer-spec", { ...spec, tags: protocolTags() }).text;
  const entries: ViewerEntry[] = [];
  let details: ViewerDetail[] = [];
  let chunks = 0;
  for await (const { entry, detail } of items) {
    entries.push(entry);
    details.push(detail);
    if (details.length < spec.chunkSize) continue;
    yield await packed(`viewer-chunk-${chunks++}`, details);
    details = [];
  }
  if (details.length > 0) yield await packed(`viewer-chunk-${chunks}`, details);
  yield await packed("viewer-index", entries);
}

/** The tags of every protocol; for a shared tag the first protocol's meaning counts. */
function protocolTags(): ViewerSpec["tags"] {
  const tags = protocols.parts.flatMap((part) => part.create({}).tags);
  return [...new Map(tags.toReversed().map((tag) => [tag.name, tag])).values()];
}

async function packed(id: string, value: unknown): Promise<string> {
  const bytes = await compress(JSON.stringify(value));
  const base64 = new Markup(bytes.toString("base64"));
  return html`<script type="text/plain" id="${id}">
    ${base64}
  </script> `.text;
}

/** The viewer's frame; the browser's code fills it. */
export function viewerFrame({ noun: [, several] }: ItemSpec): Markup {
  return html`<div class="viewer" id="viewer">
    <form class="toolbar" id="viewer-toolbar" role="search" aria-label="Filter ${several}">
      <label class="search"
        ><span class="unseen">Search the text of ${several}</span
        ><input
          type="search"
          id="viewer-query"
          placeholder="Search text"
          autocomplete="off"
          spellcheck="false"
          aria-keyshortcuts="/"
        /><kbd aria-hidden="true">/</kbd></label
      >
      <span class="facets" id="viewer-facets"></span>
      <button type="button" id="viewer-reset" hidden>Clear filters</button>
      <output class="count" id="viewer-count" aria-live="polite">Loading …</output>
    </form>
    <div class="panes">
      <div class="list" id="viewer-list" role="listbox" tabindex="0" aria-label="${several}">
        <div class="rows" id="viewer-rows" role="presentation"></div>
      </div>
      <article class="detail" id="viewer-detail" tabindex="-1" aria-label="Chosen"></article>
    </div>
    <p class="keys" aria-hidden="true">
      <kbd>j</kbd> <kbd>k</kbd> next, previous <kbd>/</kbd> search <kbd>Esc</kbd> back to the list
    </p>
    <noscript
      ><p class="notice">
        The list needs JavaScript, which is off. Everything above works without it.
      </p></noscript
    >
  </div> `;
}
