import { type Address, addressToBytes } from "../../primitives/address.ts";
import { concatBytes, leftPad } from "../../primitives/bytes.ts";
import { type Hash, hashFromBigint, hashFromBytes } from "../../primitives/hash.ts";
import { keccak256 } from "../../primitives/keccak.ts";

export type OracleOptions = {
  readonly admins: readonly Address[];
  readonly sectionSize: number;
  readonly confirmations: number;
  /** Admins that have to sign a checkpoint; two thirds of them and one more unless given. */
  readonly threshold?: number;
};

/** Slots of `contracts/CheckpointOracle.sol`, in the order of its variables. */
const SLOT = { isAdmin: 0n, admins: 1n, sectionSize: 5n, confirmations: 6n, threshold: 7n };

/** The storage that the constructor leaves, for a genesis that has the contract in block 0. */
export function oracleStorage(options: OracleOptions): ReadonlyMap<Hash, Hash> {
  const { admins, sectionSize, confirmations } = options;
  const threshold = options.threshold ?? Math.floor((2 * admins.length) / 3) + 1;
  const word = (value: number | bigint) => hashFromBigint(BigInt(value));
  const adminBytes = admins.map((admin) => leftPad(addressToBytes(admin), 32));
  const firstAdmin = BigInt(hashFromBytes(keccak256(slotBytes(SLOT.admins))));
  return new Map<Hash, Hash>([
    [word(SLOT.admins), word(admins.length)],
    [word(SLOT.sectionSize), word(sectionSize)],
    [word(SLOT.confirmations), word(confirmations)],
    [word(SLOT.threshold), word(threshold)],
    ...adminBytes.map((admin, i) => [word(firstAdmin + BigInt(i)), hashFromBytes(admin)] as const),
    ...adminBytes.map(
      (admin) =>
        [hashFromBytes(keccak256(concatBytes(admin, slotBytes(SLOT.isAdmin)))), word(1)] as const,
    ),
  ]);
}

function slotBytes(slot: bigint): Uint8Array {
  return leftPad(Uint8Array.of(Number(slot)), 32);
}
