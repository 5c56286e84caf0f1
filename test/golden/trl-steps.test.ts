import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { describeTrlRun } from "../helpers/trl-agreement.ts";
import { recordedTrlRun, TRL_CASES } from "../helpers/trl-steps.ts";

// The first case; trl-steps.slow.test.ts has the others.
const [first] = TRL_CASES;
describeTrlRun(first!, temporaryFolder(), () => recordedTrlRun(first!));
