import { BLOCK_ORDERS } from "../../consensus/mempool/block-order.ts";
import { FORK_VERIFY_MODES } from "../../dev/fork/choose-fork-point.ts";
import { DEFAULTS, DEV_DIALECTS } from "./defaults.ts";
import { DEV_HARDFORKS } from "./dev-rules.ts";
import { PREDEPLOYS } from "./predeploys.ts";
import {
  amount,
  amountWithUnit,
  boolean,
  codeSizeLimit,
  date,
  derivationPath,
  duration,
  gasLimit,
  hash,
  headers,
  integer,
  list,
  type Option,
  oneOf,
  option,
  text,
  unset,
} from "./value-types.ts";

/**
 * Flags that shape a dev chain, of `evmintd start --dev`, `evmintd anvil` and `createNode`. They have no key in `app.toml` and no environment
 * variable: the script or test that starts a dev chain passes them. Flags of block 0 apply at the first start; later starts must agree with them
 * or omit them.
 */
export const DEV_FLAGS = {
  chainId: option("chain-id", unset(integer(1)), null, {
    description: "Chain id of a new dev chain; default: 31337, on a fork the remote chain's.",
  }),
  accounts: option("accounts", unset(integer(1, DEFAULTS.devAccountsMax)), null, {
    description: "Number of funded and unlocked accounts of a new dev chain; default: 10.",
  }),
  balance: option("balance", unset(amountWithUnit), null, {
    description: "Balance of each account; default: 10000ether.",
  }),
  mnemonic: option("mnemonic", unset(text), null, {
    description: "BIP-39 mnemonic of the accounts; default: the one of all dev nodes.",
  }),
  derivationPath: option("derivation-path", unset(derivationPath), null, {
    description: "Derivation path, to which the account number is appended; default: m/44'/60'/0'/0/.",
  }),
  hardfork: option("hardfork", unset(oneOf(DEV_HARDFORKS)), null, {
    description: "Hardfork of a new dev chain; default: osaka.",
  }),
  baseFeeWei: option("base-fee", unset(amount), null, {
    description: "Base fee of block 0 of a new dev chain; default: 1gwei.",
  }),
  timestamp: option("timestamp", unset(date), null, {
    description:
      "Time of block 0 of a new dev chain, as a date or Unix seconds; default: its first start. Chains with the same time and settings can import each other's blocks.",
  }),
  genesis: option("genesis", unset(text), null, {
    description: "geth genesis file of a new dev chain, instead of the built-in one.",
  }),
  forkBlock: option("fork-block", unset(integer(-1_000_000_000)), null, {
    description: "Block to fork at; default: the newest. A negative number counts back from it.",
  }),
  forkTransaction: option("fork-transaction", unset(hash), null, {
    description: "Remote transaction to fork after: the dev chain starts with the state after it.",
  }),
  forkChainId: option("fork-chain-id", unset(integer(1)), null, {
    description: "Chain id of the remote chain; default: the one its nodes report.",
  }),
  forkTimeoutMs: option("fork-timeout", unset(duration), null, {
    description: "Time limit of one remote request; default: 15s. All tries of a read share half a minute.",
  }),
  forkRetries: option("fork-retries", unset(integer(0, 100)), null, {
    description: "Retries of a remote request without an answer; default: 5.",
  }),
  forkRetryPauseMs: option("fork-retry-pause", unset(duration), null, {
    description: "Pause before the first retry, doubled for each later one; default: 250ms.",
  }),
  forkComputeUnits: option("fork-compute-units", unset(integer(1)), null, {
    description: "Compute units per second to request from the remote, 17 for each call; default: no limit.",
  }),
  predeploys: option("predeploys", unset(list), null, {
    description: `Contracts of a new dev chain at their public addresses: ${[...PREDEPLOYS.map(({ name }) => name), "none"].join(", ")}; default: all.`,
  }),
  clientVersion: option("client-version", unset(text), null, {
    description:
      "web3_clientVersion of a dev chain; default: anvil/ and the node's version, because Hardhat's network helpers require a name that begins with hardhat or anvil.",
  }),
  loadState: option("load-state", unset(text), null, {
    description: "File in anvil's format with the blocks and accounts of a new dev chain.",
  }),
  dumpState: option("dump-state", unset(text), null, {
    description: "File to which the node writes blocks and accounts in anvil's format when it stops.",
  }),
  stateIntervalMs: option("state-interval", unset(duration), null, {
    description: "Interval at which the running node writes the file of --dump-state.",
  }),
  gasLimit: option("gas-limit", unset(gasLimit), null, {
    description: "Gas limit of every block of a dev chain; unlimited is the maximum of the header field.",
  }),
  mixedMining: option("mixed-mining", boolean, false, {
    description: "Make a block for each transaction at once, in addition to those of consensus.block-time.",
  }),
  codeSizeLimit: option("code-size-limit", unset(codeSizeLimit), null, {
    description:
      "Maximum contract size in bytes on a new dev chain, twice that for init code; none removes the limit. Default: EIP-170.",
  }),
  hasTxGasLimit: option("tx-gas-limit", boolean, true, {
    description: "Limit transactions of a new dev chain to 2^24 gas (EIP-7825).",
  }),
  hasCreate2Deployer: option("create2-deployer", boolean, true, {
    description: "Deploy the CREATE2 deployer that Foundry uses on a new dev chain.",
  }),
  printTraces: option("print-traces", boolean, false, {
    description: "Log the calls of each transaction, by name if --artifacts knows them.",
  }),
  autoImpersonate: option("auto-impersonate", boolean, false, {
    description: "Let every account of a dev chain send without a key.",
  }),
  suggestedTipWei: option("suggested-tip", unset(amount), null, {
    description: "Minimum tip that eth_gasPrice and similar methods propose on a dev chain; lower tips are mined too.",
  }),
  batchAbove: option("batch-above", integer(0), DEFAULTS.batchAbove, {
    description:
      "Instant blocks have one transaction each while at most this many are pending, otherwise as many as fit. 0 always fills them.",
  }),
  order: option("order", oneOf(BLOCK_ORDERS), "fees", {
    description: "Transaction order of a dev chain: fees puts the highest tip first, fifo keeps the order of arrival.",
  }),
  dialect: option("dialect", oneOf(DEV_DIALECTS), "evmint", {
    description:
      "Dialect where tools disagree. anvil, as in `evmintd anvil`, takes seconds in evm_setIntervalMining, accepts bodies without a content type and uses anvil's error texts.",
  }),
  inMemory: option("in-memory", boolean, false, {
    description: "Keep the dev chain in memory: each start begins a new one, and nothing is written to disk.",
  }),
  forkHeaders: option("fork-headers", headers, [], {
    description: "Headers of every remote request, NAME: VALUE, one per line.",
  }),
  forkVerify: option("fork-verify", oneOf(FORK_VERIFY_MODES), "auto", {
    description:
      "Verify remote accounts and slots by proofs (eth_getProof) against the block's state root, and the block by its hash. auto verifies if the nodes serve proofs and headers are Ethereum's, on fails the start otherwise, off trusts the nodes.",
  }),
  artifacts: option("artifacts", unset(text), null, {
    description:
      "Folder of Foundry's or Hardhat's artifacts. The log then shows names of calls, events and errors, and the line of a revert; the explorer has names, ABIs and sources.",
  }),
} as const;

/** All flags in a list. */
export const DEV_FLAG_OPTIONS: readonly Option<unknown>[] = Object.values(DEV_FLAGS) as Option<unknown>[];
