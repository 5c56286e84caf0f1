import { registry } from "../../base/registry.ts";
import { calculator } from "./calculator.ts";
import { corpusSearch } from "./corpus-search.ts";
import type { ToolPart } from "./tool.ts";

/** All tools. */
export const tools = registry<ToolPart>("tool", [corpusSearch, calculator]);
