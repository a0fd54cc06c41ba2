import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bigintToBytes, EMPTY_BYTES } from "../../src/base/primitives/bytes.ts";
import { hashFromBigint } from "../../src/base/primitives/hash.ts";
import { encodeRlp, type RlpItem } from "../../src/base/primitives/rlp.ts";
import { requestFrame } from "../../src/consensus/cometbft/abci/frames.ts";
import { encodeProposerData } from "../../src/consensus/consensus-data.ts";
import { AbciClient } from "../../test/support/consensus/cometbft/abci-client.ts";
import { blockOf } from "../../test/support/consensus/cometbft/abci-requests.ts";
import {
  CHAIN_ID,
  GAS_LIMIT,
  inputOf,
  PROPOSER,
  proposalOf,
  transferOf,
} from "../../test/support/consensus/test-application.ts";
import { type Cost, type Probed, startProbed } from "./node-under-audit.ts";

const PROGRAM = fileURLToPath(new URL("application-process.ts", import.meta.url));

/** What an engine hands over that its peers made: a request of ABCI in bytes, and how many replies it has. */
export type EngineAttack = { readonly frames: Uint8Array };

/** An application over ABCI in a process of its own, which tells what each request cost it. */
export async function startApplicationUnderAudit(): Promise<{
  cost(attack: EngineAttack): Promise<Cost>;
  stop(): Promise<void>;
}> {
  const folder = mkdtempSync(join(tmpdir(), "evmint-abci-cost-"));
  const path = join(folder, "abci.sock");
  const probed: Probed = startProbed(["--import", "tsx", PROGRAM, path]);
  await once(probed.child, "message");
  return {
    cost: ({ frames }) =>
      probed.cost(async () => {
        // A connection of its own: the application ends one that sends what is no request.
        const client = await AbciClient.open(path);
        const answer = client.raw(Buffer.concat([frames, requestFrame("echo", { message: "last" })]), 2);
        const text = await answer.then(
          ([reply]) => JSON.stringify(reply?.fields, (_, value) => (typeof value === "bigint" ? String(value) : value)),
          (error: Error) => error.message,
        );
        await client.close();
        return { bytes: text.length, text };
      }),
    async stop() {
      await probed.end();
      rmSync(folder, { recursive: true });
    },
  };
}

const BLOCK_BYTES = 8 << 20;
const PEER_TRANSACTION_BYTES = 1 << 20;

const proposerData = encodeProposerData({ feeRecipient: PROPOSER, extraData: EMPTY_BYTES, gasLimit: GAS_LIMIT });
const signed = (nonce: number, overrides: Parameters<typeof transferOf>[2] = {}) => transferOf(0, nonce, overrides).raw;
/** Lists in each other: the innermost is empty. */
const nested = (depth: number): Uint8Array => {
  const heads: Uint8Array[] = [Uint8Array.of(0xc0)];
  let length = 1;
  for (let i = 0; i < depth; i++) {
    const size = bigintToBytes(BigInt(length));
    const head = length < 56 ? Uint8Array.of(0xc0 + length) : Buffer.concat([Uint8Array.of(0xf7 + size.length), size]);
    heads.push(head);
    length += head.length;
  }
  return Buffer.concat(heads.reverse());
};
const accessList = (slots: number) => [
  { address: PROPOSER, storageKeys: Array.from({ length: slots }, (_, i) => hashFromBigint(BigInt(i))) },
];
const typed = (type: number, fields: readonly RlpItem[]) => Buffer.concat([Uint8Array.of(type), encodeRlp(fields)]);
const many = (count: number, item: RlpItem): RlpItem[] => Array<RlpItem>(count).fill(item);
const word = new Uint8Array(32).fill(1);
/** A set-code transaction whose authorizations fill a megabyte. */
const authorizations = typed(4, [
  ...[CHAIN_ID, 0n, 10n ** 9n, 10n ** 10n, 16_000_000n].map(bigintToBytes),
  new Uint8Array(20),
  EMPTY_BYTES,
  EMPTY_BYTES,
  [],
  many(9_000, [Uint8Array.of(1), new Uint8Array(20), EMPTY_BYTES, EMPTY_BYTES, word, word]),
  EMPTY_BYTES,
  word,
  word,
]);

const transactionsOfPeers = (): readonly Uint8Array[] => [
  signed(0),
  signed(0, { gasLimit: 25_000_000n, data: new Uint8Array(120_000).fill(1) }),
  signed(0, { gasLimit: 29_000_000n, accessList: accessList(3_500) }),
  signed(0, { gasLimit: 29_000_000n, accessList: accessList(30_000) }),
  authorizations,
  nested(200),
  nested(30_000),
  typed(2, [[], nested(20_000)]),
  new Uint8Array(PEER_TRANSACTION_BYTES),
  new Uint8Array(PEER_TRANSACTION_BYTES).fill(0xc0),
  typed(2, many(PEER_TRANSACTION_BYTES / 2, [])),
  typed(3, [
    many(100, EMPTY_BYTES),
    many(6, new Uint8Array(131_072)),
    many(6, new Uint8Array(48)),
    many(6, new Uint8Array(48)),
  ]),
];

const blocksOfPeers = (): readonly (readonly Uint8Array[])[] => [
  [],
  [proposerData],
  [new Uint8Array(BLOCK_BYTES)],
  [proposerData, new Uint8Array(BLOCK_BYTES)],
  [proposerData, authorizations],
  [proposerData, nested(50_000)],
  [nested(50_000)],
  [proposerData, ...Array<Uint8Array>(200_000).fill(EMPTY_BYTES)],
  [proposerData, ...Array<Uint8Array>(60_000).fill(signed(0).subarray(1))],
  // Valid until the last one.
  [proposerData, ...Array.from({ length: 200 }, (_, i) => signed(i)), signed(7)],
  [proposerData, signed(0, { gasLimit: 16_000_000n, accessList: accessList(6_000) }), signed(9)],
];

/** By the call of ABCI that carries them. */
export function engineAttacks(): Readonly<Record<string, readonly EngineAttack[]>> {
  const block = (name: "processProposal", txs: readonly Uint8Array[]) => ({
    frames: requestFrame(name, blockOf(inputOf(proposalOf(1), txs))),
  });
  const malformed = [new Uint8Array(1 << 20).fill(0xff), new Uint8Array(1 << 20), new Uint8Array(1 << 20).fill(0x0a)];
  return {
    "ABCI checkTx": transactionsOfPeers().map((tx) => ({ frames: requestFrame("checkTx", { tx }) })),
    "ABCI insertTx": transactionsOfPeers().map((tx) => ({ frames: requestFrame("insertTx", { tx }) })),
    "ABCI processProposal": blocksOfPeers().map((txs) => block("processProposal", txs)),
    "ABCI malformed frames": malformed.map((frames) => ({ frames })),
  };
}
