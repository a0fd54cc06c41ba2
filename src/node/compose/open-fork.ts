import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import type { RemoteChain } from "../../chain/remote-chain.ts";
import type { BlockRecord } from "../../chain/store/block-store.ts";
import type { Config } from "../../config/config.ts";
import { DEFAULTS } from "../../config/defaults.ts";
import { InvalidConfigError } from "../../config/errors.ts";
import { renderGenesis } from "../../config/genesis.ts";
import { devGenesisPath, forkCachePath, forkPointPath } from "../../config/home.ts";
import { SYSTEM_CONTRACTS } from "../../config/system-contracts.ts";
import { aliasRoot } from "../../dev/fork/alias-root.ts";
import { cachedCalls, cachedSyncCalls } from "../../dev/fork/cached-calls.ts";
import { fetchRemoteCalls } from "../../dev/fork/fetch-remote-calls.ts";
import { ForkCache } from "../../dev/fork/fork-cache.ts";
import {
  type ForkPoint,
  loadForkPoint,
  readForkPoint,
  storeForkPoint,
} from "../../dev/fork/fork-point.ts";
import { ForkedState } from "../../dev/fork/forked-state.ts";
import type { RemoteCalls } from "../../dev/fork/remote-calls.ts";
import { RemoteState } from "../../dev/fork/remote-state.ts";
import { DEV_BALANCE, devAccounts } from "../../keystore/dev-accounts.ts";
import { type Genesis, parseGenesis } from "../../params/genesis.ts";
import { parseAddress } from "../../primitives/address.ts";
import { EMPTY_BYTES } from "../../primitives/bytes.ts";
import { hexToBytes } from "../../primitives/hex.ts";
import { changesOfAlloc } from "../../state/genesis-alloc.ts";
import { createStateTrie } from "../../state/merkle-state-trie.ts";
import type { StateTrie } from "../../state/state-trie.ts";
import { EMPTY_TRIE_ROOT } from "../../types/constants.ts";
import { headerHash } from "../../types/header-codec.ts";
import { startRemoteThread } from "../adapters/remote-thread.ts";

/** A dev chain that continues a block of another chain. */
export type Fork = {
  /** Chain id, rules and accounts from the fork on. */
  readonly genesis: Genesis;
  /** The forked block, the base of the store: without its transactions, which the remote chain has. */
  readonly base: BlockRecord;
  readonly state: RemoteChain & Pick<ForkedState, "apply" | "dropAfter">;
  /** State tries have the state root of the forked block for what the store has of its state. */
  readonly aliasRoot: (trie: StateTrie) => StateTrie;
  /** Calls about blocks up to the fork; what they answer is in the cache. */
  readonly call: RemoteCalls;
  close(): Promise<void>;
};

/**
 * Opens the fork of a home: the one it was made with, or a new one of `dev.fork-url`.
 * @returns undefined where the chain forks nothing
 * @throws InvalidConfigError, ForkRemoteError
 */
export async function openFork(config: Config): Promise<Fork | undefined> {
  const { home, dev, devChain } = config;
  const { forkUrls: urls, forkBlock } = devChain;
  const path = forkPointPath(home);
  const stored = dev ? loadForkPoint(path) : undefined;
  if (stored === undefined && urls.length === 0) return undefined;
  assertForkable(config, stored);
  const fetchCalls = fetchRemoteCalls({ urls });
  const point = stored ?? (await newPoint(config, fetchCalls, forkBlock ?? undefined));
  const { chainId, header, alloc } = point;
  const cache = new ForkCache(forkCachePath(home, chainId, header.number));
  const thread = await startRemoteThread(urls);
  const state = new ForkedState(
    new RemoteState(cachedSyncCalls(thread.call, cache), header.number),
  );
  const changes = changesOfAlloc(alloc);
  const { root } = createStateTrie({ node: () => undefined }).update(EMPTY_TRIE_ROOT, changes);
  return {
    genesis: genesisOf(point),
    base: {
      block: {
        hash: headerHash(header),
        header,
        transactions: [],
        uncles: [],
        ...(header.withdrawalsRoot !== undefined && { withdrawals: [] }),
      },
      senders: [],
      receipts: [],
      changes,
      consensusData: EMPTY_BYTES,
    },
    state,
    aliasRoot: (trie) => aliasRoot(trie, root, header.stateRoot),
    call: cachedCalls(fetchCalls, cache),
    close: thread.close,
  };
}

/** @throws InvalidConfigError */
function assertForkable({ home, dev, devChain, jsonRpc }: Config, stored: ForkPoint | undefined) {
  const fail = (key: string, text: string) => new InvalidConfigError(`${key}: ${text}`, { key });
  if (!dev) throw fail("dev.fork-url", "only a dev chain can fork another one: add --dev");
  if (jsonRpc.processes > 0) {
    throw fail("json-rpc.processes", "a fork is served by one process: its state is not on disk");
  }
  if (stored === undefined) {
    if (existsSync(devGenesisPath(home))) {
      throw fail(
        "dev.fork-url",
        `${home} holds a dev chain that forks nothing; choose another --home`,
      );
    }
    return;
  }
  const { number } = stored.header;
  if (devChain.forkBlock !== null && devChain.forkBlock !== number) {
    throw fail(
      "dev.fork-block",
      `the chain in ${home} forks block ${number}; choose another --home`,
    );
  }
}

async function newPoint(
  { home, devChain }: Config,
  call: RemoteCalls,
  blockNumber: number | undefined,
): Promise<ForkPoint> {
  const accounts = devAccounts(devChain.accounts ?? DEFAULTS.devAccounts);
  const point = await readForkPoint(call, blockNumber, {
    funded: new Map(accounts.map(({ address }) => [address, DEV_BALANCE])),
    contracts: new Map(
      SYSTEM_CONTRACTS.map(({ address, code }) => [parseAddress(address), hexToBytes(code)]),
    ),
  });
  const path = forkPointPath(home);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  storeForkPoint(path, point);
  return point;
}

/** Every rule up to Osaka from the fork on, under the chain id of the remote chain. */
function genesisOf({ chainId, header, alloc }: ForkPoint): Genesis {
  const { timestamp } = header;
  return { ...parseGenesis(renderGenesis({ chainId, timestamp, alloc: new Map() })), alloc };
}
