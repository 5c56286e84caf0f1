// Loaded before the program (--import): hangs a thread of its engine when it is asked for STUCK_CALL for the STUCK_AT-th time, in an endless
// wait or, where STUCK_PIPE names a pipe that nobody writes to, in the system.
import { openSync } from "node:fs";
import { isMainThread, parentPort } from "node:worker_threads";

const { STUCK_CALL, STUCK_AT = "1", STUCK_PIPE } = process.env;

function hang() {
  if (STUCK_PIPE !== undefined) openSync(STUCK_PIPE, "r");
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

if (!isMainThread && parentPort !== null) {
  const on = parentPort.on.bind(parentPort);
  let asked = 0;
  parentPort.on = (name, listener) =>
    on(name, (message) => {
      if (name === "message" && message?.call === STUCK_CALL) asked += 1;
      if (asked >= Number(STUCK_AT)) hang();
      listener(message);
    });
}
