import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { DataError } from "../base/errors.ts";
import { readText } from "../base/files.ts";
import { checkOptions, z } from "../base/schema.ts";
import { suggest } from "../base/nearest.ts";
import { readTokenizerFiles, tokenizerFacts } from "../text/tokenizer-files.ts";
import { type ChatTemplate, compileChatTemplate } from "./chat-template.ts";

const inConfig = z.looseObject({
  chat_template: z
    .union([z.string(), z.array(z.looseObject({ name: z.string(), template: z.string() }))])
    .nullish(),
});

/**
 * The chat template of a Hugging Face folder: `chat_template.jinja`, `additional_chat_templates/*.jinja`, or `tokenizer_config.json`.
 * @param options.name of a named one; default: `tool_use` if it exists and `tools` is set, else `default`.
 * @throws {DataError} CHAT_TEMPLATE_MISSING, CHAT_TEMPLATE_BAD; FILE_MISSING, FILE_NOT_JSON, TOKENIZER_BAD
 */
export async function loadChatTemplate(
  folder: string,
  options: { name?: string; tools?: boolean } = {},
): Promise<ChatTemplate> {
  const files = await readTokenizerFiles(folder);
  const { specialTokens } = tokenizerFacts(files, join(folder, "tokenizer.json"));
  const templates = await namedTemplates(folder, files.config);
  const name =
    options.name ?? (options.tools === true && templates.has("tool_use") ? "tool_use" : "default");
  const found = templates.get(name);
  if (found !== undefined)
    return compileChatTemplate(found.source, { specialTokens, where: found.where });
  if (templates.size === 0) {
    const message = `${folder}: has neither chat_template.jinja nor a chat_template in tokenizer_config.json; it is probably a base model. Use its chat-tuned version, or add a chat_template.jinja.`;
    throw new DataError("CHAT_TEMPLATE_MISSING", message);
  }
  const message = `${folder}: has no chat template "${name}". ${suggest(name, [...templates.keys()])}`;
  throw new DataError("CHAT_TEMPLATE_MISSING", message);
}

/** Whether a Hugging Face folder has a chat template. @throws {DataError} as `loadChatTemplate`. */
export async function hasChatTemplate(folder: string): Promise<boolean> {
  const { config } = await readTokenizerFiles(folder);
  return (await namedTemplates(folder, config)).size > 0;
}

type Found = { source: string; where: string };

async function namedTemplates(folder: string, config: unknown): Promise<Map<string, Found>> {
  const found = new Map<string, Found>();
  const configFile = join(folder, "tokenizer_config.json");
  const checked = checkOptions(inConfig, config);
  if (checked.problem !== null) {
    const { path, message } = checked.problem;
    const problem = `${[configFile, ...path].join(": ")} ${message} Expected a template's text, or a list of name and template.`;
    throw new DataError("CHAT_TEMPLATE_BAD", problem);
  }
  const own = checked.value.chat_template ?? [];
  const list = typeof own === "string" ? [{ name: "default", template: own }] : own;
  for (const { name, template } of list) {
    const where =
      list.length > 1 ? `${configFile}: chat_template "${name}"` : `${configFile}: chat_template`;
    found.set(name, { source: template, where });
  }
  const file = join(folder, "chat_template.jinja");
  if (existsSync(file)) found.set("default", { source: await readText(file), where: file });
  const further = join(folder, "additional_chat_templates");
  if (existsSync(further)) {
    for (const each of (await readdir(further)).filter((name) => name.endsWith(".jinja")).sort()) {
      const where = join(further, each);
      found.set(basename(each, ".jinja"), { source: await readText(where), where });
    }
  }
  return found;
}
