import { type Hash, parseHash } from "../../../base/primitives/hash.ts";
import { toQuantity } from "../../../base/primitives/quantity.ts";
import type { Timers } from "../../../base/telemetry/timers.ts";
import { decodeTransaction } from "../../../base/types/transaction/decode.ts";
import type { BlockTester } from "../../../consensus/block-tester.ts";
import type { DevChain } from "../../../dev/dev-chain.ts";
import { ForkRemoteError } from "../../../dev/fork/errors.ts";
import { fetchRemoteCalls } from "../../../dev/fork/fetch-remote-calls.ts";
import type { ForkPoint } from "../../../dev/fork/fork-point.ts";
import type { RemoteCalls } from "../../../dev/fork/remote-calls.ts";
import { remoteHeaderOf } from "../../../dev/fork/remote-header.ts";
import { bigintOf, bytesOf } from "../../../dev/fork/remote-json.ts";
import type { Config } from "../../config/config.ts";
import { invalidSetting } from "../../config/errors.ts";
import { remoteAccessOf } from "./remote-access.ts";

/** The parts of the new chain that are needed. */
type NewChain = {
  readonly opened: {
    readonly resumed: boolean;
    readonly fork: { readonly urls: readonly string[]; readonly point: Pick<ForkPoint, "header"> } | undefined;
  };
  readonly devChain: Pick<DevChain, "setNextBlock"> | undefined;
  readonly production: { readonly blockTester: Pick<BlockTester, "commit"> };
};

const KEY = "fork-transaction";

/**
 * The block before that of `--fork-transaction`, which the fork continues; undefined if the flag is not set.
 * @throws InvalidConfigError, ForkRemoteError
 */
export async function blockBeforeTransaction(config: Config, timers: Timers): Promise<number | undefined> {
  const { forkTransaction, forkUrls: urls, forkBlock } = config.devChain;
  if (forkTransaction === null) return undefined;
  if (forkBlock !== null) throw invalidSetting(KEY, "omit --fork-block");
  const calls = fetchRemoteCalls({ urls, access: remoteAccessOf(config), isFirstContact: true }, timers);
  return (await blockOf(calls, forkTransaction)) - 1;
}

/**
 * Makes the first block of a new fork: the transactions of the next remote block up to `--fork-transaction`, with that block's time, base fee
 * and random number, so that its state is the one after that transaction.
 * @throws ForkRemoteError, and the rejection of a transaction that this chain's rules do not allow
 */
export async function replayForkedTransactions(config: Config, role: NewChain, timers: Timers): Promise<void> {
  const { forkTransaction: last } = config.devChain;
  const { fork, resumed } = role.opened;
  if (last === null || fork === undefined || resumed) return;
  // The fork's cache must not hold data of blocks after the fork.
  const call = fetchRemoteCalls({ urls: fork.urls, access: remoteAccessOf(config) }, timers);
  const [json] = await call([
    { method: "eth_getBlockByNumber", params: [toQuantity(fork.point.header.number + 1), false] },
  ]);
  const { header } = remoteHeaderOf(json);
  const hashes = (json as { readonly transactions?: readonly string[] }).transactions ?? [];
  const end = hashes.findIndex((hash) => hash.toLowerCase() === last);
  if (end === -1)
    throw new ForkRemoteError("the remote chain now has the transaction in a different block", { hash: last });
  const wanted = hashes.slice(0, end + 1).map(hashOf);
  const raws = await call(wanted.map((hash) => ({ method: "eth_getRawTransactionByHash", params: [hash] })));
  const transactions = raws.map((raw, i) => {
    const bytes = bytesOf(raw);
    if (decodeTransaction(bytes).hash !== wanted[i]) {
      throw new ForkRemoteError("the remote chain returned a different transaction", { hash: wanted[i] });
    }
    return bytes;
  });
  role.devChain?.setNextBlock({
    ...(header.baseFeePerGas !== undefined && { baseFeePerGas: header.baseFeePerGas }),
    ...(header.slotNumber !== undefined && { slotNumber: header.slotNumber }),
  });
  role.production.blockTester.commit({
    timestamp: header.timestamp,
    feeRecipient: header.coinbase,
    prevRandao: header.mixHash,
    ...(header.parentBeaconBlockRoot !== undefined && { parentBeaconBlockRoot: header.parentBeaconBlockRoot }),
    transactions,
  });
}

/** @throws ForkRemoteError */
async function blockOf(call: RemoteCalls, hash: Hash): Promise<number> {
  const [json] = await call([{ method: "eth_getTransactionByHash", params: [hash] }]);
  const { blockNumber } = (json ?? {}) as { readonly blockNumber?: unknown };
  if (typeof blockNumber !== "string")
    throw new ForkRemoteError("the remote chain has not mined the transaction", { hash });
  return Number(bigintOf(blockNumber));
}

function hashOf(text: string): Hash {
  try {
    return parseHash(text.toLowerCase());
  } catch (cause) {
    throw new ForkRemoteError("the remote chain returned a block with an invalid transaction hash", {}, { cause });
  }
}
