import type { z } from "../../base/schema.ts";
import { checkOptions } from "../../base/schema.ts";
import type { Problem } from "../../trajectory/trajectory.ts";

/**
 * The arguments of a call, from what a protocol read. A tool with one text parameter takes the input as it is; any other takes an object
 * in JSON, or, where the input is none, its first parameter's value.
 *
 * @example readArguments(z.object({ query: z.string() }), "capital of Norway") // { arguments: { query: "capital of Norway" } }
 */
export function readArguments(
  parameters: z.ZodObject,
  input: string,
): { arguments: Record<string, unknown> } | { problem: Problem } {
  const [first = "input", ...others] = Object.keys(parameters.shape);
  const alone = { [first]: input };
  if (others.length === 0) {
    const asText = checkOptions(parameters, alone);
    if (asText.problem === null) return { arguments: asText.value };
  }
  const given = objectIn(input) ?? alone;
  const checked = checkOptions(parameters, given);
  if (checked.problem === null) return { arguments: checked.value };
  const { path, message } = checked.problem;
  const where = path.length === 0 ? "the input" : path.join(".");
  return { problem: { code: "bad-arguments", message: `${where} ${message.replace(/\.$/, "")}` } };
}

function objectIn(input: string): object | null {
  try {
    const value: unknown = JSON.parse(input);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}
