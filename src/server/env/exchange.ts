/** What happens next in work that asks its client: a question, the end, or a failure. */
export type ExchangeEvent<Question, Answer, Result> =
  | { kind: "asked"; question: Question; answer: (answer: Answer) => void }
  | { kind: "end"; result: Result }
  | { kind: "failed"; error: unknown };

/** Work that asks its client and waits for answers. */
export interface Exchange<Question, Answer, Result> {
  next(): Promise<ExchangeEvent<Question, Answer, Result>>;
  /** The client has left: the signal aborts, and so do questions that wait. */
  stop(): void;
}

/** Starts work whose questions another program answers. @param work asks by its first argument, one question at a time. */
export function startExchange<Question, Answer, Result>(
  work: (ask: (question: Question) => Promise<Answer>, signal: AbortSignal) => Promise<Result>,
): Exchange<Question, Answer, Result> {
  const stopping = new AbortController();
  const { signal } = stopping;
  const waiting: ExchangeEvent<Question, Answer, Result>[] = [];
  let taker: ((event: ExchangeEvent<Question, Answer, Result>) => void) | null = null;
  const put = (event: ExchangeEvent<Question, Answer, Result>): void => {
    if (taker === null) waiting.push(event);
    else taker(event);
    taker = null;
  };
  const ask = (question: Question): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const leave = (): void => {
        reject(signal.reason as Error);
      };
      const answer = (given: Answer): void => {
        signal.removeEventListener("abort", leave);
        resolve(given);
      };
      signal.addEventListener("abort", leave, { once: true });
      put({ kind: "asked", question, answer });
    });
  work(ask, signal).then(
    (result) => {
      put({ kind: "end", result });
    },
    (error: unknown) => {
      put({ kind: "failed", error });
    },
  );
  return {
    next: () =>
      new Promise((resolve) => {
        const first = waiting.shift();
        if (first === undefined) taker = resolve;
        else resolve(first);
      }),
    stop: () => {
      stopping.abort(new Error("the client has left the episode"));
    },
  };
}
