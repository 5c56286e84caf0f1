import { type FileHandle, open } from "node:fs/promises";

/** A file with a known end, so that a retry overwrites half a record. */
export class AppendedFile {
  readonly #file: FileHandle;
  #bytes = 0;

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  /** Makes the file, which must not exist. */
  static async create(path: string): Promise<AppendedFile> {
    return new AppendedFile(await open(path, "wx"));
  }

  get bytes(): number {
    return this.#bytes;
  }

  async append(content: Buffer): Promise<void> {
    for (let done = 0; done < content.length;) {
      const { bytesWritten } = await this.#file.write(
        content,
        done,
        content.length - done,
        this.#bytes + done,
      );
      done += bytesWritten;
    }
    this.#bytes += content.length;
  }

  /** Drops everything from that byte on. */
  async cut(bytes: number): Promise<void> {
    if (bytes >= this.#bytes) return;
    await this.#file.truncate(bytes);
    this.#bytes = bytes;
  }

  async close(): Promise<void> {
    await this.#file.truncate(this.#bytes).catch(() => undefined);
    await this.#file.close();
  }
}
