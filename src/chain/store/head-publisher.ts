import { HeadFile, type HeadPosition, PublishedHead } from "./published-head.ts";

/** Publishes how far a store has come, to threads of this process and, where a file is given, to other processes. */
export class HeadPublisher {
  readonly #shared = new PublishedHead();
  #file: HeadFile | undefined;
  #onFileFailure: (error: unknown) => void = () => {};

  /** Of the shared head. */
  get buffer(): SharedArrayBuffer {
    return this.#shared.buffer;
  }

  /**
   * Publishes to this file too, from the next call of `publish` on.
   * @param onFailure called once when the file cannot be written any more: those that read it see an old head from then on
   */
  toFile(path: string, onFailure: (error: unknown) => void): void {
    this.#file = HeadFile.create(path);
    this.#onFileFailure = onFailure;
  }

  publish(position: HeadPosition): void {
    this.#shared.publish(position);
    try {
      this.#file?.publish(position);
    } catch (error) {
      this.close();
      this.#onFileFailure(error);
    }
  }

  close(): void {
    this.#file?.close();
    this.#file = undefined;
  }
}
