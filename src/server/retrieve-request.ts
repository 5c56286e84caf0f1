import { plainList, z } from "../base/schema.ts";
import type { Hit } from "../retrieval/retriever.ts";

/** A parsed body of `POST /retrieve`. */
export interface RetrieveRequest {
  queries: string[];
  /** Passages per query. */
  topk: number;
  /** Whether to include each passage's score. */
  returnScores: boolean;
}

/** A validation problem in FastAPI's format, without `input`, which would repeat the body. */
interface RequestProblem {
  type: string;
  loc: (string | number)[];
  msg: string;
}

/** The default of Search-R1's server. */
const DEFAULT_TOPK = 3;

/** Characters of a query: each of its words is looked up, and no question is so long. */
const LONGEST_QUERY = 2 ** 15;

/** A valid request, or all problems of the body. */
export type ParsedRequest = { request: RetrieveRequest } | { problems: RequestProblem[] };

/**
 * A parser for bodies of `POST /retrieve`. It accepts what Search-R1's server (pydantic) accepts: unknown keys are
 * ignored, `"5"` is a number, `topk` null or 0 means 3. A single `query` instead of `queries` is what skyrl-gym 0.4 sends.
 *
 * Different here: `topk` below 0 or above the limit is a validation problem; there, the index fails.
 */
export function retrieveRequestParser(
  topkLimit: number,
): (body: string, contentType: string | undefined) => ParsedRequest {
  const schema = retrieveSchema(topkLimit);
  return (body, contentType) => {
    if (body === "") return { problems: [MISSING] };
    if (contentType !== undefined && !JSON_TYPE.test(contentType)) {
      const sent = `the content type is ${contentType}; send application/json`;
      return { problems: [{ ...NOT_AN_OBJECT, msg: `${NOT_AN_OBJECT.msg} (${sent})` }] };
    }
    let value: unknown;
    try {
      value = JSON.parse(body);
    } catch {
      return { problems: [{ type: "json_invalid", loc: ["body"], msg: "JSON decode error" }] };
    }
    const { success, data, error } = schema.safeParse(ofOneQuery(value));
    if (!success) return { problems: problemsOf(error.issues, value) };
    const { queries, topk, return_scores: returnScores } = data;
    return { request: { queries, topk, returnScores } };
  };
}

function ofOneQuery(body: unknown): unknown {
  if (typeof body !== "object" || body === null || "queries" in body) return body;
  return "query" in body && typeof body.query === "string"
    ? { ...body, queries: [body.query] }
    : body;
}

const JSON_TYPE = /^application\/([\w.+-]+\+)?json *(;|$)/i;

const MISSING: RequestProblem = { type: "missing", loc: ["body"], msg: "Field required" };

const NOT_AN_OBJECT: RequestProblem = {
  type: "model_attributes_type",
  loc: ["body"],
  msg: "Input should be a valid dictionary or object to extract fields from",
};

function retrieveSchema(topkLimit: number) {
  return z.object({
    queries: plainList(
      (query): query is string => typeof query === "string" && query.length <= LONGEST_QUERY,
      "a query",
    ),
    topk: z
      .unknown()
      .optional()
      .transform((value, context) => {
        const found = value ?? DEFAULT_TOPK;
        const topk = wholeNumber(found) || DEFAULT_TOPK;
        const problem = topkProblem(found, topk, topkLimit);
        if (problem === null) return topk;
        context.addIssue(problem);
        return z.NEVER;
      }),
    return_scores: z
      .unknown()
      .optional()
      .transform((value, context) => {
        const found = value === undefined ? false : truth(value);
        if (found !== null) return found;
        context.addIssue(
          typeof value === "string" || Number.isInteger(value)
            ? wrong("bool_parsing", "Input should be a valid boolean, unable to interpret input")
            : wrong("bool_type", "Input should be a valid boolean"),
        );
        return z.NEVER;
      }),
  });
}

function wrong(type: string, message: string) {
  return { code: "custom", message, params: { type } } as const;
}

function topkProblem(found: unknown, topk: number, limit: number) {
  if (Number.isNaN(wholeNumber(found))) {
    if (typeof found === "number") {
      const message = "Input should be a valid integer, got a number with a fractional part";
      return wrong("int_from_float", message);
    }
    if (typeof found !== "string") return wrong("int_type", "Input should be a valid integer");
    const message = "Input should be a valid integer, unable to parse string as an integer";
    return wrong("int_parsing", message);
  }
  if (topk < 0) return wrong("greater_than_equal", "Input should be greater than or equal to 0");
  if (topk <= limit) return null;
  return wrong("less_than_equal", `Input should be less than or equal to ${limit}`);
}

/** NaN when pydantic would not accept an integer. */
function wholeNumber(value: unknown): number {
  if (typeof value === "boolean") return Number(value);
  if (typeof value === "string" && /^\s*[+-]?\d+(\.0*)?\s*$/.test(value)) return Number(value);
  return typeof value === "number" && Number.isInteger(value) ? value : Number.NaN;
}

const TRUE = new Set<unknown>([true, 1, "1", "true", "t", "yes", "y", "on"]);
const FALSE = new Set<unknown>([false, 0, "0", "false", "f", "no", "n", "off"]);

/** Null when pydantic would not accept a boolean. */
function truth(value: unknown): boolean | null {
  const word = typeof value === "string" ? value.toLowerCase() : value;
  if (TRUE.has(word)) return true;
  return FALSE.has(word) ? false : null;
}

function problemsOf(issues: readonly z.core.$ZodIssue[], body: unknown): RequestProblem[] {
  return issues.map((issue): RequestProblem => {
    const path = issue.path.map((key) => (typeof key === "number" ? key : String(key)));
    const loc = ["body", ...path];
    if (issue.code === "custom" && issue.params !== undefined)
      return { type: String(issue.params["type"]), loc, msg: issue.message };
    if (path.length === 0) return NOT_AN_OBJECT;
    if (path.length > 1) return { ...queryProblem(body, path[1]), loc };
    return Object.hasOwn(body as object, "queries")
      ? { type: "list_type", loc, msg: "Input should be a valid list" }
      : { ...MISSING, loc };
  });
}

function queryProblem(body: unknown, index: unknown): Omit<RequestProblem, "loc"> {
  const { queries } = body as { queries: unknown[] };
  if (typeof queries[Number(index)] !== "string")
    return { type: "string_type", msg: "Input should be a valid string" };
  return { type: "string_too_long", msg: `String should have at most ${LONGEST_QUERY} characters` };
}

/**
 * One query's hits in the format of Search-R1's server. Its clients read only `contents`: the title in double quotes, a
 * newline, the text. A passage without a title gets an empty one, `""`, because clients would use its first line otherwise.
 *
 * @param withScores `{"document": …, "score": …}` instead of plain documents.
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

/** In Python's format, so that a Python client parses a float, not an int. */
function numberJson(value: number): string {
  return Number.isInteger(value) && Math.abs(value) < 1e16 ? `${value}.0` : JSON.stringify(value);
}
