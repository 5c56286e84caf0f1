/** Writes the memory of an interpreter that has loaded its modules to standard output, for others to begin from. No program of a policy runs here. */
import { loadPyodide } from "pyodide";
import { IMPORTS, START } from "./harness.ts";

const python = await loadPyodide({ ...START, _makeSnapshot: true });
python.runPython(IMPORTS);
process.stdout.write(python.makeMemorySnapshot());
