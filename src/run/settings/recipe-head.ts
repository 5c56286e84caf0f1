import { readText } from "../../base/files.ts";
import { parseYaml } from "../../base/yaml.ts";
import { shippedBases } from "./base-names.ts";
import { recipeFile } from "./recipe-file.ts";
import { type RecipeContent, recipeSchema } from "./recipe-schema.ts";

/** What a list says of a shipped recipe. */
export interface RecipeHead extends Pick<RecipeContent, "summary" | "family" | "paper"> {
  name: string;
  /** It makes a policy that other recipes start from. */
  isBase: boolean;
}

const headSchema = recipeSchema.pick({ summary: true, family: true, paper: true });

/** Reads what a list says of a shipped recipe, and nothing else of its file: that would take a second for all of them. */
export async function recipeHead(name: string): Promise<RecipeHead> {
  const path = recipeFile(name);
  const sections = (await readText(path)).split(/^(?=\w)/m);
  const head = sections.filter((section) => /^(summary|family|paper):/.test(section));
  const { value } = parseYaml(head.join(""), path);
  return { ...headSchema.parse(value), name, isBase: shippedBases().includes(name) };
}
