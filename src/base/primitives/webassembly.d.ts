/**
 * The part of the WebAssembly JavaScript interface that the node uses. TypeScript has these types only in its `dom` library, which would add
 * `window` and `document`; the types of Node 20 lack them.
 */
declare namespace WebAssembly {
  class Module {
    constructor(bytes: Uint8Array<ArrayBuffer>);
  }
  class Instance {
    constructor(module: Module, imports?: Imports);
    readonly exports: Record<string, unknown>;
  }
  class Memory {
    constructor(descriptor: { initial: number; maximum?: number; shared?: boolean });
    readonly buffer: ArrayBuffer;
    grow(pages: number): number;
  }
  class Global {
    value: number;
  }
  class Table {
    constructor(descriptor: { element: "anyfunc"; initial: number; maximum?: number });
  }
  class RuntimeError extends Error {}
  type Imports = Record<string, Record<string, unknown>>;
}
