import mcl from "wasm:mcl";
import { decodeText } from "../platform/text-encodings.ts";

/** The module as text, which the bundler inlines. */
export const readMclModule = (): Uint8Array<ArrayBuffer> => decodeText(mcl, "latin1");
