import { registry } from "../../base/registry.ts";
import { llama } from "./llama.ts";
import { mistral } from "./mistral.ts";
import { qwen2 } from "./qwen2.ts";
import { qwen3 } from "./qwen3.ts";

/** The only list of architectures, by `model_type`. */
export const architectures = registry("architecture", [llama, mistral, qwen2, qwen3]);
