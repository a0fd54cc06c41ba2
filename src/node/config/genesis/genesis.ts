import type { ChainConfig } from "../../../base/params/chain-config.ts";
import { INITIAL_BASE_FEE } from "../../../base/params/fees.ts";
import type { Address } from "../../../base/primitives/address.ts";
import { toQuantity } from "../../../base/primitives/quantity.ts";
import { DEFAULTS } from "../defaults.ts";
import { DEFAULT_DEV_HARDFORK, type DevHardfork, forksAtGenesis } from "../dev-rules.ts";
import { CREATE2_DEPLOYER, type Predeploy, systemContractsOf } from "../predeploys.ts";
import { ALLOWED_ACCOUNTS_ADDRESS, ALLOWED_ACCOUNTS_CODE, allowedAccountsStorage } from "./allowed-accounts.ts";

/** Chain id of a chain made by `init` without a genesis file. */
export const DEFAULT_CHAIN_ID = 9000n;

/**
 * Text of a geth genesis file: all rules up to Osaka, or up to another newest fork, from the first block on, with the system contracts.
 * @param options.timestamp Unix seconds of block 0
 * @param options.alloc wei by account
 * @param options.predeploys contracts in addition to the protocol's and the CREATE2 deployer
 */
export function renderGenesis(options: {
  readonly chainId: bigint;
  readonly timestamp: number;
  readonly alloc: ReadonlyMap<Address, bigint>;
  readonly predeploys?: readonly Predeploy[];
  readonly hardfork?: DevHardfork;
  /** The newest fork whose contracts are in block 0: `hardfork`, unless the chain may adopt a later one. */
  readonly contractsUpTo?: DevHardfork;
  readonly gasLimit?: bigint;
  /** Base fee of block 0, in wei. */
  readonly baseFeePerGas?: bigint;
  /** Disables the base fee and accepts tips of 0. */
  readonly freeGas?: boolean;
  readonly codeSizeMax?: number;
  readonly noTxGasLimit?: boolean;
  readonly noCreate2Deployer?: boolean;
  /** The application votes out validators that sign two different blocks. */
  readonly jail?: boolean;
  /** Owner of the contract that permits senders; initially this account and the accounts of `alloc` have all permissions. */
  readonly permissionsOwner?: Address | undefined;
}): string {
  const { freeGas, jail, permissionsOwner, hardfork = DEFAULT_DEV_HARDFORK } = options;
  const predeployed = (options.predeploys ?? [])
    .flatMap(({ accounts }) => accounts)
    .map(({ code, ...rest }) => ({ ...rest, code: code(options.chainId) }));
  // Anyone who may call the deployer could create contracts with it.
  const deployers = permissionsOwner === undefined && !options.noCreate2Deployer ? [CREATE2_DEPLOYER] : [];
  const contracts = [...systemContractsOf(options.contractsUpTo ?? hardfork), ...deployers, ...predeployed].map(
    ({ address, ...contract }) => [address, { balance: "0x0", nonce: "0x1", ...contract }],
  );
  const accounts = [...options.alloc].map(([address, balance]) => [address, { balance: toQuantity(balance) }]);
  const permissions = permissionsOwner && {
    balance: "0x0",
    nonce: "0x1",
    code: ALLOWED_ACCOUNTS_CODE,
    storage: allowedAccountsStorage(permissionsOwner, options.alloc.keys()),
  };
  const rules = {
    ...(freeGas && { minimumTip: "0x0" }),
    ...(jail && { jail }),
    ...(options.codeSizeMax !== undefined && { codeSizeLimit: options.codeSizeMax }),
    ...(options.noTxGasLimit && { noTxGasLimit: true }),
    ...(permissions && { accountPermissions: ALLOWED_ACCOUNTS_ADDRESS }),
  };
  const rulesOfChain: ChainConfig = forksAtGenesis(options.chainId, hardfork);
  const hasBlobs = rulesOfChain.cancunTime !== undefined;
  const genesis = {
    config: {
      ...rulesOfChain,
      ...(freeGas && { zeroBaseFee: true }),
      ...(Object.keys(rules).length > 0 && { evmint: rules }),
    },
    nonce: "0x0",
    timestamp: toQuantity(options.timestamp),
    extraData: "0x",
    gasLimit: toQuantity(options.gasLimit ?? DEFAULTS.blockGasLimit),
    difficulty: "0x0",
    coinbase: `0x${"00".repeat(20)}`,
    baseFeePerGas: toQuantity(freeGas ? 0n : (options.baseFeePerGas ?? INITIAL_BASE_FEE)),
    ...(hasBlobs && { blobGasUsed: "0x0", excessBlobGas: "0x0" }),
    alloc: Object.fromEntries([
      ...contracts,
      ...(permissions ? [[ALLOWED_ACCOUNTS_ADDRESS, permissions]] : []),
      ...accounts,
    ]),
  };
  // The numbers in `config` are far below 2^53, except for chain ids, which geth writes as bare numbers of any length.
  const text = JSON.stringify(genesis, (_, value) => (typeof value === "bigint" ? `bigint ${value}` : value), 2);
  return `${text.replace(/"bigint (\d+)"/g, "$1")}\n`;
}
