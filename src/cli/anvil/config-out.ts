import { writeFileSync } from "node:fs";
import type { ChainStatus } from "../../node/roles/types.ts";

/** What anvil has there unless --gas-price says otherwise: its price of block 0's first transaction. */
const GAS_PRICE = "1875000000";

/** As flags had them. */
export type GivenNumbers = {
  readonly gasPrice?: string | undefined;
  readonly gasLimit?: string | undefined;
  readonly timestamp?: string | undefined;
};

/**
 * Writes accounts, keys and fees of a new chain for scripts, as `anvil --config-out` does. Only the caller can read the file, because it
 * has keys.
 */
export function writeConfigOut(
  file: string,
  { devAccounts, devWallet, first }: ChainStatus,
  given: GivenNumbers,
): void {
  const json = {
    available_accounts: devAccounts.map(({ address }) => address),
    private_keys: devAccounts.map(({ privateKey }) => privateKey),
    wallet: { mnemonic: devWallet.phrase, derivation_path: `${devWallet.path}/` },
    base_fee: `${first.baseFeePerGas}`,
    gas_price: given.gasPrice ?? GAS_PRICE,
    gas_limit: given.gasLimit ?? null,
    // A text where it was given, as in anvil.
    genesis_timestamp: given.timestamp ?? first.timestamp,
  };
  writeFileSync(file, `${JSON.stringify(json, null, 2)}\n`, { mode: 0o600 });
}
