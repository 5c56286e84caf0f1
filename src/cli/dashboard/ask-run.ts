import type { RunControl } from "../../run/folder/run-control.ts";
import type { FollowedRun } from "./follow-run.ts";

/** Sends a key's request to a run. @returns whether the key has one. */
export function askRun(key: string, control: RunControl, run: Pick<FollowedRun, "ask">): boolean {
  switch (key) {
    case "p":
      if (control.paused) {
        control.resume();
        return true;
      }
      control.pause();
      run.ask("pause");
      return true;
    case "s":
      control.save();
      run.ask("save");
      return true;
    case "e":
      control.evaluate();
      run.ask("evaluate");
      return true;
    case "q":
      control.stop();
      run.ask("stop");
      return true;
    default:
      return false;
  }
}
