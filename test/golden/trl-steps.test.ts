import { readFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { describeTrlRun } from "../helpers/trl-agreement.ts";
import { TRL_CASES, type TrlRun } from "../helpers/trl-steps.ts";

// trl-steps/<case>.json: recorded by trl-steps.nightly.test.ts with the versions and the seed in it.
const folder = temporaryFolder();

for (const trlCase of TRL_CASES) {
  describeTrlRun(trlCase, folder, () => {
    const file = join(import.meta.dirname, "trl-steps", `${trlCase.name}.json`);
    return Promise.resolve(JSON.parse(readFileSync(file, "utf8")) as TrlRun);
  });
}
