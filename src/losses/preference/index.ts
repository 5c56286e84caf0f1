import { registry } from "../../base/registry.ts";
import { dpo } from "./dpo.ts";
import { ipo } from "./ipo.ts";
import { orpo } from "./orpo.ts";
import { simpo } from "./simpo.ts";

/** All losses over pairs of texts. */
export const preferenceLosses = registry("preference loss", [dpo, ipo, simpo, orpo]);
