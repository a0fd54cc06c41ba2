/**
 * Interpreters that `scripts/bundle.mjs` emitted with `TEMPLATE_SEED`, base64 by hardfork and build: emitting one takes longer than compiling it.
 * The sources have none.
 */
export const STORED_INTERPRETERS: Readonly<Record<string, string>> = {};
