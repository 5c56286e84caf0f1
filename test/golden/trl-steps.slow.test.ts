import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { describeTrlRun } from "../helpers/trl-agreement.ts";
import { recordedTrlRun, TRL_CASES } from "../helpers/trl-steps.ts";

const folder = temporaryFolder();
for (const trlCase of TRL_CASES) describeTrlRun(trlCase, folder, () => recordedTrlRun(trlCase));
