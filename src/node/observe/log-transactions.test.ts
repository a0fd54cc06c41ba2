import assert from "node:assert/strict";
import { test } from "node:test";
import { encodeFunctionData, type Hex, parseAbi, size } from "viem";
import { contract } from "../../../test/support/contracts.ts";
import { until } from "../../../test/support/until.ts";
import { type LogData, type Logger, SILENT_LOGGER } from "../../base/telemetry/logger.ts";
import { createNode } from "../../index.ts";

const ALICE = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266";
const BOB = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8";
/** Reverts with Error("no"): PUSH and MSTORE of the ABI encoding, REVERT. */
const REVERTS_NO =
  "0x7f08c379a000000000000000000000000000000000000000000000000000000000600052602060045260026024527f6e6f00000000000000000000000000000000000000000000000000000000000060445260646000fd";

test("a dev chain logs each transaction, and why a failed one failed", async () => {
  const lines: LogData[] = [];
  const log: Logger = {
    ...SILENT_LOGGER,
    info: (message, data) => void (message === "transaction" && lines.push(data!)),
    enabled: () => true,
    child: () => log,
  };
  const node = await createNode({ log });
  const send = (tx: object) =>
    node.provider.request({
      method: "eth_sendTransaction",
      params: [{ from: ALICE, gas: "0x100000", ...tx }],
    });
  try {
    const transfer = await send({ to: BOB, value: "0x1" });
    const creation = await send({ data: contract("Token").bytecode });
    const reverted = await send({ data: REVERTS_NO });
    const faulty = await send({ data: "0xfe" });
    // The lines come a turn after the blocks.
    await node.provider.request({ method: "eth_chainId" });
    assert.deepEqual(
      lines.map(({ hash, from }) => [hash, from]),
      [transfer, creation, reverted, faulty].map((hash) => [hash, ALICE]),
    );
    const [first, second, third, fourth] = lines as [LogData, LogData, LogData, LogData];
    assert.deepEqual([first["to"], first["gasUsed"], first["status"]], [BOB, 21_000n, "success"]);
    assert.match(String(second["created"]), /^0x[0-9a-f]{40}$/);
    assert.deepEqual([third["status"], third["reason"]], ["failed", "execution reverted: no"]);
    assert.equal(fourth["reason"], "invalid opcode: INVALID");
  } finally {
    await node.stop();
  }
});

/** Init code that prints by a call of console.sol's address, and leaves no code. */
function printing(input: Hex): Hex {
  const length = size(input);
  const end = "6000600060XX600073000000000000000000636f6e736f6c652e6c6f675afa00".replace(
    "XX",
    length.toString(16).padStart(2, "0"),
  );
  const code = `60${length.toString(16).padStart(2, "0")}60ZZ600039${end}`;
  const offset = (code.length / 2).toString(16).padStart(2, "0");
  return `0x${code.replace("ZZ", offset)}${input.slice(2)}`;
}

test("a dev chain logs what contracts print with console.log", async () => {
  const printed: unknown[] = [];
  const log: Logger = {
    ...SILENT_LOGGER,
    info: (message, data) => void (message === "console.log" && printed.push(data!["text"])),
    enabled: () => true,
    child: () => log,
  };
  const node = await createNode({ log });
  const send = (data: Hex) =>
    node.provider.request({
      method: "eth_sendTransaction",
      params: [{ from: ALICE, gas: "0x100000", data }],
    });
  const abi = parseAbi(["function log(string,uint256)", "function log(bool)"]);
  const calls = [
    encodeFunctionData({ abi, functionName: "log", args: ["%s left", 7n] }),
    encodeFunctionData({ abi, functionName: "log", args: [true] }),
  ];
  try {
    for (const call of calls) await send(printing(call));
    await node.provider.request({ method: "eth_chainId" });
    await until(() => printed.length === calls.length, "the printed lines");
    assert.deepEqual(printed, ["7 left", "true"]);
  } finally {
    await node.stop();
  }
});
