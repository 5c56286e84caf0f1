import { describe, expect, it } from "vitest";
import { PART_KINDS, type Part, type PartKind, registryOf } from "../../src/base/registry.ts";
import { cardNames } from "../../src/data/cards/card-names.ts";
import { shippedStages } from "../../src/run/stages/shipped.ts";
import { datasets } from "../../src/worlds/datasets.ts";
import { openDataset } from "../../src/worlds/open-dataset.ts";
import "../helpers/all-parts.ts";

const kinds = Object.keys(PART_KINDS) as PartKind[];

describe.each(kinds)("every %s", (kind) => {
  const registered = registryOf<Part & Record<string, unknown>>(kind).parts;
  // Settings know of a stage all but how it runs.
  const parts: readonly (Part & Record<string, unknown>)[] =
    kind === "stage"
      ? registered.map((part) => ({ ...part, ...shippedStages.get(part.name) }))
      : registered;

  it("is made by its helper: its kind, its name, a summary, its function", () => {
    const { runs } = PART_KINDS[kind];
    for (const part of parts) {
      expect(part, part.name).toMatchObject({
        part: kind,
        name: expect.stringMatching(/^[a-z0-9][a-z0-9-]*$/) as string,
        summary: expect.stringMatching(/\S/) as string,
      });
      if (runs !== null) expect(part[runs], part.name).toBeTypeOf("function");
    }
  });

  it("has options whose unknown keys are errors, if it has options", () => {
    for (const { name, options } of parts) {
      if (options === undefined) continue;
      const { issues = [] } =
        (
          options as { safeParse(given: object): { error?: { issues: { code: string }[] } } }
        ).safeParse({ noSuchOption: 1 }).error ?? {};
      expect(
        issues.map(({ code }) => code),
        name,
      ).toContain("unrecognized_keys");
    }
  });
});

const generated = datasets.parts.filter(
  ({ name, options }) =>
    name !== "environment" &&
    !cardNames("questions").includes(name) &&
    options.safeParse({}).success,
);

describe.each(generated.map(({ name }) => name))("dataset %s", (name) => {
  it("gives the same questions and fingerprint each time", async () => {
    const first = await openDataset({ name }, "test");
    const second = await openDataset({ name }, "test");
    expect(first.fingerprint).toBe(second.fingerprint);
    const tasks = await first.tasks(4);
    expect(tasks).toHaveLength(4);
    expect(await first.tasks(4)).toEqual(tasks);
    expect(await second.tasks(4)).toEqual(tasks);
  });
});
