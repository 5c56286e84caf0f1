import {
  Document,
  isPair,
  isScalar,
  LineCounter,
  type Node,
  type Pair,
  parse,
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

/**
 * @param path for messages.
 * @throws {ConfigError} RECIPE_NOT_YAML with the line; also for a duplicate key.
 */
export function parseYaml(text: string, path: string): YamlFile {
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter, prettyErrors: false });
  const error = document.errors[0];
  if (error !== undefined) {
    const { line } = counter.linePos(error.pos[0]);
    throw new ConfigError("RECIPE_NOT_YAML", `${path}:${line}: is not YAML (${error.message}).`, {
      cause: error,
    });
  }
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
    value: document.toJS() as unknown,
    lineOf(keys) {
      for (let length = keys.length; length > 0; length--) {
        const line = lines.get(keys.slice(0, length).join("\u0000"));
        if (line !== undefined) return line;
      }
      return 1;
    },
  };
}

/**
 * The value of `--set key=TEXT`, parsed as YAML: `4` is a number; `true`, `null`, `[a, b]` keep their types; the rest is text.
 * @throws {ConfigError} RECIPE_NOT_YAML
 */
export function parseYamlValue(text: string, where: string): unknown {
  try {
    return parse(text) as unknown;
  } catch (error) {
    throw new ConfigError(
      "RECIPE_NOT_YAML",
      `${where}: is not YAML (${errorMessage(error).split("\n", 1).join("")}).`,
      {
        cause: error,
      },
    );
  }
}

/**
 * A value as YAML, with a comment after each scalar.
 * @param commentOn the comment of the scalar at a key path, or undefined for none.
 */
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
export interface YamlComments {
  header: string;
  behind: ReadonlyMap<string, string>;
}

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

/** Keys and list indices from the document's root to a node. */
function keysTo(ancestors: readonly unknown[], node: Node | Pair): string[] {
  const chain: unknown[] = [...ancestors, node];
  return chain.flatMap((item, i) => {
    if (isPair(item)) return [String(isScalar(item.key) ? item.key.value : item.key)];
    const parent = chain[i - 1];
    if (typeof parent !== "object" || parent === null || !("items" in parent)) return [];
    return [String((parent.items as unknown[]).indexOf(item))];
  });
}
