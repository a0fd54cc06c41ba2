/**
 * Loaded by an RPC process before its program (`NODE_OPTIONS`): at SIGUSR2 it sends the chain's process what the file of `EVMINT_WRONG_MESSAGE` has, as
 * JSON. Other processes only load it.
 */
import { readFileSync } from "node:fs";

const file = process.env["EVMINT_WRONG_MESSAGE"];
if (file !== undefined && process.send !== undefined) {
  process.on("SIGUSR2", () => process.send(JSON.parse(readFileSync(file, "utf8"))));
}
