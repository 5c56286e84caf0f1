import type { PolicyDownload } from "../run/assemble.ts";
import type { CliContext } from "./command.ts";
import { type Progress, startProgress } from "./progress.ts";

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
