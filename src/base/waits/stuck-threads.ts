/** Threads that were given up in a system call. Node waits for every thread before it exits, so the process would hang there. */
const stuck = new Set<Promise<unknown>>();

/** Notes a thread that was given up, until its call returns after all. */
export function noteStuckThread(thread: Promise<unknown>): void {
  stuck.add(thread);
  const returned = (): void => {
    stuck.delete(thread);
  };
  thread.then(returned, returned);
}

/** Whether the process could not exit in an orderly way. */
export function hasStuckThreads(): boolean {
  return stuck.size > 0;
}
