import type { Address } from "../../base/primitives/address.ts";
import { atBlock, SIGNERS_MAX, type Snapshot } from "./snapshot.ts";

/** Proof that a validator signed two different blocks at one height. */
export type Offence = { readonly address: Address; readonly height: number };

/** A network is left with no fewer validators: with two, each of them could stop it. Part of the chain's rules. */
const JAIL_VALIDATORS_MIN = 3;

/** CometBFT uses the validators that block H changes from block H + 2 on: a jailed one signs one block more. */
const ACTIVATION_BLOCKS = 2;

/**
 * `snapshot` without the validators that `offences` are about, in block `height`. An offence counts once: not for one that is no validator, nor for
 * what it signed before it was jailed for the last time, so that it can be voted in again. Not for one of the last three either: evidence about it
 * stays in the blocks, for the others to vote on.
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
      // The oldest record gives way: its evidence has expired long before a hundred validators were jailed.
      jailed: [...others, { address, block: height }].slice(-SIGNERS_MAX),
    };
    jailed.push(offence);
  }
  return jailed.length === 0 ? { snapshot, jailed } : { snapshot: current, jailed };
}
