import { join } from "node:path";

/** The package's folder, with recipes/ and datasets/; src/base/ and dist/base/ have the same depth. */
export const packageRoot = join(import.meta.dirname, "..", "..");
