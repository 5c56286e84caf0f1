import { ConfigError } from "../../base/errors.ts";
import { quote } from "../../base/schema.ts";

const UNITS: Readonly<Record<string, number>> = {
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  TiB: 2 ** 40,
};

/**
 * Bytes of an amount of memory as people write it.
 * @throws {ConfigError} RECIPE_BAD_VALUE
 * @example parseMemory("24GB", "--memory") // 24_000_000_000
 */
export function parseMemory(text: string, where: string): number {
  const [, amount = "", unit = ""] = /^(\d+(?:\.\d+)?)\s*([A-Za-z]+)$/.exec(text.trim()) ?? [];
  const found = Object.keys(UNITS).find((name) => name.toLowerCase() === unit.toLowerCase());
  const bytes = Number(amount) * (UNITS[found ?? ""] ?? NaN);
  if (bytes > 0) return bytes;
  throw new ConfigError(
    "RECIPE_BAD_VALUE",
    `${where} is ${quote(text)}: expected a number above 0 with its unit (${Object.keys(UNITS).join(", ")}), e.g. 24GB.`,
  );
}
