import { testHostile } from "../helpers/hostile.ts";
import { hostilePrograms } from "../helpers/hostile-programs.ts";

// Some of each kind; `npm run test:nightly` runs all.
testHostile(hostilePrograms.filter((_, i) => i % 5 === 0));
