import type { ViewerDetail, ViewerEntry, ViewerSpec } from "../viewer/contract.ts";
import { own } from "./elements.ts";

/** The data of the page; chunks are unpacked at first use. */
export interface ViewerData {
  spec: ViewerSpec;
  entries: ViewerEntry[];
  detail(index: number): Promise<ViewerDetail>;
  /** Lower-case text of an entry's details; undefined before `loadTexts` is done. */
  text(index: number): string | undefined;
  /** Unpacks everything, so that all text can be searched. */
  loadTexts(): Promise<void>;
}

export async function readData(): Promise<ViewerData> {
  const spec = JSON.parse(own("viewer-spec").textContent) as ViewerSpec;
  const entries = (await unpack("viewer-index")) as ViewerEntry[];
  const chunks = new Map<number, Promise<ViewerDetail[]>>();
  const chunk = (number: number): Promise<ViewerDetail[]> => {
    const known = chunks.get(number);
    if (known !== undefined) return known;
    const loading = unpack(`viewer-chunk-${number}`) as Promise<ViewerDetail[]>;
    chunks.set(number, loading);
    return loading;
  };
  let texts: string[] | null = null;
  let loading: Promise<void> | null = null;
  const load = async (): Promise<void> => {
    const found: string[] = [];
    const count = Math.ceil(entries.length / spec.chunkSize);
    for (let i = 0; i < count; i++) found.push(...(await chunk(i)).map(searchText));
    texts = found;
  };
  return {
    spec,
    entries,
    async detail(index) {
      const details = await chunk(Math.floor(index / spec.chunkSize));
      return details[index % spec.chunkSize] ?? { facts: [], blocks: [] };
    },
    text: (index) => texts?.[index],
    loadTexts: () => (loading ??= load()),
  };
}

function searchText({ blocks, facts }: ViewerDetail): string {
  const texts = blocks.flatMap((block) =>
    block.kind === "message"
      ? [...block.spans.map(({ text }) => text), ...block.passages.map(({ id }) => id)]
      : [block.title, block.text],
  );
  return [...texts, ...facts.map(({ value }) => value)].join("\n").toLowerCase();
}

/** Gzip in base64 → value; empties the element, whose text is not needed again. */
async function unpack(id: string): Promise<unknown> {
  const holder = own(id);
  const binary = atob(holder.textContent);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  holder.textContent = "";
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return (await new Response(stream).json()) as unknown;
}
