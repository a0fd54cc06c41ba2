/** Node globals that browsers lack. The bundler imports one into every module that uses it. */
export { Buffer } from "./buffer.ts";
export {
  clearImmediate,
  clearInterval,
  clearTimeout,
  setImmediate,
  setInterval,
  setTimeout,
} from "./timers.ts";

/** The members of Node's `process` that the node's modules read. They see a single process. */
export const process = {
  platform: "browser",
  pid: 0,
  env: {},
  arch: "wasm",
  argv: [],
  execArgv: [],
  versions: {},
} as const;

/** Browsers have shared memory only on isolated pages. The store publishes its head there for threads, which a page does not have. */
const Memory = globalThis.SharedArrayBuffer ?? ArrayBuffer;

export { Memory as SharedArrayBuffer };
