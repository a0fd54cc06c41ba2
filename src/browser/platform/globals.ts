/** Globals of Node that browsers lack. The bundler imports one into every module that names it. */
export { Buffer } from "./buffer.ts";
export { clearImmediate, setImmediate } from "./next-turn.ts";
export { process } from "./process.ts";
export { SharedArrayBuffer } from "./shared-array-buffer.ts";
export { clearInterval, clearTimeout, setInterval, setTimeout } from "./timers.ts";
