import type { Address } from "../../../base/primitives/address.ts";
import type { Hash } from "../../../base/primitives/hash.ts";
import type { Hex } from "../../../base/primitives/hex.ts";
import { unverified, type Verdict, worstOf } from "../verify/verdict.ts";
import { type CheckedAccount, checkSlot } from "./checked.ts";
import { callIfOpen } from "./rpc.ts";

/** The contract whose code runs at another one's address. */
export type Implementation = {
  /** undefined if the node claims that there is none, but its proof shows another word */
  readonly address: Address | undefined;
  /** The source of this fact, in a word. */
  readonly kind: string;
  /** verdict on its source: the code, or a storage slot */
  readonly verdict: Verdict;
  /** The beacon that returned it. */
  readonly beacon?: Address;
};

/** EIP-7702: the code of a delegated account is this prefix and an address. */
const DELEGATION = /^0xef0100([0-9a-f]{40})$/i;

/** EIP-1167, its form with PUSH0 (EIP-7511), and both with appended immutable arguments. */
const MINIMAL = [
  /^0x363d3d373d3d3d363d73([0-9a-f]{40})5af43d82803e903d91602b57fd5bf3/i,
  /^0x365f5f375f5f365f73([0-9a-f]{40})5af43d5f5f3e5f3d91602a57fd5bf3/i,
];

/** Slots in which proxies store their implementation's address. */
export const SLOTS: readonly (readonly [slot: string, kind: string])[] = [
  ["0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc", "ERC-1967 proxy"],
  ["0xc5f16f0fcc639fa48a6947836d9850f504798523bf8c9a3a87d5876cf622bcf7", "ERC-1822 proxy"],
  ["0x7050c9e0f4ca769c69bd3a8ef740bc37934f8e2c036e5a723fd8ee048ed3f8c3", "OpenZeppelin proxy"],
];
/** ERC-1967's slot for proxies with a beacon. */
export const BEACON_SLOT = "0xa3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50" as Hash;
/** `implementation()` */
export const IMPLEMENTATION = "0x5c60da1b";

/** The implementation of a proxy or delegated account; undefined for other code. */
export async function implementationOf(account: CheckedAccount, address: Address): Promise<Implementation | undefined> {
  const { code } = account;
  const delegate = DELEGATION.exec(code.value)?.[1];
  if (delegate !== undefined)
    return { address: addressOf(delegate), kind: "EIP-7702 delegation", verdict: code.verdict };
  for (const pattern of MINIMAL) {
    const target = pattern.exec(code.value)?.[1];
    if (target !== undefined)
      return { address: addressOf(target), kind: "minimal proxy (ERC-1167)", verdict: code.verdict };
  }
  if (code.value === "0x") return undefined;
  const slots = await Promise.all([...SLOTS.map(([slot]) => slot as Hash), BEACON_SLOT].map(read));
  for (const [i, [, kind]] of SLOTS.entries()) {
    const found = slots[i];
    if (found !== undefined && (found.address !== undefined || found.verdict.kind === "false"))
      return { address: found.address, kind, verdict: found.verdict };
  }
  const beacon = slots.at(-1);
  if (beacon?.address === undefined) {
    const kind = "beacon proxy (ERC-1967)";
    return beacon?.verdict.kind === "false" ? { address: undefined, kind, verdict: beacon.verdict } : undefined;
  }
  const answer = await callIfOpen<Hex>("eth_call", { to: beacon.address, data: IMPLEMENTATION }, "latest");
  const target = addressIn(answer);
  if (target === undefined) return undefined;
  const asked = unverified("the beacon’s answer is the node’s: no proof shows what a call returns");
  return {
    address: target,
    kind: "beacon proxy (ERC-1967)",
    beacon: beacon.address,
    verdict: worstOf([asked, beacon.verdict]),
  };

  async function read(slot: Hash): Promise<{ readonly address: Address | undefined; readonly verdict: Verdict }> {
    if (account.storageRoot === undefined) {
      const at = { blockHash: account.checked.block.hash };
      const value = await callIfOpen<Hex>("eth_getStorageAt", address, slot, at);
      return { address: addressIn(value), verdict: account.code.verdict };
    }
    const { value, verdict } = await checkSlot(address, slot, account);
    return { address: addressIn(value), verdict };
  }
}

/** The address in a word, if the word holds nothing else. */
export function addressIn(word: unknown): Address | undefined {
  const match = /^0x0{24}([0-9a-f]{40})$/i.exec(String(word));
  if (match === null || /^0+$/.test(match[1]!)) return undefined;
  return addressOf(match[1]!);
}

function addressOf(digits: string): Address {
  return `0x${digits.toLowerCase()}` as Address;
}
