import { renderMarkdown, type Table } from "../base/table.ts";
import type { KeptResults } from "../experiment/claims/kept-results.ts";
import { machineText } from "../experiment/claims/run-origin.ts";
import { measuredText, staleText } from "../experiment/claims/verdict-text.ts";
import type { AtlasSystem } from "../view/html/atlas-page.ts";
import { reproductionText } from "./reproduction-text.ts";

/** A line for each claim, and for each recipe without claims. */
export function atlasOverview(systems: readonly AtlasSystem[]): Table {
  return {
    columns: ["family", "system", "claim", "verdict", "measured"],
    rows: systems.flatMap((system) => {
      const { name, family, claims, results } = system;
      const when = measuredText(system);
      if (results !== null)
        return results.claims.map(({ id, verdict }) => [family, name, id, verdict, when]);
      const listed = claims.length === 0 ? ["no claims yet"] : claims;
      return listed.map((claim) => [family, name, claim, "", when]);
    }),
  };
}

/** The atlas as Markdown: the list of claims, then each measured system with its tables and the origin of its numbers. */
export function atlasMarkdown(systems: readonly AtlasSystem[]): string {
  const parts = systems.flatMap((system) =>
    system.results === null ? [] : [systemMarkdown(system, system.results)],
  );
  return `${["# Atlas of systems", renderMarkdown(atlasOverview(systems)).trimEnd(), ...parts].join("\n\n")}\n`;
}

function systemMarkdown({ name, summary, isCurrent }: AtlasSystem, results: KeptResults): string {
  const [heading = "", ...rest] = reproductionText(results, "md")
    .replaceAll(/^#+ /gm, "#$&")
    .split("\n\n");
  return [
    ...[heading, summary, ...staleText(name, isCurrent), ...rest],
    ...(results.notes.length === 0
      ? []
      : ["What the miniature changes:", results.notes.map((each) => `- ${each}`).join("\n")]),
    ...["Measured by:", originLines(results).join("\n")],
  ].join("\n\n");
}

/** Runs of one day, version, command and machine in one line, with their seeds. */
function originLines({ runs }: KeptResults): string[] {
  const seeds = new Map<string, Set<number>>();
  for (const { origin, seed } of runs) {
    const { date, version, command, machine } = origin;
    const line = `${date}, agentrl ${version}, ${machineText(machine)}: \`${command}\``;
    seeds.set(line, (seeds.get(line) ?? new Set()).add(seed));
  }
  return [...seeds].map(
    ([line, own]) => `- ${line}, seeds ${[...own].sort((a, b) => a - b).join(", ")}`,
  );
}
