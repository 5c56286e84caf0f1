import {
  type PythonLimits,
  type PythonOutcome,
  type PythonProcess,
  type PythonRequest,
  startPython,
} from "./python-process.ts";

/** Interpreters that answer requests side by side, each one at a time. */
export interface PythonPool {
  run(
    request: Exclude<PythonRequest, { close: string }>,
    signal: AbortSignal,
  ): Promise<PythonOutcome>;
  /** Forgets a session. */
  close(session: string): void;
}

interface Lane {
  process: Promise<PythonProcess | null>;
  /** Resolves when the requests so far have ended. */
  last: Promise<unknown>;
  waiting: number;
  /** Sessions that its interpreter knows. */
  sessions: Set<string>;
}

const pools = new Map<string, PythonPool>();

/** The interpreters of these limits, shared by the whole process. They start when first asked and don't keep the process alive. */
export function pythonPool(processes: number, limits: PythonLimits): PythonPool {
  const key = JSON.stringify([processes, limits]);
  const pool = pools.get(key) ?? openPool(processes, limits);
  pools.set(key, pool);
  return pool;
}

function openPool(processes: number, limits: PythonLimits): PythonPool {
  const lanes = Array.from({ length: processes }, (): Lane => {
    return {
      process: Promise.resolve(null),
      last: Promise.resolve(),
      waiting: 0,
      sessions: new Set(),
    };
  });
  const renew = (lane: Lane): Promise<PythonProcess> => {
    lane.sessions.clear();
    const started = startPython(limits);
    // Who asks first gets the error; who asks later starts another one.
    lane.process = started.catch(() => null);
    return started;
  };
  const ask = async (
    lane: Lane,
    request: PythonRequest,
    signal: AbortSignal,
  ): Promise<PythonOutcome> => {
    signal.throwIfAborted();
    const known = await lane.process;
    const python = known?.ended === false ? known : await renew(lane);
    const outcome = await python.run(request, signal);
    if (typeof outcome === "object" && !outcome.tainted) return outcome;
    python.kill();
    void renew(lane);
    return outcome;
  };
  const inTurn = (lane: Lane, work: () => Promise<PythonOutcome>): Promise<PythonOutcome> => {
    lane.waiting += 1;
    const done = lane.last.then(work).finally(() => (lane.waiting -= 1));
    lane.last = done.catch(() => undefined);
    return done;
  };
  const laneOf = (session: string | undefined): Lane => {
    const known = lanes.find(({ sessions }) => session !== undefined && sessions.has(session));
    return known ?? lanes.reduce((best, lane) => (lane.waiting < best.waiting ? lane : best));
  };
  return {
    run(request, signal) {
      const lane = laneOf(request.session);
      return inTurn(lane, async () => {
        const outcome = await ask(lane, request, signal);
        if (request.session !== undefined && typeof outcome === "object" && !outcome.tainted)
          lane.sessions.add(request.session);
        return outcome;
      });
    },
    close(session) {
      for (const lane of lanes)
        if (lane.sessions.delete(session)) {
          const { signal } = new AbortController();
          void inTurn(lane, () => ask(lane, { close: session }, signal)).catch(() => undefined);
        }
    },
  };
}
