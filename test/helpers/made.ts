import type { Made } from "../../src/view/document.ts";

/** Origin of a page in tests. */
export const MADE: Made = { version: "1.2.3", date: "2026-11-22", command: "agentrl made" };
