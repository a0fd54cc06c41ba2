import { readFileSync } from "node:fs";
import { addressFromPrivateKey } from "../../src/base/crypto/secp256k1.ts";
import { allForksAtGenesis } from "../../src/base/params/blob-schedule.ts";
import type { GenesisAccount } from "../../src/base/params/genesis-account.ts";
import { type Address, addressFromBytes, addressToBytes } from "../../src/base/primitives/address.ts";
import { bigintToFixedBytes, concatBytes, EMPTY_BYTES } from "../../src/base/primitives/bytes.ts";
import { hashFromBigint } from "../../src/base/primitives/hash.ts";
import { bytesToHex, hexToBytes } from "../../src/base/primitives/hex.ts";
import { keccak256, keccak256Hash } from "../../src/base/primitives/keccak.ts";
import { signTransaction } from "../../src/base/types/transaction/sign.ts";
import type { DevHardfork } from "../../src/node/config/dev-rules.ts";
import { systemContractsOf } from "../../src/node/config/predeploys.ts";
import { deployExchange, swapCall } from "../evm/exchange.ts";

export const CHAIN_ID = 31_337n;
/** Room for 20,000 transfers, so that no block is limited by its gas. */
export const BLOCK_GAS_LIMIT = 500_000_000;
const ETHER = 10n ** 18n;
const TOKEN_ADDRESS = `0x${"70".repeat(20)}` as Address;
/** Storage slot of `balanceOf` in test/contracts/Token.sol. */
const BALANCES_SLOT = 1n;

const token = JSON.parse(readFileSync(new URL("../../test/contracts/Token.json", import.meta.url), "utf8")) as {
  readonly runtime: string;
};

/** `swap`: swaps on a Uniswap v2 pair and a v3 pool in turn, through a contract of the tokens' owner. */
export type Kind = "transfer" | "erc20" | "swap";

export type SignedTransaction = {
  readonly sender: number;
  readonly hash: string;
  readonly raw: string;
};

export function senderKeys(count: number): readonly Uint8Array[] {
  return Array.from({ length: count }, (_, i) => bigintToFixedBytes(BigInt(i + 1_000), 32));
}

const exchange = deployExchange();

/**
 * A geth genesis file in which every sender has ether and tokens, all forks active.
 * @param others accounts with a balance besides
 */
export function genesisText(keys: readonly Uint8Array[], others = 0, newest: DevHardfork = "osaka"): string {
  const senders = keys.map(addressFromPrivateKey);
  const contracts = systemContractsOf(newest).map(({ address, code }) => [
    address,
    { balance: "0x0", nonce: "0x1", code },
  ]);
  const storage = Object.fromEntries(
    senders.map((sender) => [balanceSlot(sender), bytesToHex(bigintToFixedBytes(ETHER, 32))]),
  );
  const genesis = {
    config: { ...allForksAtGenesis(CHAIN_ID), ...(newest === "amsterdam" && { amsterdamTime: 0 }) },
    nonce: "0x0",
    timestamp: `0x${(Math.floor(Date.now() / 1000) - 60).toString(16)}`,
    extraData: "0x",
    gasLimit: `0x${BLOCK_GAS_LIMIT.toString(16)}`,
    difficulty: "0x0",
    coinbase: `0x${"00".repeat(20)}`,
    baseFeePerGas: "0x3b9aca00",
    blobGasUsed: "0x0",
    excessBlobGas: "0x0",
    alloc: Object.fromEntries([
      ...contracts,
      [TOKEN_ADDRESS, { balance: "0x0", nonce: "0x1", code: hexPrefixed(token.runtime), storage }],
      ...Array.from({ length: others }, (_, i) => [accountAt(i), { balance: "0xde0b6b3a7640000" }]),
      ...[...exchange.accounts].map(([address, account]) => [address, accountJson(account)]),
      ...senders.map((sender) => [sender, { balance: `0x${(10_000n * ETHER).toString(16)}` }]),
    ]),
  };
  return JSON.stringify(genesis, (_, value) => (typeof value === "bigint" ? Number(value) : value));
}

/**
 * `count` signed transactions of the senders in turn, first nonces first.
 * @param recipients 0: each sender pays the next one; else so many accounts, drawn at random, that do not exist yet
 */
export function signAll(
  kind: Kind,
  keys: readonly Uint8Array[],
  count: number,
  recipients = 0,
): readonly SignedTransaction[] {
  const addresses = keys.map(addressFromPrivateKey);
  const recipientOf = (sender: number): Address =>
    recipients === 0 ? addresses[(sender + 1) % keys.length]! : accountAt(Math.floor(Math.random() * recipients));
  return signEach(keys, count, (n) => bodyOf(kind, recipientOf(n % keys.length), n));
}

type Body = { readonly to: Address; readonly value: bigint; readonly gasLimit: bigint; readonly data: Uint8Array };

/** `count` signed transactions of the senders in turn, first nonces first. */
export function signEach(
  keys: readonly Uint8Array[],
  count: number,
  body: (n: number) => Body,
): readonly SignedTransaction[] {
  return Array.from({ length: count }, (_, n) => {
    const sender = n % keys.length;
    const { raw, hash } = signTransaction(
      {
        type: 2,
        chainId: CHAIN_ID,
        nonce: BigInt(Math.floor(n / keys.length)),
        maxFeePerGas: 10n ** 12n,
        maxPriorityFeePerGas: 10n ** 9n,
        accessList: [],
        ...body(n),
      },
      keys[sender]!,
    );
    return { sender, hash, raw: bytesToHex(raw) };
  });
}

function bodyOf(kind: Kind, to: Address, n: number): Body {
  switch (kind) {
    case "transfer":
      return { to, value: 1n, gasLimit: 21_000n, data: EMPTY_BYTES };
    case "erc20":
      return { to: TOKEN_ADDRESS, value: 0n, gasLimit: 60_000n, data: transferCall(to) };
    case "swap":
      return {
        to: exchange.trader,
        value: 0n,
        gasLimit: 300_000n,
        data: swapCall(exchange, n % 2 === 0 ? "v2" : "v3"),
      };
  }
}

function accountJson({ balance, nonce = 0n, code, storage }: GenesisAccount) {
  return {
    balance: quantity(balance),
    nonce: quantity(nonce),
    code: bytesToHex(code ?? EMPTY_BYTES),
    storage: Object.fromEntries([...(storage ?? [])].map(([slot, value]) => [slot, hashFromBigint(value)])),
  };
}

function quantity(value: bigint): string {
  return `0x${value.toString(16)}`;
}

/** Calldata of `transfer(to, 1)`. */
function transferCall(to: Address): Uint8Array {
  return concatBytes(hexToBytes("0xa9059cbb"), word(to), bigintToFixedBytes(1n, 32));
}

function balanceSlot(account: Address): string {
  return keccak256Hash(concatBytes(word(account), bigintToFixedBytes(BALANCES_SLOT, 32)));
}

function word(address: Address): Uint8Array {
  return concatBytes(new Uint8Array(12), addressToBytes(address));
}

function hexPrefixed(text: string): string {
  return text.startsWith("0x") ? text : `0x${text}`;
}

/** The `index`-th of the accounts without key. */
function accountAt(index: number): Address {
  return addressFromBytes(keccak256(bigintToFixedBytes(BigInt(index), 32)).subarray(12));
}
