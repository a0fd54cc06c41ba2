import { setTimeout } from "node:timers/promises";
import { BLOB_LENGTH, blobVersionedHash } from "../../src/base/crypto/kzg/blob.ts";
import { CELLS_PER_BLOB } from "../../src/base/crypto/kzg/cells.ts";
import { blobCommitment } from "../../src/base/crypto/kzg/commit.ts";
import { parseAddress } from "../../src/base/primitives/address.ts";
import { bytesToHex, hexToBytes } from "../../src/base/primitives/hex.ts";
import { encodePooledTransaction } from "../../src/base/types/transaction/encode.ts";
import { signTransaction } from "../../src/base/types/transaction/sign.ts";
import type { BlobSidecar } from "../../src/base/types/transaction/transaction.ts";
import { abciSocketPath } from "../../src/node/config/home.ts";
import { Network } from "../../test/network/network.ts";
import { DEV_ADDRESSES, DEV_KEYS } from "../../test/support/accounts.ts";
import { AbciClient } from "../../test/support/consensus/cometbft/abci-client.ts";
import { startHonestClient } from "../support/honest-client.ts";
import { printTable, writeResult } from "../support/report.ts";

const BLOBS = 6;
const RATE = 20;
const CHAIN_ID = 9000n;

/**
 * A validator that gets 20 transactions a second of six blobs with wrong proofs, over JSON-RPC or as CometBFT passes on what peers send (over the
 * ABCI socket): latency of an honest client's `eth_blockNumber`, and blocks made meanwhile. Needs `cometbft`.
 *
 *     npm run bench -- blob-proofs [SECONDS]
 */
export async function run([seconds = "30"]: readonly string[]): Promise<void> {
  const network = await Network.start(1, 0);
  try {
    const [node] = network.nodes;
    const height = async () => Number(await node!.client.getBlockNumber());
    while ((await height().catch(() => 0)) < 2) await setTimeout(200);
    const abci = await AbciClient.open(abciSocketPath(node!.home));
    const ways: Readonly<Record<string, (raw: Uint8Array) => Promise<unknown>>> = {
      "nothing else": async () => undefined,
      "over JSON-RPC": (raw) => send(node!.port, raw),
      "from peers": (raw) => abci.call("insertTx", { tx: raw }),
    };
    const rows = [];
    for (const [way, submit] of Object.entries(ways)) {
      const honest = await startHonestClient({ port: node!.port });
      const first = await height();
      const answers: Promise<unknown>[] = [];
      const end = performance.now() + Number(seconds) * 1000;
      for (let nonce = 0; performance.now() < end; nonce++) {
        const next = setTimeout(1000 / RATE);
        if (way !== "nothing else") answers.push(submit(wrongTransaction(nonce)).catch(() => {}));
        await next;
      }
      const { p50Ms, p99Ms, longestMs, failures } = await honest.stop();
      const blocks = (await height()) - first;
      rows.push({ way, sent: answers.length, p50Ms, p99Ms, longestMs, failures, blocks });
      await Promise.all(answers);
    }
    printTable(rows);
    writeResult("blob-proofs", rows, { blobs: BLOBS, rate: RATE });
  } finally {
    await network.stop();
  }
}

const blobs = Array.from({ length: BLOBS }, (_, i) => {
  const blob = new Uint8Array(BLOB_LENGTH);
  for (let at = 31; at < BLOB_LENGTH; at += 32) blob[at] = at + i;
  return blob;
});
const commitments = blobs.map((blob) => blobCommitment(blob));
/** Points of the right group, so that all of the arithmetic is done. */
const sidecar: BlobSidecar = {
  wrapperVersion: 1,
  blobs,
  commitments,
  proofs: commitments.flatMap((commitment) => Array(CELLS_PER_BLOB).fill(commitment)),
};

function wrongTransaction(salt: number): Uint8Array {
  const tx = signTransaction(
    {
      type: 3,
      chainId: CHAIN_ID,
      nonce: 0n,
      gasLimit: 21_000n + BigInt(salt),
      maxFeePerGas: 10n ** 10n,
      maxPriorityFeePerGas: 10n ** 9n,
      maxFeePerBlobGas: 10n ** 9n,
      to: parseAddress(DEV_ADDRESSES[1]),
      value: 0n,
      data: new Uint8Array(),
      accessList: [],
      blobVersionedHashes: commitments.map(blobVersionedHash),
    },
    hexToBytes(DEV_KEYS[0]),
  );
  return encodePooledTransaction(tx, sidecar);
}

async function send(port: number, raw: Uint8Array): Promise<unknown> {
  const response = await fetch(`http://127.0.0.1:${port}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "eth_sendRawTransaction",
      params: [bytesToHex(raw)],
    }),
  });
  return response.json();
}
