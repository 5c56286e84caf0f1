import { registry } from "../../base/registry.ts";
import { agent } from "./agent.ts";
import { direct } from "./direct.ts";
import { rag } from "./rag.ts";
import type { Strategy } from "./strategy.ts";

/** All inference strategies. */
export const strategies = registry<Strategy>("strategy", [agent, direct, rag]);
