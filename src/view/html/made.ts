import { type Markup, tag } from "./markup.ts";

/** Where a page comes from. */
export interface Made {
  version: string;
  /** Day of the page: `2026-11-22`. */
  date: string;
  /** Command that wrote it. */
  command: string;
}

/** The line under a page's title. */
export function madeLine({ version, date, command }: Made): Markup {
  return tag("p", { class: "made" }, `${date} · agentrl ${version} · `, tag("code", {}, command));
}
