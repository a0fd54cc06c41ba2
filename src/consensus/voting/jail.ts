import type { Address } from "../../base/primitives/address.ts";
import { atBlock, SIGNERS_MAX, type Snapshot } from "./snapshot.ts";

/** Proof that a validator signed two different blocks at one height. */
export type Offence = { readonly address: Address; readonly height: number };

/** Minimum number of remaining validators: with two, each of them could stop the network. Part of the chain's rules. */
const JAIL_VALIDATORS_MIN = 3;

/** CometBFT applies validator changes of block H from block H + 2 on: a jailed validator signs one more block. */
const ACTIVATION_BLOCKS = 2;

/**
 * `snapshot` without the validators of `offences`, in block `height`. An offence counts once. It does not count for non-validators, nor for
 * signatures before the validator's last jailing, so that it can be voted in again. Nor does it count for one of the last three validators: the
 * evidence stays in the blocks, for the others to vote on.
 */
export function jail(
  snapshot: Snapshot,
  offences: readonly Offence[],
  height: number,
): { readonly snapshot: Snapshot; readonly jailed: readonly Offence[] } {
  let current = atBlock(snapshot, height);
  const jailed: Offence[] = [];
  for (const offence of offences) {
    const { address } = offence;
    const { signers, votes, jailed: records = [] } = current;
    const last = records.find((record) => record.address === address);
    const isSpent = last !== undefined && offence.height < last.block + ACTIVATION_BLOCKS;
    const isSigner = signers.some((signer) => signer.address === address);
    if (isSpent || !isSigner || signers.length <= JAIL_VALIDATORS_MIN) continue;
    const others = records.filter((record) => record !== last);
    current = {
      signers: signers.filter((signer) => signer.address !== address),
      votes: votes.filter((cast) => cast.candidate !== address && cast.signer !== address),
      // Drops the oldest record: its evidence expires long before a hundred validators are jailed.
      jailed: [...others, { address, block: height }].slice(-SIGNERS_MAX),
    };
    jailed.push(offence);
  }
  return jailed.length === 0 ? { snapshot, jailed } : { snapshot: current, jailed };
}
