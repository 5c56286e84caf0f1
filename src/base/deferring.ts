/** Undoes something; `error` is what ended the work, undefined where it succeeded. */
export type Undo = (error: unknown) => Promise<void> | void;

/** Closes what the work opened (`defer`), in reverse order however it ends. @throws the work's error, else the first of closing. */
export async function deferring<T>(work: (defer: (undo: Undo) => void) => Promise<T>): Promise<T> {
  const undos: Undo[] = [];
  let failed = false;
  let error: unknown;
  let result: T | undefined;
  try {
    result = await work((undo) => undos.push(undo));
  } catch (caught) {
    [failed, error] = [true, caught];
  }
  for (const undo of undos.reverse()) {
    try {
      await undo(error);
    } catch (caught) {
      if (!failed) [failed, error] = [true, caught];
    }
  }
  if (failed) throw error;
  return result as T;
}

/** Closes every one of them, and then throws the first error. */
export async function closeAll(all: readonly { close?(): Promise<void> | void }[]): Promise<void> {
  await deferring((defer) => {
    for (const each of [...all].reverse()) defer(() => each.close?.());
    return Promise.resolve();
  });
}
