/**
 * Loaded by an RPC process before its program (`NODE_OPTIONS`): at SIGUSR2 it sends the chain's process what the file of `TEST_WRONG_MESSAGE` has, as
 * JSON; a text of `bytes:` and hexadecimal digits stands for bytes. Other processes only load it.
 */
import { readFileSync } from "node:fs";

const file = process.env["TEST_WRONG_MESSAGE"];
if (file !== undefined && process.send !== undefined) {
  process.on("SIGUSR2", () => process.send(JSON.parse(readFileSync(file, "utf8"), revived)));
}

function revived(_name, value) {
  return String(value).startsWith("bytes:") ? Uint8Array.from(Buffer.from(value.slice(6), "hex")) : value;
}
