import { addressOfCompressedKey } from "../../../../src/base/crypto/compressed-public-key.ts";
import { addressToBytes } from "../../../../src/base/primitives/address.ts";
import { EMPTY_BYTES } from "../../../../src/base/primitives/bytes.ts";
import { hashFromBytes, hashToBytes } from "../../../../src/base/primitives/hash.ts";
import type { BlockInput, BlockResult, ChainStart, Proposal, Time } from "../../../../src/consensus/application.ts";
import { updateOf } from "../../../../src/consensus/cometbft/abci/handlers.ts";
import { BLOCK_ID_FLAG, type Reply } from "../../../../src/consensus/cometbft/abci/messages.ts";

const MISBEHAVIOR = { duplicateVote: 1, lightClientAttack: 2 } as const;

/** Fields of `initChain`. */
export function startOf({ time, chainId, initialHeight, validators, appState }: ChainStart) {
  return {
    time: timestampOf(time),
    chainId,
    initialHeight: BigInt(initialHeight),
    validators: validators.map(updateOf),
    appStateBytes: appState,
  };
}

/** Fields of `prepareProposal`. */
export function proposalOf({ maxTxBytes, ...proposal }: Proposal & { readonly maxTxBytes: number }) {
  const { lastCommit, ...fields } = fieldsOf(proposal);
  const votes = lastCommit.votes.map((vote) => ({
    ...vote,
    extension: EMPTY_BYTES,
    extensionSignature: EMPTY_BYTES,
  }));
  const localLastCommit = { round: lastCommit.round, votes };
  return { ...fields, maxTxBytes: BigInt(maxTxBytes), localLastCommit };
}

/** Fields of `processProposal` and `finalizeBlock`. */
export function blockOf({ txs, consensusHash, ...proposal }: BlockInput) {
  return { ...fieldsOf(proposal), txs, hash: hashToBytes(consensusHash) };
}

export function resultOf({ appHash, txResults, validatorUpdates }: Reply<"finalizeBlock">): BlockResult {
  return {
    appHash: hashFromBytes(appHash),
    results: txResults.map(({ code, gasWanted, gasUsed }) => ({
      code: code as 0 | 1,
      gasWanted,
      gasUsed,
    })),
    validatorUpdates: validatorUpdates.map(({ pubKey, power }) => {
      const publicKey = Uint8Array.from(pubKey.secp256k1eth!);
      return { address: addressOfCompressedKey(publicKey)!, publicKey, power: Number(power) };
    }),
  };
}

function fieldsOf({ height, time, proposer, lastCommit, misbehavior }: Proposal) {
  return {
    height: BigInt(height),
    time: timestampOf(time),
    proposerAddress: addressToBytes(proposer),
    lastCommit: {
      round: lastCommit.round,
      votes: lastCommit.votes.map(({ address, power, flag }) => ({
        validator: { address: addressToBytes(address), power: BigInt(power) },
        blockIdFlag: BLOCK_ID_FLAG[flag],
      })),
    },
    misbehavior: misbehavior.map((item) => ({
      type: MISBEHAVIOR[item.kind],
      validator: { address: addressToBytes(item.address), power: 1n },
      height: BigInt(item.height),
      time: timestampOf(time),
      totalVotingPower: 1n,
    })),
  };
}

function timestampOf({ seconds, nanos }: Time) {
  return { seconds: BigInt(seconds), nanos };
}
