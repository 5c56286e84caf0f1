import { registry } from "../../base/registry.ts";
import { dpo } from "./dpo.ts";
import { ipo } from "./ipo.ts";
import { orpo } from "./orpo.ts";
import { simpo } from "./simpo.ts";

/** All preference losses. */
export const preferenceLosses = registry("preference loss", [dpo, ipo, simpo, orpo]);
