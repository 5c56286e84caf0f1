import { stat } from "node:fs/promises";
import { ConfigError } from "../base/errors.ts";
import { hubModel, type HubModelOptions } from "./hub-model.ts";
import { parseHubName } from "./hub-name.ts";

/**
 * The folder of a model that is named by its folder, or by `org/name` or `org/name@revision` on the hub. A folder that exists wins.
 *
 * @throws {ConfigError} MODEL_NAME when it is neither; and as `hubModel`.
 */
export async function modelFolder(model: string, options: HubModelOptions = {}): Promise<string> {
  const isFolder = await stat(model).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (isFolder) return model;
  const name = parseHubName(model);
  if (name === null) {
    throw new ConfigError(
      "MODEL_NAME",
      `${model}: is no folder here, and no name of a model on the hub (org/name or org/name@revision). Give a folder in Hugging Face layout, with config.json, model.safetensors and tokenizer.json, or such a name.`,
    );
  }
  return (await hubModel(name, options)).folder;
}
