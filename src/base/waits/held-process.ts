/** Threads that hang in the system, which no process can end in an orderly way while they do. */
const hanging = new Set<Promise<unknown>>();

/** Notes that a thread has been given up that may hang in the system, until it is done after all. */
export function noteHanging(thread: Promise<unknown>): void {
  hanging.add(thread);
  const over = (): void => {
    hanging.delete(thread);
  };
  thread.then(over, over);
}

/** Whether the process would hang at its end: Node waits there for every thread. */
export function isHeld(): boolean {
  return hanging.size > 0;
}
