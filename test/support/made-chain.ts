import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseAddress } from "../../src/base/primitives/address.ts";
import { bytesToHex, hexToBytes } from "../../src/base/primitives/hex.ts";
import { signTransaction } from "../../src/base/types/transaction/sign.ts";
import { renderGenesis } from "../../src/node/config/genesis/genesis.ts";
import { DEV_BALANCE } from "../../src/node/keystore/dev-accounts.ts";
import { DEV_ADDRESSES, DEV_KEYS } from "./accounts.ts";

const CHAIN_ID = 9000n;
const FIRST_KEY = hexToBytes(DEV_KEYS[0]);

/** An empty home of a chain on which the dev accounts own something. @param timestamp of genesis: another one is another chain */
export function makeHome(timestamp = 1_700_000_000): string {
  const home = mkdtempSync(join(tmpdir(), "evmint-home-"));
  mkdirSync(join(home, "config"), { recursive: true });
  const alloc = new Map(DEV_ADDRESSES.map((address) => [parseAddress(address), DEV_BALANCE]));
  const genesis = renderGenesis({ chainId: CHAIN_ID, timestamp, alloc });
  writeFileSync(join(home, "config/genesis.json"), genesis);
  return home;
}

/** A signed transfer of one wei, from the first dev account unless `key` is another's. */
export function transfer(nonce: bigint, chainId = CHAIN_ID, key: Uint8Array = FIRST_KEY): string {
  const { raw } = signTransaction(
    {
      type: 2,
      chainId,
      nonce,
      gasLimit: 21_000n,
      maxFeePerGas: 10n ** 10n,
      maxPriorityFeePerGas: 10n ** 9n,
      to: parseAddress(DEV_ADDRESSES[1]),
      value: 1n,
      data: new Uint8Array(),
      accessList: [],
    },
    key,
  );
  return bytesToHex(raw);
}
