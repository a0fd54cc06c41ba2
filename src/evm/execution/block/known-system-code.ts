import { HISTORY_SERVE_WINDOW } from "../../../base/params/gas.ts";
import type { Address } from "../../../base/primitives/address.ts";
import { bytesToBigint } from "../../../base/primitives/bytes.ts";
import { type Hash, hashFromBigint } from "../../../base/primitives/hash.ts";
import type { BlockContext } from "../../machine/evm.ts";
import type { WorldState } from "../../state/world-state.ts";

/** Of both ring buffers. */
const RING_SLOTS = BigInt(HISTORY_SERVE_WINDOW);

/** EIP-7002 and EIP-7251: excess and count of requests, head and tail of their queue. */
const QUEUE_SLOTS = [0n, 1n, 2n, 3n].map(hashFromBigint);

/**
 * Makes the changes that the code at `address` makes when the protocol calls it. The call succeeds and returns nothing.
 * @returns false where it may do more: nothing has changed
 */
type KnownCode = (address: Address, data: Uint8Array, block: BlockContext, state: WorldState) => boolean;

/**
 * The codes that these EIPs deploy on all chains, by their hash. Every block calls four of them, and running them took half of the
 * function calls that the EVM makes for a block of one transfer. The tests compare these functions with the execution of the codes.
 */
export const KNOWN_CODES: ReadonlyMap<Hash, KnownCode> = new Map<Hash, KnownCode>([
  // EIP-4788
  ["0xf57acd40259872606d76197ef052f3d35588dadf919ee1f0e3cb9b62d3f4b02c" as Hash, storeBeaconRoot],
  // EIP-2935
  ["0x6e49e66782037c0555897870e29fa5e552daf4719552131a0abce779daec0a5d" as Hash, storeParentHash],
  // EIP-7002
  ["0x0345a365d2f4c5975b9f1599abe0a2ee76b7a3a731bc68781bd04c84e4858f50" as Hash, takeNoRequests],
  // EIP-7251
  ["0x78c6cb5202685228bbcbfb992b1c4e116c7ec5ef11e25b8e92716cfc628ddd60" as Hash, takeNoRequests],
]);

function storeBeaconRoot(address: Address, root: Uint8Array, block: BlockContext, state: WorldState): boolean {
  const time = block.timestampWord ?? BigInt(block.timestamp);
  const index = time % RING_SLOTS;
  store(state, address, index, time);
  store(state, address, index + RING_SLOTS, bytesToBigint(root));
  return true;
}

function storeParentHash(address: Address, hash: Uint8Array, block: BlockContext, state: WorldState): boolean {
  const number = block.numberWord ?? BigInt(block.number);
  if (number === 0n) return false;
  store(state, address, (number - 1n) % RING_SLOTS, bytesToBigint(hash));
  return true;
}

/** An empty queue stays as it is. */
function takeNoRequests(address: Address, _data: Uint8Array, _block: BlockContext, state: WorldState): boolean {
  for (const slot of QUEUE_SLOTS) if (state.storage(address, slot) !== 0n) return false;
  return true;
}

/**
 * Sets a slot of a ring without reading what is there: it differs, unless the block has the time of the block before. Only a slot that becomes
 * empty is read, since it may have been empty before.
 */
function store(state: WorldState, address: Address, index: bigint, value: bigint): void {
  const slot = hashFromBigint(index);
  if (value !== 0n) state.setStorage(address, slot, value, true);
  else if (state.storage(address, slot) !== 0n) state.setStorage(address, slot, 0n);
}
