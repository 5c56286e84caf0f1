import type { CliCommand } from "../command.ts";
import { addModelsConvert } from "./models/convert.ts";
import { addModelsGet } from "./models/get.ts";

/** `agentrl models get|convert`: models in Hugging Face layout. */
export const modelsCommand: CliCommand = {
  name: "models",
  register(program, context) {
    const models = program
      .command("models")
      .summary("fetch and convert models")
      .description(
        "Models for --policy, --model and policy.from: fetched by name, or Hugging Face folders from GGUF files.",
      );
    addModelsGet(models, context);
    addModelsConvert(models, context);
  },
};
