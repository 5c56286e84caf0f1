import { availableMemory } from "node:process";
import { ConfigError } from "../../base/errors.ts";
import { freeDiskBytes } from "../../base/free-space.ts";
import type { IndexPlan } from "./plan-index.ts";

/** What an index may take; what is not given is not looked at. */
export interface IndexLimits {
  /** Where it will be written: the free space there and the free memory count. */
  out?: string | undefined;
  /** Bytes of memory, instead of what is free. */
  maxMemory?: number | undefined;
  /** Bytes of disk, instead of what is free. */
  maxDisk?: number | undefined;
}

/**
 * Refuses an index that would not fit, with its size and how many passages would.
 * @throws {ConfigError} INDEX_TOO_LARGE
 */
export async function refuseUnlessFits(
  plan: IndexPlan,
  { out, maxMemory, maxDisk }: IndexLimits,
): Promise<void> {
  const isPlaced = out !== undefined;
  const disk = maxDisk ?? (isPlaced ? await freeDiskBytes(out) : Infinity);
  const memory = maxMemory ?? (isPlaced ? availableMemory() : Infinity);
  const wanted = plan.bytesOnDisk + plan.temporaryBytes;
  if (wanted > disk) {
    throw tooLarge(plan, {
      ...{ wanted, limit: disk, what: "of disk while it is built" },
      more: `; when it is done, ${gigabytes(plan.bytesOnDisk)}`,
    });
  }
  if (plan.residentBytes > memory) {
    throw tooLarge(plan, {
      ...{ wanted: plan.residentBytes, limit: memory, what: "of memory once opened" },
      more: "",
    });
  }
}

function tooLarge(
  { passages }: IndexPlan,
  { wanted, limit, what, more }: { wanted: number; limit: number; what: string; more: string },
): ConfigError {
  // Rounded down to two digits: a forecast is no promise.
  const share = Math.floor((passages * limit) / wanted);
  const unit = 10 ** Math.max(0, String(share).length - 2);
  const fitting = Math.floor(share / unit) * unit;
  return new ConfigError(
    "INDEX_TOO_LARGE",
    `the index of ${passages} passages needs ${gigabytes(wanted)} ${what}${more}; there is ${gigabytes(limit)}. Some ${fitting} of its passages would fit: index a part of the corpus, or find a larger place.`,
  );
}

function gigabytes(bytes: number): string {
  return bytes < 1e8 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
}
