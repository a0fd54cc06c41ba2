import type { BlockContext } from "../../evm/evm.ts";
import { SYSTEM_ADDRESS } from "../../params/gas.ts";
import type { Address } from "../../primitives/address.ts";
import { bytesToBigint, EMPTY_BYTES } from "../../primitives/bytes.ts";
import { type Hash, hashFromBigint } from "../../primitives/hash.ts";
import type { WorldState } from "../../state/world-state.ts";

/** What a system call gives a contract. */
type SystemCallInput = {
  readonly to: Address;
  readonly data: Uint8Array;
  readonly block: BlockContext;
  readonly state: WorldState;
};

/** Code hashes of the contracts as the EIPs publish them. */
const BEACON_ROOTS = "0xf57acd40259872606d76197ef052f3d35588dadf919ee1f0e3cb9b62d3f4b02c" as Hash;
const BLOCK_HASHES = "0x6e49e66782037c0555897870e29fa5e552daf4719552131a0abce779daec0a5d" as Hash;
const WITHDRAWAL_QUEUE =
  "0x0345a365d2f4c5975b9f1599abe0a2ee76b7a3a731bc68781bd04c84e4858f50" as Hash;
const CONSOLIDATION_QUEUE =
  "0x78c6cb5202685228bbcbfb992b1c4e116c7ec5ef11e25b8e92716cfc628ddd60" as Hash;

/** Ring buffers of EIP-4788 and EIP-2935: both have 8191 entries. */
const RING_LENGTH = 8191;

/** Slots of a request queue (EIP-7002, EIP-7251): excess, count, head and tail. */
const QUEUE_SLOTS = [0n, 1n, 2n, 3n].map(hashFromBigint);

/**
 * Does what the system call of a contract with known code does, without the EVM: four of them run in every block, and in the block of one
 * transfer they took a tenth of the time.
 * @returns what the call returns; undefined where the contract has to run: its code is another one, or its queue is not empty
 */
export function callKnownContract(
  codeHash: Hash,
  { to, data, block, state }: SystemCallInput,
): Uint8Array | undefined {
  switch (codeHash) {
    case BEACON_ROOTS: {
      const position = block.timestamp % RING_LENGTH;
      write(state, to, position, BigInt(block.timestamp));
      write(state, to, position + RING_LENGTH, bytesToBigint(data));
      break;
    }
    case BLOCK_HASHES:
      write(state, to, (block.number - 1) % RING_LENGTH, bytesToBigint(data));
      break;
    case WITHDRAWAL_QUEUE:
    case CONSOLIDATION_QUEUE:
      for (const slot of QUEUE_SLOTS) if (state.storage(to, slot) !== 0n) return undefined;
      break;
    default:
      return undefined;
  }
  // Read as the EVM does, for those who record what a block reads.
  state.account(SYSTEM_ADDRESS);
  state.code(codeHash);
  return EMPTY_BYTES;
}

function write(state: WorldState, to: Address, slot: number, value: bigint): void {
  const key = hashFromBigint(BigInt(slot));
  if (state.storage(to, key) !== value) state.setStorage(to, key, value);
}
