import { ZERO_ADDRESS } from "../../../../src/base/primitives/address.ts";
import { EMPTY_BYTES } from "../../../../src/base/primitives/bytes.ts";
import { ZERO_HASH } from "../../../../src/base/primitives/hash.ts";
import type { BlockContext, Message } from "../../../../src/evm/machine/evm.ts";

/** Block 1 of chain 1 under the newest rules, other than `fields` say. */
export function testBlock(fields: Partial<BlockContext> = {}): BlockContext {
  return {
    hardfork: "osaka",
    chainId: 1n,
    number: 1,
    timestamp: 1,
    coinbase: ZERO_ADDRESS,
    gasLimit: 30_000_000n,
    difficulty: 0n,
    prevRandao: ZERO_HASH,
    baseFeePerGas: 7n,
    blobBaseFee: 1n,
    blockHash: () => undefined,
    ...fields,
  };
}

/** A call of `fields.to` by the zero address, with no value and a million gas, unless `fields` differ. */
export function testMessage(fields: Partial<Message> & Pick<Message, "to">): Message {
  return {
    caller: ZERO_ADDRESS,
    origin: ZERO_ADDRESS,
    value: 0n,
    data: EMPTY_BYTES,
    gas: 1_000_000n,
    gasPrice: 0n,
    blobVersionedHashes: [],
    warmAddresses: [],
    warmSlots: [],
    ...fields,
  };
}
