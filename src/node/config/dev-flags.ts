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
 * What shapes a dev chain: flags of `evmintd start --dev` and `evmintd anvil`, and settings of `createNode`. They have no key in `app.toml` and no variable,
 * because a dev chain is started by a script or a test, which has them in its command. What is a part of block 0 counts at the first start; later it has to agree or be left out.
 */
export const DEV_FLAGS = {
  chainId: option("chain-id", unset(integer(1)), null, {
    description: "Chain id of a new dev chain: 31337 unless set, and on a fork that of the continued chain.",
  }),
  accounts: option("accounts", unset(integer(1, DEFAULTS.devAccountsMax)), null, {
    description: "Funded and unlocked accounts of a new dev chain: 10 unless set.",
  }),
  balance: option("balance", unset(amountWithUnit), null, {
    description: "What each of them owns: 10000ether unless set.",
  }),
  mnemonic: option("mnemonic", unset(text), null, {
    description: "BIP-39 phrase that the accounts are derived from: that of all dev nodes unless set.",
  }),
  derivationPath: option("derivation-path", unset(derivationPath), null, {
    description: "Their derivation path, which the number of the account ends: m/44'/60'/0'/0/ unless set.",
  }),
  hardfork: option("hardfork", unset(oneOf(DEV_HARDFORKS)), null, {
    description: "Rules of a new dev chain: those of this fork and all before it; osaka unless set.",
  }),
  baseFeeWei: option("base-fee", unset(amount), null, {
    description: "Base fee of block 0 of a new dev chain: 1gwei unless set.",
  }),
  timestamp: option("timestamp", unset(date), null, {
    description:
      "Time of block 0 of a new dev chain, as a date or Unix seconds: that of its first start unless set. Chains with the same one, and the same settings, import blocks of each other.",
  }),
  genesis: option("genesis", unset(text), null, {
    description: "geth genesis file of a new dev chain, in place of the built-in one.",
  }),
  forkBlock: option("fork-block", unset(integer(-1_000_000_000)), null, {
    description: "Block that is continued: the newest unless set; a negative number counts back from it.",
  }),
  forkTransaction: option("fork-transaction", unset(hash), null, {
    description: "Transaction of the continued chain: a new dev chain begins with the state after it.",
  }),
  forkChainId: option("fork-chain-id", unset(integer(1)), null, {
    description: "Chain id of the continued chain: that which its nodes name unless set.",
  }),
  forkTimeoutMs: option("fork-timeout", unset(duration), null, {
    description:
      "Time that one request to them may take: 15s unless set. All tries of a read together have half a minute.",
  }),
  forkRetries: option("fork-retries", unset(integer(0, 100)), null, {
    description: "How often a request that no node answers is repeated: 5 times unless set.",
  }),
  forkRetryPauseMs: option("fork-retry-pause", unset(duration), null, {
    description: "Pause before it is repeated for the first time, each later one twice as long: 250ms unless set.",
  }),
  forkComputeUnits: option("fork-compute-units", unset(integer(1)), null, {
    description: "Compute units that the nodes are asked for in a second, 17 for each call; no limit unless set.",
  }),
  predeploys: option("predeploys", unset(list), null, {
    description: `Contracts of a new dev chain, at their public addresses: ${[...PREDEPLOYS.map(({ name }) => name), "none"].join(", ")}; all unless set.`,
  }),
  clientVersion: option("client-version", unset(text), null, {
    description:
      "What web3_clientVersion answers on a dev chain, for tools that look for a name: anvil/ and the node's own version unless set, because Hardhat's network helpers run where it begins with hardhat or anvil.",
  }),
  loadState: option("load-state", unset(text), null, {
    description: "File of anvil's format whose blocks and accounts a new dev chain begins with.",
  }),
  dumpState: option("dump-state", unset(text), null, {
    description: "File that gets the dev chain's blocks and accounts in anvil's format when the node stops.",
  }),
  stateIntervalMs: option("state-interval", unset(duration), null, {
    description: "Time after which the file of --dump-state is written again while the node runs.",
  }),
  gasLimit: option("gas-limit", unset(gasLimit), null, {
    description:
      "Gas limit of every block of a dev chain, block 0 of a new one included; unlimited: as much as a header can say.",
  }),
  mixedMining: option("mixed-mining", boolean, false, {
    description: "A block as soon as a transaction is pending, beside those of consensus.block-time.",
  }),
  codeSizeLimit: option("code-size-limit", unset(codeSizeLimit), null, {
    description:
      "Most bytes of a contract on a new dev chain, twice as many of the code that creates one; none: no limit. That of EIP-170 unless set.",
  }),
  hasTxGasLimit: option("tx-gas-limit", boolean, true, {
    description: "No transaction of a new dev chain has more than 2^24 gas (EIP-7825).",
  }),
  hasCreate2Deployer: option("create2-deployer", boolean, true, {
    description: "A new dev chain has the CREATE2 deployer, which Foundry deploys libraries through.",
  }),
  printTraces: option("print-traces", boolean, false, {
    description: "The log shows the calls of each transaction, by name where --artifacts has them.",
  }),
  autoImpersonate: option("auto-impersonate", boolean, false, {
    description: "Every account of a dev chain sends without a key.",
  }),
  suggestedTipWei: option("suggested-tip", unset(amount), null, {
    description:
      "Least tip that eth_gasPrice and its like propose on a dev chain; transactions with a lower one are mined as well.",
  }),
  batchAbove: option("batch-above", integer(0), DEFAULTS.batchAbove, {
    description:
      "Instant blocks have one transaction each while no more than so many are pending, else as many as fit. 0: always as many as fit.",
  }),
  order: option("order", oneOf(BLOCK_ORDERS), "fees", {
    description: "Order of a dev chain's transactions in a block: fees, the highest tip first, or fifo, as they came.",
  }),
  dialect: option("dialect", oneOf(DEV_DIALECTS), "evmint", {
    description:
      "Whose answers a dev chain gives where tools disagree: anvil, as `evmintd anvil` does, takes seconds in evm_setIntervalMining and bodies without a content type, and has anvil's texts of errors.",
  }),
  inMemory: option("in-memory", boolean, false, {
    description: "The dev chain is in memory: a new one at each start, of which nothing is written to disk.",
  }),
  forkHeaders: option("fork-headers", headers, [], {
    description: "Headers of every request to those nodes, NAME: VALUE; as one text, in lines.",
  }),
  forkVerify: option("fork-verify", oneOf(FORK_VERIFY_MODES), "auto", {
    description:
      "Whether accounts and slots of the continued chain must be proven (eth_getProof) under the state root of its block, and that block by its hash. auto: where its nodes serve proofs and its headers are Ethereum's; on: else the start fails; off: the nodes are believed.",
  }),
  artifacts: option("artifacts", unset(text), null, {
    description:
      "Folder of Foundry's or Hardhat's artifacts: the log shows calls, events and errors of a dev chain by name, and the line of a revert; the explorer has names, ABIs and sources.",
  }),
} as const;

/** All of them in a row. */
export const DEV_FLAG_OPTIONS: readonly Option<unknown>[] = Object.values(DEV_FLAGS) as Option<unknown>[];
