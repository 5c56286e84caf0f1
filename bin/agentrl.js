#!/usr/bin/env node
/** Files that Node holds open at once while it loads a command, and some. */
const OPEN_FILES = 256;

/** Says what to do where Node could not load a module because too few files may be open. */
function refuseTooFew(error) {
  const { soft } = process.report.getReport().userLimits?.open_files ?? {};
  if (!(Number(soft) < OPEN_FILES)) throw error;
  process.stderr.write(
    `error: Node could not load the program: this shell allows ${soft} open files at once, and ${OPEN_FILES} are needed. Raise it: ulimit -n ${OPEN_FILES}.\n`,
  );
  process.exit(4);
}

const { leave, main } = await import("../dist/cli/main.js").catch(refuseTooFew);

process.exitCode = await main(process.argv.slice(2)).catch(refuseTooFew);
// What a failed command left open (a worker, a socket) may finish, but not keep the process.
setTimeout(leave, 2000).unref();
