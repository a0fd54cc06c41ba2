import { ForkHashes } from "../../src/base/params/fork-id.ts";
import { parseGenesis } from "../../src/base/params/genesis.ts";
import type { Address } from "../../src/base/primitives/address.ts";
import { EMPTY_BYTES } from "../../src/base/primitives/bytes.ts";
import { ZERO_HASH } from "../../src/base/primitives/hash.ts";
import { SILENT_LOGGER } from "../../src/base/telemetry/logger.ts";
import { createChain } from "../../src/chain/chain.ts";
import { createChainStateTrie } from "../../src/chain/chain-state-trie.ts";
import { genesisState } from "../../src/chain/genesis-block.ts";
import type { LogBlockStore } from "../../src/chain/store/log-block-store.ts";
import { EvmApplication } from "../../src/consensus/evm-application.ts";
import { Mempool } from "../../src/consensus/mempool/mempool.ts";
import { createBlockFactory } from "../../src/consensus/pending-block.ts";
import { ParameterProposals } from "../../src/consensus/voting/parameter-proposals.ts";
import { openProposals } from "../../src/consensus/voting/proposals.ts";
import { soloStartingSet } from "../../src/consensus/voting/starting-set.ts";
import type { Speculation } from "../../src/evm/execution/parallel/speculation.ts";
import { createEvm } from "../../src/evm/machine/engine.ts";
import { BLOCK_GAS_LIMIT } from "./workload.ts";

export const PROPOSER = `0x${"aa".repeat(20)}` as Address;
export const CACHE_BYTES = 256 << 20;

type BenchHooks = {
  /** Around what the pool does with a new head. */
  readonly onHead?: (update: () => void) => void;
  /** Of the chain that it executes ahead for. */
  readonly speculationOf?: (chain: ReturnType<typeof createChain>) => Speculation | undefined;
};

/** A chain on an empty `store`, its pool and its application, without a node around them: no sockets, no journal, all forks of the genesis. */
export function openBenchApplication(
  store: LogBlockStore,
  genesisText: string,
  { onHead = (update) => update(), speculationOf = () => undefined }: BenchHooks = {},
) {
  const stateTrie = createChainStateTrie(store, { cacheBytes: CACHE_BYTES });
  const genesis = parseGenesis(genesisText);
  store.appendGenesis(genesisState(genesis));
  const log = SILENT_LOGGER;
  const chain = createChain({ config: genesis.config, store, stateTrie, log });
  const execution = { config: chain.config, stateTrie, evm: createEvm() };
  const headOf = () => {
    const { header } = chain.head().block;
    return { header, state: chain.stateAt(header.number) };
  };
  const now = () => performance.now();
  const mempool = new Mempool(
    { accountSlots: 1_000_000, bytesMax: 2 ** 30 },
    { config: chain.config, head: headOf(), now },
  );
  chain.subscribe(({ executed, changes }) =>
    onHead(() =>
      mempool.onHead({
        ...headOf(),
        changed: changes.accounts.map(({ address }) => address),
        included: executed.block.transactions.map(({ hash }) => hash),
      }),
    ),
  );
  const speculation = speculationOf(chain);
  const application = new EvmApplication(
    {
      feeRecipient: () => PROPOSER,
      extraData: EMPTY_BYTES,
      minimumTip: () => 0n,
      gasLimitTarget: () => BigInt(BLOCK_GAS_LIMIT),
      packingMs: Number.POSITIVE_INFINITY,
      namesForks: () => false,
      forks: new ForkHashes({ config: chain.config, genesisHash: ZERO_HASH, genesisTime: genesis.timestamp }),
    },
    {
      chain,
      mempool,
      now,
      log,
      submissions: { submit: (submission, run) => run(() => mempool.add(submission)) },
      proposals: openProposals(undefined),
      parameterProposals: new ParameterProposals(undefined),
      startingSet: () => soloStartingSet(PROPOSER),
      validatorPower: () => 1,
      beginBlock: createBlockFactory(chain, execution, { recorded: speculation }),
      speculation,
      setAside: () => {},
      onFailure(_, error) {
        throw error;
      },
    },
  );
  return { genesis, chain, mempool, application };
}
