#!/usr/bin/env node
import { leave, main } from "../dist/cli/main.js";

process.exitCode = await main(process.argv.slice(2));
// What a failed command left open (a worker, a socket) may finish, but not keep the process.
setTimeout(leave, 2000).unref();
