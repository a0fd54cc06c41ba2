import { toQuantity } from "../../../src/base/primitives/quantity.ts";
import { PROGRAMS } from "../programs.ts";
import { UPGRADE_TIMES } from "../scenario.ts";
import type { ChainFacts, DifferentialCase } from "./request.ts";

const blobHash = `0x01${"11".repeat(31)}`;
const BLOBS = { maxFeePerBlobGas: "0x3b9aca00", maxFeePerGas: "0x77359400" };

/** Calls whose answer depends on the fork by more than the instructions of a program. */
const CALLS = {
  blob: { ...BLOBS, blobVersionedHashes: [blobHash] },
  "seven blobs": { ...BLOBS, blobVersionedHashes: new Array(7).fill(blobHash) },
  "code of 24577 bytes": { to: null, input: "0x6160016000f3", gas: "0xf42400" },
  "code of 32769 bytes": { to: null, input: "0x6180016000f3", gas: "0x1f42400" },
  "initialization code of 49153 bytes": { to: null, input: `0x${"00".repeat(49_153)}`, gas: "0xf42400" },
  "initialization code of 65537 bytes": { to: null, input: `0x${"00".repeat(65_537)}`, gas: "0xf42400" },
  "gas for more than a transaction": { gas: "0x1000001" },
  "10000 bytes of data": { input: `0x${"11".repeat(10_000)}` },
  transfer: { gas: "0x5208" },
  "transfer to nobody": { to: "0x00000000000000000000000000000000000bada0", value: "0x1" },
} as const;

const WITHDRAWAL = { index: "0x0", validatorIndex: "0x1", address: blobHash.slice(0, 42), amount: "0x5" };
const BLOCK_FIELDS = {
  blobBaseFee: "0x5",
  beaconRoot: `0x${"22".repeat(32)}`,
  withdrawals: [WITHDRAWAL],
  prevRandao: `0x${"33".repeat(32)}`,
  gasLimit: "0x100000",
  baseFeePerGas: "0x7",
  slotNumber: "0x7",
  number: "0x10",
} as const;

/** On a chain whose head is at Shanghai: calls and simulated blocks in times of later forks, and of several one after the other. */
export function* upgradeCases({ sender }: ChainFacts): Generator<DifferentialCase> {
  const [{ address: to }] = PROGRAMS as [(typeof PROGRAMS)[number]];
  for (const [fork, begin] of UPGRADE_TIMES) {
    const isHead = fork === "shanghai";
    for (const time of isHead ? [] : [begin - 1, begin]) {
      for (const { name, address } of PROGRAMS.filter((each) => !/^(?:loop|recursive)$/.test(each.name))) {
        const call = { from: sender, to: address, gas: "0xf4240", input: "0x00010203ff" };
        yield* executions(`${name}, ${fork} ${time - begin}`, call, { time: toQuantity(time) });
      }
    }
    // A block after the head cannot have an earlier time.
    const time = toQuantity(isHead ? begin + 100 : begin);
    for (const [name, fields] of Object.entries(CALLS)) {
      yield* executions(`${name}, ${fork}`, { from: sender, to, value: "0x1", ...fields }, { time });
    }
    for (const [field, value] of Object.entries(BLOCK_FIELDS)) {
      for (const { name, address } of PROGRAMS.filter((each) => /^(?:environment|blockHash)$/.test(each.name))) {
        yield* executions(`${name} with ${field}, ${fork}`, { from: sender, to: address }, { time, [field]: value });
      }
    }
  }
  yield* sequences({ from: sender, to, value: "0x1" });
}

/** One call under all methods that execute it in a block with other members than the head's. */
function* executions(name: string, call: object, block: object): Generator<DifferentialCase> {
  const of = (method: string, ...params: unknown[]) => ({ name, method, params });
  yield of("eth_call", call, "latest", {}, block);
  yield of("eth_estimateGas", call, "latest", {}, block);
  for (const config of [
    {},
    { tracer: "callTracer", tracerConfig: { withLog: true } },
    { tracer: "prestateTracer", tracerConfig: { diffMode: true } },
  ]) {
    yield of("debug_traceCall", call, "latest", { ...config, blockOverrides: block });
  }
  const blockStateCalls = [{ calls: [call] }, { blockOverrides: block, calls: [call] }, { calls: [call] }];
  for (const validation of [false, true]) {
    yield of("eth_simulateV1", { blockStateCalls, validation, returnFullTransactions: true }, "latest");
  }
}

/** From each fork on, a simulated block at the beginning of every later one; then with their neighbours. */
function* sequences(call: object): Generator<DifferentialCase> {
  const times = [...UPGRADE_TIMES.values()].slice(1);
  const at = (time: number, calls: readonly object[]) => ({ blockOverrides: { time: toQuantity(time) }, calls });
  for (const validation of [false, true]) {
    const calls = [{ ...call, ...(validation && { maxFeePerGas: "0x77359400" }) }];
    for (const traceTransfers of [false, true]) {
      for (let first = 0; first < times.length; first++) {
        const later = times.slice(first);
        const single = later.map((time) => at(time, calls));
        const withNeighbours = later.flatMap((time) => [at(time - 1, calls), at(time, calls), {}]);
        for (const blockStateCalls of [single, withNeighbours]) {
          yield {
            name: `forks from ${first} on`,
            method: "eth_simulateV1",
            params: [{ blockStateCalls, validation, traceTransfers }, "latest"],
          };
        }
      }
    }
  }
}
