import { z } from "../../base/schema.ts";
import { defineSelector, type SampleFacts } from "./selector.ts";

/** Balances samples over kinds of question. The seed chooses the samples of each cell; the kept samples keep their order. */
export const quota = defineSelector({
  name: "quota",
  summary:
    "Keeps at most a number of samples of each type and number of hops, or given shares of them.",
  options: z
    .strictObject({
      /** Keys of a cell; its name is their values in this order, joined by "/", with "none" for an absent value. */
      by: z
        .array(z.enum(["type", "hops", "draw"]))
        .min(1)
        .default(["type", "hops"]),
      /** Most samples of each cell. */
      most: z.int().min(1).optional(),
      /**
       * Alternative: the shares of cells by name (`bridge/2: 0.5`), of any sum. As many samples are kept as the cells allow; unnamed cells
       * are dropped, and a named cell without samples is ignored.
       */
      shares: z.record(z.string(), z.number().min(0)).optional(),
    })
    .refine(
      ({ most, shares }) => (most === undefined) !== (shares === undefined),
      "expected either most or shares",
    ),
  example: { most: 7 },
  select(samples, { by, most, shares }, random) {
    const cells = new Map<string, SampleFacts[]>();
    for (const sample of samples) {
      const cell = by.map((key) => sample[key] ?? "none").join("/");
      const members = cells.get(cell);
      if (members === undefined) cells.set(cell, [sample]);
      else members.push(sample);
    }
    const sizes = new Map([...cells].map(([cell, { length }]) => [cell, length]));
    const limits = shares === undefined ? null : limitsOf(sizes, shares);
    const chosen = new Set(
      [...cells].flatMap(([cell, members]) => {
        const limit = limits === null ? (most ?? 0) : (limits.get(cell) ?? 0);
        return random.derive(cell).shuffle(members).slice(0, limit);
      }),
    );
    return {
      kept: samples.filter((sample) => chosen.has(sample)),
      dropped: samples
        .filter((sample) => !chosen.has(sample))
        .map(({ id }) => ({ id, reason: "over the quota" })),
    };
  },
});

/**
 * Largest number of samples of each cell that fits the shares.
 * @example limitsOf(new Map([["a", 10], ["b", 3]]), { a: 1, b: 1 }) // a: 3, b: 3
 */
function limitsOf(
  sizes: ReadonlyMap<string, number>,
  shares: Readonly<Record<string, number>>,
): Map<string, number> {
  const wanted = [...sizes].flatMap(([cell, size]) => {
    const share = shares[cell] ?? 0;
    return share > 0 ? [{ cell, size, share }] : [];
  });
  // Samples for a share of 1: as many as the scarcest cell allows.
  const scale = Math.min(...wanted.map(({ size, share }) => size / share));
  // A rounding error may make a product slightly smaller than a whole number.
  return new Map(wanted.map(({ cell, share }) => [cell, Math.floor(share * scale + 1e-9)]));
}
