import mcl from "wasm:mcl";
import secp256k1 from "wasm:secp256k1";
import { decodeText } from "../platform/text-encodings.ts";

/** The modules as text, which the bundler puts in. */
export const readMclModule = (): Uint8Array<ArrayBuffer> => decodeText(mcl, "latin1");
export const readSecp256k1Module = (): Uint8Array<ArrayBuffer> => decodeText(secp256k1, "latin1");
