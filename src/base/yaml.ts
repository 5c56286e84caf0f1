import {
  Document,
  isPair,
  isScalar,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  visit,
} from "yaml";
import { ConfigError, errorMessage } from "./errors.ts";

/** A parsed YAML file with line numbers. */
export interface YamlFile {
  value: unknown;
  /** Line (from 1) of the longest prefix of this key path in the file. */
  lineOf(keys: readonly string[]): number;
}

/** @throws {ConfigError} RECIPE_NOT_YAML with the line, also for a duplicate key, a tag, a value that contains itself or is too large. */
export function parseYaml(text: string, path: string): YamlFile {
  const { document, value, counter } = parsed(text, (line) => `${path}:${line}`);
  const lines = new Map<string, number>();
  const remember = (keys: readonly string[], node: unknown): void => {
    const range = (node as Node | null)?.range;
    if (range) lines.set(keys.join("\u0000"), counter.linePos(range[0]).line);
  };
  visit(document, {
    Pair(_, pair, ancestors) {
      remember(keysTo(ancestors, pair), pair.key);
    },
    Node(index, node, ancestors) {
      if (typeof index === "number") remember(keysTo(ancestors, node), node);
    },
  });
  return {
    value,
    lineOf(keys) {
      for (let length = keys.length; length > 0; length--) {
        const line = lines.get(keys.slice(0, length).join("\u0000"));
        if (line !== undefined) return line;
      }
      return 1;
    },
  };
}

/** The value of `--set key=TEXT` as YAML: `4` is a number; `true`, `null`, `[a, b]` keep their types. @throws {ConfigError} RECIPE_NOT_YAML */
export function parseYamlValue(text: string, where: string): unknown {
  return parsed(text, () => where).value;
}

const MOST_CHARACTERS = 2 ** 18;
const MOST_VALUES = 20_000;
const DEEPEST = 50;

/** @param place of a line, for messages. */
function parsed(
  text: string,
  place: (line: number) => string,
): { document: Document.Parsed; value: unknown; counter: LineCounter } {
  const counter = new LineCounter();
  const fail = (why: string, at = 0, cause?: unknown): ConfigError => {
    const line = Math.max(1, counter.linePos(at).line);
    return new ConfigError("RECIPE_NOT_YAML", `${place(line)}: is not YAML (${why}).`, { cause });
  };
  if (text.length > MOST_CHARACTERS)
    throw fail(`it has ${text.length} characters; at most ${MOST_CHARACTERS}`);
  let document: Document.Parsed | null = null;
  try {
    document = parseDocument(text, { lineCounter: counter, prettyErrors: false, stringKeys: true });
    // A warning is a tag that is ignored, or another version's file.
    const problem = document.errors[0] ?? document.warnings[0];
    if (problem !== undefined) throw fail(reasonOf(problem), problem.pos[0], problem);
    const value = document.toJS() as unknown;
    const mistake = treeMistake(value);
    if (mistake === null) return { document, value, counter };
    throw fail(mistake, firstAlias(document));
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    // The library's recursion, and its limit of aliases.
    throw fail(reasonOf(error), document === null ? 0 : firstAlias(document), error);
  }
}

function reasonOf(error: unknown): string {
  const message = errorMessage(error).replace(/\.$/, "");
  return /call stack/.test(message) ? TOO_DEEP : message;
}

const TOO_DEEP = `lists and keys are nested more than ${DEEPEST} deep`;

/** What makes a value no finite tree of plain keys; null: nothing. */
function treeMistake(value: unknown): string | null {
  let count = 0;
  const mistakeIn = (at: unknown, depth: number): string | null => {
    count += 1;
    if (depth > DEEPEST) return `${TOO_DEEP}, or an alias (*name) is inside its own value`;
    if (count > MOST_VALUES)
      return `it has more than ${MOST_VALUES} values; an alias (*name) repeats its value at every use`;
    if (typeof at !== "object" || at === null) return null;
    if (Object.hasOwn(at, "__proto__")) return "__proto__ cannot be a key";
    for (const child of Object.values(at)) {
      const mistake = mistakeIn(child, depth + 1);
      if (mistake !== null) return mistake;
    }
    return null;
  };
  return mistakeIn(value, 0);
}

function firstAlias(document: Document.Parsed): number {
  let at = 0;
  try {
    visit(document, {
      Alias(_, alias) {
        at = alias.range?.[0] ?? 0;
        return visit.BREAK;
      },
    });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  return at;
}

/** A value as YAML, with the comment `commentOn` gives after each scalar. */
export function writeYaml(
  value: unknown,
  header: string,
  commentOn: (keys: readonly string[]) => string | undefined,
): string {
  const document = new Document(value, { aliasDuplicateObjects: false });
  document.commentBefore = ` ${header}`;
  visit(document, {
    Scalar(index, scalar, ancestors) {
      if (index === "key") return;
      const comment = commentOn(keysTo(ancestors, scalar));
      if (comment !== undefined) scalar.comment = ` ${comment}`;
    },
  });
  return document.toString({ lineWidth: 0 });
}

/** The comments of a YAML text from `writeYaml`: the header, and those after scalars, by dotted key path. */
export type YamlComments = { header: string; behind: ReadonlyMap<string, string> };

/** Reads the comments that `writeYaml` wrote; best effort when the text is not valid YAML. */
export function yamlComments(text: string): YamlComments {
  const document = parseDocument(text, { prettyErrors: false, logLevel: "silent" });
  const behind = new Map<string, string>();
  visit(document, {
    Scalar(index, scalar, ancestors) {
      const { comment } = scalar;
      if (index === "key" || typeof comment !== "string") return;
      behind.set(keysTo(ancestors, scalar).join("."), comment.trim());
    },
  });
  return { header: document.commentBefore?.trim() ?? "", behind };
}

function keysTo(ancestors: readonly unknown[], node: Node | Pair): string[] {
  const chain: unknown[] = [...ancestors, node];
  return chain.flatMap((item, i) => {
    if (isPair(item)) return [String(isScalar(item.key) ? item.key.value : item.key)];
    const parent = chain[i - 1];
    if (typeof parent !== "object" || parent === null || !("items" in parent)) return [];
    return [String((parent.items as unknown[]).indexOf(item))];
  });
}
