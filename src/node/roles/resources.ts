/** Resources of a part of the node, released in reverse order. */
export class Resources {
  readonly #closers: (() => void | Promise<void>)[] = [];

  /** @param close called after the resources that are added later */
  add(close: () => void | Promise<void>): void {
    this.#closers.push(close);
  }

  /** Releases all resources, even if some fail. @throws the first failure */
  async close(): Promise<void> {
    let failure: { readonly error: unknown } | undefined;
    for (let close = this.#closers.pop(); close; close = this.#closers.pop()) {
      try {
        await close();
      } catch (error) {
        failure ??= { error };
      }
    }
    if (failure !== undefined) throw failure.error;
  }

  /** The result of `open`; if it fails, the added resources are released. */
  async during<T>(open: () => Promise<T>): Promise<T> {
    try {
      return await open();
    } catch (error) {
      // The first failure is the one to report.
      await this.close().catch(() => {});
      throw error;
    }
  }
}
