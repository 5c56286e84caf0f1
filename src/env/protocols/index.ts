import { registry } from "../../base/registry.ts";
import type { ProtocolPart } from "./protocol.ts";
import { hermes } from "./hermes.ts";
import { searchR1 } from "./search-r1.ts";
import { tags } from "./tags.ts";

/** All protocols. */
export const protocols = registry<ProtocolPart>("protocol", [searchR1, hermes, tags]);
