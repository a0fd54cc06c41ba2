import { VerifiedBlobs } from "../../../src/base/crypto/kzg/verified-blobs.ts";
import { addressFromPrivateKey } from "../../../src/base/crypto/secp256k1.ts";
import { allForksAtGenesis } from "../../../src/base/params/blob-schedule.ts";
import { ForkHashes } from "../../../src/base/params/fork-id.ts";
import { CONSOLIDATION_REQUEST_ADDRESS, WITHDRAWAL_REQUEST_ADDRESS } from "../../../src/base/params/gas.ts";
import { type Genesis, parseGenesis } from "../../../src/base/params/genesis.ts";
import type { Address } from "../../../src/base/primitives/address.ts";
import { bigintToFixedBytes, EMPTY_BYTES } from "../../../src/base/primitives/bytes.ts";
import { hashFromBigint } from "../../../src/base/primitives/hash.ts";
import { fatalTimers } from "../../../src/base/telemetry/fatal-timers.ts";
import { signTransaction } from "../../../src/base/types/transaction/sign.ts";
import type { FeeMarketTransaction, Transaction } from "../../../src/base/types/transaction/transaction.ts";
import { createChain } from "../../../src/chain/chain.ts";
import { genesisBlock, genesisState } from "../../../src/chain/genesis-block.ts";
import { deferNothing } from "../../../src/chain/store/background-work.ts";
import { openLogBlockStore } from "../../../src/chain/store/log-block-store.ts";
import type { Application, BlockInput, Proposal } from "../../../src/consensus/application.ts";
import { EvmApplication } from "../../../src/consensus/evm-application.ts";
import { createVoting } from "../../../src/consensus/governance.ts";
import { Mempool } from "../../../src/consensus/mempool/mempool.ts";
import { PeerSubmissions } from "../../../src/consensus/mempool/peer-submissions.ts";
import { createBlockFactory } from "../../../src/consensus/pending-block.ts";
import type { ExecutorFailure } from "../../../src/consensus/quarantine.ts";
import { ParameterProposals } from "../../../src/consensus/voting/parameter-proposals.ts";
import { openProposals } from "../../../src/consensus/voting/proposals.ts";
import { type StartingSet, soloStartingSet } from "../../../src/consensus/voting/starting-set.ts";
import type { Speculation } from "../../../src/evm/execution/parallel/speculation.ts";
import { createEvm } from "../../../src/evm/machine/engine.ts";
import { createStateTrie } from "../../../src/evm/state/state-trie.ts";
import type { LogDirectory } from "../../../src/store/storage/log/log-file.ts";
import { createMemoryLogDirectory } from "../../../src/store/storage/log/memory-log-directory.ts";
import { createMemoryKv } from "../../../src/store/storage/memory-kv.ts";
import { STRICT_LOGGER } from "../base/telemetry/strict-logger.ts";

/** Of a validator that is voted in. */
export const VALIDATOR_POWER = 10;
export const CHAIN_ID = 1337n;
export const GENESIS_TIME = 1_700_000_000;
export const GAS_LIMIT = 30_000_000n;
/** Reverts whatever it is called with: PUSH0 PUSH0 REVERT. */
export const REVERTER = `0x${"fe".repeat(20)}` as Address;
export const PROPOSER = `0x${"aa".repeat(20)}` as Address;
export const RECIPIENT = `0x${"b0".repeat(20)}` as Address;
/** Accounts that own a thousand ether each. */
export const KEYS = [1n, 2n, 3n, 4n].map((n) => bigintToFixedBytes(n, 32));
export const ACCOUNTS = KEYS.map(addressFromPrivateKey);

/** PUSH0 PUSH0 RETURN: a request contract with an empty queue. */
const EMPTY_QUEUE = "0x5f5ff3";

export const GENESIS = parseGenesis(
  JSON.stringify(
    {
      config: allForksAtGenesis(CHAIN_ID),
      timestamp: `0x${GENESIS_TIME.toString(16)}`,
      gasLimit: `0x${GAS_LIMIT.toString(16)}`,
      difficulty: "0x0",
      baseFeePerGas: "0x3b9aca00",
      alloc: {
        [WITHDRAWAL_REQUEST_ADDRESS]: { balance: "0x0", code: EMPTY_QUEUE },
        [CONSOLIDATION_REQUEST_ADDRESS]: { balance: "0x0", code: EMPTY_QUEUE },
        [REVERTER]: { balance: "0x0", code: "0x5f5ffd" },
        ...Object.fromEntries(ACCOUNTS.map((address) => [address, { balance: "0x3635c9adc5dea00000" }])),
      },
    },
    (_, value) => (typeof value === "bigint" ? Number(value) : value),
  ),
);

/** One node without engine and listeners, on a chain in memory. */
export type TestApplication = ReturnType<typeof openTestApplication>;

