import { z } from "../../base/schema.ts";

/** Options of selectors that keep so many, or such a share, of what they are given. */
export const amountShape = {
  /** So many are kept. */
  count: z.int().min(1).optional(),
  /** Instead: such a share of them, rounded, at least one. */
  share: z.number().gt(0).max(1).optional(),
};

interface Amount {
  count?: number | undefined;
  share?: number | undefined;
}

/** For `refine`: whether one of the two is told, and not both. */
export function isOneAmount({ count, share }: Amount): boolean {
  return (count === undefined) !== (share === undefined);
}

/** What a schema says where that is not so. */
export const ONE_AMOUNT = "expected either count or share";

/** How many of so many are kept. */
export function amountOf({ count, share = 1 }: Amount, of: number): number {
  return Math.min(of, count ?? Math.max(1, Math.round(share * of)));
}
