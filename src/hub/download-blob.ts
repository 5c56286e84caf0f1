import { ExternalError } from "../base/errors.ts";
import { downloadFile } from "../http/download-file.ts";
import { isAsPromised } from "../http/promised-content.ts";
import { type HubName, hubNameText } from "./hub-name.ts";
import type { HubSettings } from "./hub-settings.ts";
import { refusal, unreachable } from "./refusal.ts";
import type { RemoteFile } from "./remote-file.ts";

/** One file of a model to be downloaded. */
export interface BlobRequest {
  settings: HubSettings;
  name: HubName;
  file: RemoteFile;
  /** Where the whole file goes. */
  blob: string;
  /** Bytes of the file that are here; may fall when a download begins anew. */
  onBytes: (bytes: number) => void;
  signal?: AbortSignal | undefined;
}

/**
 * Downloads one file of a model into the cache, as `downloadFile`.
 * @throws {ExternalError} HUB_UNREACHABLE, HUB_CHECKSUM; as `refusal`; and as the disk does.
 */
export async function downloadBlob(request: BlobRequest): Promise<void> {
  const { settings, name, file, blob, onBytes, signal } = request;
  const what = `${hubNameText(name)}: ${file.name}`;
  await downloadFile({
    ...{ settings, url: file.url, size: file.size, path: blob, onBytes, signal },
    isPromised: (path) => isAsPromised(path, file.checksum),
    problems: {
      unreachable: unreachable(settings, what),
      refused: (response) => refusal(response, name, settings),
      changed: () =>
        new ExternalError(
          "HUB_CHECKSUM",
          `${what}: came from ${settings.endpoint} twice with another content than promised (checksum ${file.checksum}). A proxy or mirror in between changes files: set HF_ENDPOINT to another one.`,
        ),
    },
  });
}
