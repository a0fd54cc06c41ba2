import version from "evmint:version";
import type * as Replaced from "../../../node/config/package.ts";

export const packageVersion: typeof Replaced.packageVersion = () => version;

/** As in Node, with `browser` for operating system and runtime, which pages cannot determine reliably. */
export const clientVersion: typeof Replaced.clientVersion = () => `Evmint/v${version}/browser`;
