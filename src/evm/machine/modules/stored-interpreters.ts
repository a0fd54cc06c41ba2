/**
 * The interpreter of `key` as `scripts/bundle.mjs` emitted it with `TEMPLATE_SEED`: emitting one takes longer than compiling it. Undefined in the
 * sources, which store none, and for any key but those of `emit-stored-interpreters.ts`.
 */
export function storedInterpreter(_key: string): Uint8Array | undefined {
  return undefined;
}
