import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { describeTrlRun } from "../helpers/trl-agreement.ts";
import { recordedTrlRun, TRL_CASES } from "../helpers/trl-steps.ts";

// One case, once; trl-steps.slow.test.ts has all of them.
const [first] = TRL_CASES;
describeTrlRun(first!, temporaryFolder(), () => recordedTrlRun(first!), []);