/** @param options.executorFault throws inside the executor for the transactions it picks */
export function openTestApplication(
  options: {
    readonly executorFault?: (tx: Transaction) => void;
    readonly packingMs?: number;
    /** Osaka begins at this time (Unix seconds). */
    readonly osakaTime?: number | undefined;
    /** Every block names the forks that execute it. */
    readonly namesForks?: boolean;
    /** Replaces `GENESIS`. */
    readonly genesis?: Genesis;
    /** Validators that signed two blocks are removed. */
    readonly jail?: boolean;
    readonly feeRecipient?: () => Address;
    readonly gasLimit?: bigint;
    readonly startingSet?: StartingSet;
    /** The block log of a node that ran before. */
    readonly log?: LogDirectory;
    readonly speculation?: Speculation;
  } = {},
) {
  const { gasLimit = GAS_LIMIT, feeRecipient = () => PROPOSER } = options;
  const store = openLogBlockStore({
    defer: deferNothing,
    log: options.log ?? createMemoryLogDirectory(),
    index: createMemoryKv(),
    createTrie: createStateTrie,
  });
  const stateTrie = createStateTrie(store.trieNodes);
  const { osakaTime = 0, jail = false, genesis: base = GENESIS } = options;
  const genesis = { ...base, gasLimit, config: { ...base.config, osakaTime, ...(jail && { jail }) } };
  if (store.head() === undefined) store.appendGenesis(genesisState(genesis));
  const { config } = genesis;
  // A store that begins later has no block 0.
  const genesisHash = genesisBlock(genesis).block.hash;
  const chain = createChain({ config, store, stateTrie, log: STRICT_LOGGER, genesisHash });
  const execution = { config: chain.config, stateTrie, evm: createEvm() };
  const headOf = () => {
    const { header } = chain.head().block;
    return { header, state: chain.stateAt(header.number) };
  };
  const clock = { now: 0 };
  const now = () => clock.now;
  const mempool = new Mempool({}, { config: chain.config, head: headOf(), now });
  chain.subscribe(() => mempool.onHead(headOf()));
  const setAside: ExecutorFailure[] = [];
  const failures: unknown[] = [];
  const proposals = openProposals(undefined);
  const parameterProposals = new ParameterProposals(undefined);
  const startingSet = options.startingSet ?? soloStartingSet(PROPOSER);
  const voting = createVoting({ chain, proposals, parameterProposals, startingSet: () => startingSet });
  const application: Application = new EvmApplication(
    {
      feeRecipient,
      extraData: EMPTY_BYTES,
      minimumTip: () => 0n,
      gasLimitTarget: () => chain.config.gasLimitTarget ?? gasLimit,
      namesForks: () => options.namesForks ?? false,
      forks: new ForkHashes({ config: chain.config, genesisHash, genesisTime: GENESIS_TIME }),
      // A busy machine must not leave transactions out.
      packingMs: options.packingMs ?? Number.POSITIVE_INFINITY,
    },
    {
      chain,
      mempool,
      submissions: new PeerSubmissions({
        pool: mempool,
        blobs: { verifyForPeer: async (sidecar) => new VerifiedBlobs().faultOf(sidecar) },
        authorities: { recover: async () => {} },
        log: STRICT_LOGGER,
        timers: fatalTimers,
      }),
      proposals,
      parameterProposals,
      startingSet: () => startingSet,
      validatorPower: () => VALIDATOR_POWER,
      beginBlock: createBlockFactory(chain, execution, {
        beforeTransaction: options.executorFault,
        recorded: options.speculation,
      }),
      speculation: options.speculation,
      setAside(failure) {
        setAside.push(failure);
        mempool.remove(failure.transaction.hash, "quarantined");
      },
      onFailure: (_, error) => failures.push(error),
      now,
      log: STRICT_LOGGER,
    },
  );
  return { application, chain, store, voting, execution, mempool, setAside, failures, clock };
}

/** A transfer of 1 wei from the `from`-th account. */
export function transferOf(from: number, nonce: number, overrides: Partial<FeeMarketTransaction> = {}): Transaction {
  return signTransaction(
    {
      type: 2,
      chainId: CHAIN_ID,
      nonce: BigInt(nonce),
      gasLimit: 21_000n,
      to: RECIPIENT,
      value: 1n,
      data: EMPTY_BYTES,
      maxFeePerGas: 10n ** 10n,
      maxPriorityFeePerGas: 10n ** 9n,
      accessList: [],
      ...overrides,
    },
    KEYS[from]!,
  );
}

/** What an engine says about block `height`. */
export function proposalOf(height: number, overrides: Partial<Proposal> = {}): Proposal {
  return {
    height,
    time: { seconds: GENESIS_TIME + height, nanos: 7 },
    proposer: PROPOSER,
    lastCommit: { round: 0, votes: [] },
    misbehavior: [],
    ...overrides,
  };
}

export function inputOf(proposal: Proposal, txs: readonly Uint8Array[]): BlockInput {
  return { ...proposal, txs, consensusHash: hashFromBigint(BigInt(proposal.height)) };
}

/** `application` with some of its calls replaced. */
export function withCalls(application: Application, calls: Partial<Application>): Application {
  return new Proxy(application, {
    get(target, name: keyof Application) {
      const call = calls[name] ?? target[name];
      return calls[name] === undefined && call ? call.bind(target) : call;
    },
  });
}
