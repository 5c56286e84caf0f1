import type { OpensearchSettings } from "./opensearch-settings.ts";

/** One search body of `_msearch`. */
export type SearchBody = Record<string, unknown>;

/**
 * The bodies that one query needs: one, or with `mode: hybrid` and no pipeline on the server two, words then vectors.
 *
 * @param vector of the query; absent where the server makes it or none is needed.
 */
export function searchBodies(
  settings: OpensearchSettings,
  asked: { query: string; k: number; vector: Float32Array | undefined },
): SearchBody[] {
  const { mode, searchPipeline, depth, fields } = settings;
  const body = {
    track_total_hits: false,
    _source: [fields.title, fields.text, fields.id].filter((field) => field !== null),
  };
  const words = (size: number): SearchBody => ({
    ...body,
    size,
    query: wordQuery(settings, asked),
  });
  const vectors = (size: number): SearchBody => ({
    ...body,
    size,
    ...vectorPart(settings, { ...asked, k: size }),
  });
  if (mode === "bm25") return [words(asked.k)];
  if (mode === "knn") return [vectors(asked.k)];
  const size = Math.max(depth, asked.k);
  if (searchPipeline === null) return [words(size), vectors(size)];
  const inner = vectorPart(settings, { ...asked, k: size })["query"];
  return [
    {
      ...body,
      size: asked.k,
      search_pipeline: searchPipeline,
      query: { hybrid: { queries: [wordQuery(settings, asked), inner] } },
    },
  ];
}

function wordQuery(
  { searchFields, matchType }: OpensearchSettings,
  { query }: { query: string },
): SearchBody {
  return { multi_match: { query, fields: searchFields, type: matchType } };
}

/** OpenSearch puts nearest neighbours into the query; Elasticsearch beside it, in other words. */
function vectorPart(
  { dialect, fields, modelId, numCandidates }: OpensearchSettings,
  { query, k, vector }: { query: string; k: number; vector: Float32Array | undefined },
): SearchBody {
  const field = fields.vector;
  if (dialect === "opensearch") {
    return vector === undefined
      ? { query: { neural: { [field]: { query_text: query, model_id: modelId, k } } } }
      : { query: { knn: { [field]: { vector: Array.from(vector), k } } } };
  }
  const made =
    vector === undefined
      ? { query_vector_builder: { text_embedding: { model_id: modelId, model_text: query } } }
      : { query_vector: Array.from(vector) };
  return { knn: { field, ...made, k, num_candidates: Math.max(numCandidates, k) } };
}
