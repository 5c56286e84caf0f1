import type { PolicyDownload } from "../run/assemble.ts";
import type { CliContext } from "./command.ts";
import { type Progress, type ProgressOptions, startProgress } from "./progress.ts";

/** Shows a model's download, or the making of a base, if there is one. Stop it in a `finally`. */
export function watchDownload(context: CliContext): { options: PolicyDownload; stop: () => void } {
  let bar: Progress | null = null;
  let last = "";
  const stop = (): void => {
    bar?.stop();
    bar = null;
  };
  return {
    options: {
      onNotice: (notice) => {
        context.note(notice);
      },
      onProgress: ({ file, bytes, totalBytes }) => {
        const total = Math.max(1, Math.round(totalBytes / 1e6));
        if (last === "") context.note(`downloading ${total} MB`);
        last = file;
        bar ??= startProgress(context, { label: "downloading", total, unit: "MB" });
        bar.update(Math.floor(bytes / 1e6), last);
        if (bytes === totalBytes) stop();
      },
      makeBase: async (...base) => {
        const { makeBase } = await import("../run/make-base.ts");
        return makeBase(...base).finally(stop);
      },
      onBase: ({ name, done, total, note }) => {
        bar ??= startProgress(context, { label: name, total: total ?? 0, unit: "steps" });
        bar.update(done, note);
      },
    },
    stop,
  };
}

/** Does work that may download a model, shown as `watchDownload` shows it. */
export async function withDownload<T>(
  context: CliContext,
  work: (download: PolicyDownload) => Promise<T>,
): Promise<T> {
  const { options, stop } = watchDownload(context);
  return work(options).finally(stop);
}

/** Does work under a bar, which is erased at its end; it may download a model. */
export async function withProgress<T>(
  context: CliContext,
  bar: ProgressOptions,
  work: (update: (done: number, status?: string) => void, download: PolicyDownload) => Promise<T>,
): Promise<T> {
  const progress = startProgress(context, bar);
  const update = (done: number, status?: string): void => {
    progress.update(done, status);
  };
  return withDownload(context, (download) => work(update, download)).finally(progress.stop);
}
