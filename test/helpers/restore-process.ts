import { afterAll, vi } from "vitest";

/** Set up before each file of a process that runs many: puts the working directory and the environment back after it. */
const cwd = process.cwd();
const env = { ...process.env };

afterAll(() => {
  process.chdir(cwd);
  vi.unstubAllEnvs();
  for (const name of Object.keys(process.env))
    if (!(name in env)) Reflect.deleteProperty(process.env, name);
  Object.assign(process.env, env);
});
