/** Browsers have shared memory on isolated pages alone. The store publishes its head in some, for threads that a page has not. */
const Memory = globalThis.SharedArrayBuffer ?? ArrayBuffer;

export { Memory as SharedArrayBuffer };
