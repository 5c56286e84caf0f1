/** Threads that hang in a system call. Node waits for every thread before it exits, so the process would hang. */
const stuck = new Set<Promise<unknown>>();

/** Records a hanging thread until its call returns. */
export function noteStuckThread(thread: Promise<unknown>): void {
  stuck.add(thread);
  const returned = (): void => {
    stuck.delete(thread);
  };
  thread.then(returned, returned);
}

/** Whether a normal exit would hang. */
export function hasStuckThreads(): boolean {
  return stuck.size > 0;
}
