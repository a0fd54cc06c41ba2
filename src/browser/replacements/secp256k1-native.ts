import type * as Replaced from "../../crypto/secp256k1-native.ts";

/** Native code is left out; the curve is WebAssembly. */
export const loadNativeBackend: typeof Replaced.loadNativeBackend = () => undefined;
