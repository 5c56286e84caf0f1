import { join } from "node:path";

/** The package's folder, where recipes/ and datasets/ lie; src/base/ and dist/base/ are equally deep below it. */
export const packageRoot = join(import.meta.dirname, "..", "..");
