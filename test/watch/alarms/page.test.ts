import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { alarms } from "../../../src/watch/alarms/index.ts";

it("docs/alarms.md lists every rule with what it judges, its defaults and its source", () => {
  const page = readFileSync(new URL("../../../docs/alarms.md", import.meta.url), "utf8");
  const [, table] = /<!-- table alarms -->\n([^]*?)<!-- end -->/.exec(page) ?? [];
  const rows = alarms.parts.map(({ name, summary, metrics, options, source }) => {
    const defaults = Object.entries(options.parse({})).map(([key, value]) => `${key}: ${String(value)}`); // prettier-ignore
    const judged = metrics.map((each) => `\`${each}\``).join(", ");
    return `| \`${name}\` | ${summary} | ${judged} | ${defaults.join(", ")} | ${source} |`;
  });
  const head = ["| name | what it is | judges | defaults | source |", "|---|---|---|---|---|"];
  expect(table?.trimEnd().split("\n")).toEqual([...head, ...rows]);
});
