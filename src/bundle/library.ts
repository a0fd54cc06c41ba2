import { loadBundle } from "./load-bundle.ts";

/** What `import "evmint"` and `require("evmint")` give: `src/index.ts` out of the bundle. */
export const { createNode, ProviderRpcError } = loadBundle().exports;
