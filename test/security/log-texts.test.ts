import assert from "node:assert/strict";
import { test } from "node:test";
import { encodeAbiParameters } from "viem";
import { createLogger } from "../../src/base/telemetry/create-logger.ts";
import { escapeControlsInLines } from "../../src/base/telemetry/escape-controls.ts";
import { DEV_ADDRESSES } from "../support/accounts.ts";
import { CONTROL_CHARACTERS } from "../support/base/telemetry/control-characters.ts";
import { request } from "../support/clients.ts";
import { sendHttp } from "../support/rpc/rpc-client.ts";
import { startTestNode } from "../support/test-node.ts";

const [OWNER] = DEV_ADDRESSES;
const PRINTER = "0x00000000000000000000000000000000000000aa";
/** Calls the console of Hardhat and forge-std with its own input. */
const PRINTER_CODE = "0x36600060003760006000366000" + "73000000000000000000636f6e736f6c652e6c6f67" + "5afa00";
/** `log(string)` */
const LOG = "0x41304fac";

test("what callers and contracts write is in the log without control characters", async () => {
  let written = "";
  let wanted = "";
  let found = () => {};
  const write = (line: string) => {
    written += line;
    if (wanted !== "" && written.includes(wanted)) found();
  };
  const isWritten = (text: string) =>
    new Promise<void>((resolve) => {
      wanted = text;
      found = resolve;
      if (written.includes(text)) resolve();
    });
  const log = createLogger({ level: "info", format: "text", write });
  const node = await startTestNode({ dev: true, log });
  try {
    // One byte a character, as headers have them; the parser rejects C0 by itself.
    const inHeaders = CONTROL_CHARACTERS.filter((each) => each >= "\x80" && each <= "\xff");
    assert.ok(inHeaders.length > 30);
    for (const control of inHeaders) {
      const host = `x${control}y`;
      assert.equal((await sendHttp(node.url, request("eth_chainId"), { host })).status, 403);
    }
    assert.ok(written.includes("\\u009b"));
    const said = `${CONTROL_CHARACTERS.filter((each) => !/\p{Cs}/u.test(each)).join("a")} the end`;
    const call = (method: string, ...params: unknown[]) =>
      sendHttp(node.url, JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }));
    await call("anvil_setCode", PRINTER, PRINTER_CODE);
    const data = `${LOG}${encodeAbiParameters([{ type: "string" }], [said]).slice(2)}`;
    const isLogged = isWritten("the end");
    await call("eth_sendTransaction", { from: OWNER, to: PRINTER, data, gas: "0x100000" });
    await isLogged;
    assert.equal(written, escapeControlsInLines(written));
    for (const line of written.split("\n").slice(0, -1)) assert.match(line, /^\d{4}-\d\d-\d\dT/);
  } finally {
    await node.stop();
  }
});
