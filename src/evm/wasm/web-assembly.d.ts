/** The part of the WebAssembly JavaScript interface in use; Node's own type declarations leave it to the DOM's. */
declare namespace WebAssembly {
  class Module {
    constructor(bytes: Uint8Array<ArrayBuffer>);
  }
  class Instance {
    constructor(module: Module, imports: Record<string, Record<string, unknown>>);
    readonly exports: Record<string, unknown>;
  }
  class Memory {
    constructor(descriptor: { readonly initial: number; readonly maximum?: number });
    readonly buffer: ArrayBuffer;
    /** @throws RangeError when there is not so much memory */
    grow(pages: number): number;
  }
}
