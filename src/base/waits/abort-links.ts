import { setMaxListeners } from "node:events";

/** Signals that abort controllers. */
export interface AbortLinks {
  /** @returns a function that removes the link. */
  link(signal: AbortSignal, controller: AbortController): () => void;
}

/** One listener per signal for any number of controllers: adding a listener costs time proportional to those present. */
export function abortLinks(): AbortLinks {
  const followers = new WeakMap<AbortSignal, Set<AbortController>>();
  return {
    link(signal, controller) {
      let all = followers.get(signal);
      if (all === undefined) {
        const made = new Set<AbortController>();
        followers.set(signal, (all = made));
        setMaxListeners(0, signal);
        const abort = (): void => {
          for (const each of made) each.abort(signal.reason);
        };
        signal.addEventListener("abort", abort, { once: true });
      }
      const added = all;
      added.add(controller);
      return () => {
        added.delete(controller);
      };
    },
  };
}
