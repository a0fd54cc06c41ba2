import type { InProcessProvider } from "../adapters/provider.ts";
import type { Chain } from "../chain/chain.ts";
import type { Config } from "../config/config.ts";
import type { AccountSigner } from "../keystore/accounts.ts";
import { type Checkpoint, checkpointHash } from "../les/checkpoints/checkpoint.ts";
import {
  decodeOracleCheckpoint,
  GET_LATEST_CHECKPOINT,
  setCheckpointData,
  voteDigest,
} from "../les/oracle.ts";
import { bytesToHex, hexToBytes } from "../primitives/hex.ts";
import type { Logger } from "../telemetry/logger.ts";

type CheckpointSignerModules = {
  readonly chain: Chain;
  readonly keys: Pick<AccountSigner, "sign">;
  readonly provider: Pick<InProcessProvider, "request">;
  readonly log: Logger;
};

/** A vote takes some 150,000; an estimate on the head would not see the block in which the vote counts. */
const VOTE_GAS = "0x61a80";

/**
 * Votes for a new checkpoint in the oracle contract with the account of `les.checkpoint-signer`; it is one of the contract's admins, and unlocked.
 * Each validator's node votes for itself, so the contract has the checkpoint once enough of them have computed the same.
 */
export async function voteForCheckpoint(
  { les }: Pick<Config, "les">,
  checkpoint: Checkpoint,
  { chain, keys, provider, log }: CheckpointSignerModules,
): Promise<void> {
  const { checkpointOracle: oracle, checkpointSigner: signer } = les;
  if (oracle === null || signer === null) return;
  const { sectionIndex } = checkpoint;
  const answer = await provider.request({
    method: "eth_call",
    params: [{ to: oracle, data: bytesToHex(GET_LATEST_CHECKPOINT) }, "latest"],
  });
  const known = decodeOracleCheckpoint(hexToBytes(answer as string));
  if (known === undefined) {
    log.warn("no checkpoint oracle at the configured address", { oracle });
    return;
  }
  if (known.height > 0 && known.sectionIndex >= sectionIndex) return;
  const hash = checkpointHash(checkpoint);
  const signature = await keys.sign(signer, voteDigest(oracle, sectionIndex, hash));
  // The parent: the head's own hash is not visible to a call on the head.
  const { number, parentHash: recentHash } = chain.head().block.header;
  const data = setCheckpointData({
    recentNumber: number - 1,
    recentHash,
    hash,
    sectionIndex,
    signature,
  });
  const transaction = await provider.request({
    method: "eth_sendTransaction",
    params: [{ from: signer, to: oracle, data: bytesToHex(data), gas: VOTE_GAS }],
  });
  log.info("voted for a checkpoint", { section: sectionIndex, oracle, transaction });
}
