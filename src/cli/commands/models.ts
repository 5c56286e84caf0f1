import type { CliCommand } from "../command.ts";
import { addModelsConvert } from "./models/convert.ts";

/** `agentrl models convert`: models in Hugging Face layout. */
export const modelsCommand: CliCommand = {
  name: "models",
  register(program, context) {
    const models = program
      .command("models")
      .summary("convert models")
      .description("Models for --policy and --model: Hugging Face folders from GGUF files.");
    addModelsConvert(models, context);
  },
};
