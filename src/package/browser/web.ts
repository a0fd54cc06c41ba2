/** Browser interfaces that this node uses and Node's types lack. */

/** https://fs.spec.whatwg.org/#filesystemsyncaccesshandle */
export type SyncAccessHandle = {
  getSize(): number;
  read(into: Uint8Array, options: { readonly at: number }): number;
  write(bytes: Uint8Array, options: { readonly at: number }): number;
  truncate(size: number): void;
  /** Returns once all writes are on the device. */
  flush(): void;
  close(): void;
};

export type OpfsFile = {
  readonly kind: "file";
  /** Only in dedicated workers. The file is locked until the handle is closed, or the worker ends. */
  createSyncAccessHandle(): Promise<SyncAccessHandle>;
};

export type OpfsDirectory = {
  readonly kind: "directory";
  entries(): AsyncIterable<[name: string, entry: OpfsFile | OpfsDirectory]>;
  getDirectoryHandle(name: string, options: { readonly create: boolean }): Promise<OpfsDirectory>;
  getFileHandle(name: string, options: { readonly create: boolean }): Promise<OpfsFile>;
  removeEntry(name: string, options: { readonly recursive: boolean }): Promise<void>;
};

type StorageManager = {
  getDirectory(): Promise<OpfsDirectory>;
  estimate(): Promise<{ readonly quota?: number; readonly usage?: number }>;
};

export type MessageTarget = {
  postMessage(message: unknown, transfer?: readonly ArrayBuffer[]): void;
  onmessage: ((event: { readonly data: unknown }) => void) | null;
};

type WebWorker = MessageTarget & {
  onerror: ((event: { readonly message: string }) => void) | null;
  terminate(): void;
};

/** The global scope; its members may be missing. */
export const web = globalThis as unknown as {
  readonly navigator?: { readonly storage: StorageManager; readonly hardwareConcurrency: number };
  readonly Worker?: new (url: URL, options: { readonly type: "module" }) => WebWorker;
  readonly DedicatedWorkerGlobalScope?: abstract new () => object;
};

/** Whether files of OPFS can be opened here. */
export function isDedicatedWorker(): boolean {
  const { DedicatedWorkerGlobalScope: Scope } = web;
  return Scope !== undefined && globalThis instanceof Scope;
}
