import { allAtOnce } from "../../../base/threads/in-slices.ts";
import type { AccountEdit } from "../../../dev/dev-state.ts";
import { dumpOf, type LoadedState } from "../../../dev/state-dump.ts";
import type { DevPort } from "../../../rpc/ports/dev.ts";
import { accountAddresses, assertDevChain } from "../../adapters/dev-port.ts";
import type { Config } from "../../config/config.ts";
import { isInMemory } from "../../config/home.ts";
import type { ChainRole } from "../chain/chain-role.ts";
import { beginLoading } from "../chain/loaded-state.ts";

/**
 * `DevPort.loadState`. If the chain has the newest block of the dump, it is rolled back to it; otherwise the dump's blocks replace the chain,
 * while listeners and connections stay. The dump's accounts are added to the existing ones, as in anvil.
 */
export function createLoadState(
  config: Config,
  modules: {
    readonly role: () => ChainRole;
    readonly whileIdle: (work: () => Promise<void>) => Promise<void>;
    /** Closes the chain and opens the dump's. */
    readonly replace: (state: LoadedState) => Promise<void>;
    readonly onFatal: (error: unknown) => void;
  },
): DevPort["loadState"] {
  const { role, whileIdle, replace, onFatal } = modules;

  async function load({ edits, blocks }: LoadedState): Promise<void> {
    const { chain, opened } = role();
    const dev = assertDevChain(role());
    const raised = withoutLowerNonces(edits, role());
    const head = blocks.at(-1)?.block;
    if (head === undefined || opened.fork !== undefined) {
      return dev.restore(chain.head().block.header.number, raised);
    }
    const { number } = head.header;
    const isOfChain = number >= chain.oldest().proof && chain.blockHash(number) === head.hash;
    if (isOfChain) return dev.restore(number, raised);
    const state = { edits: [...currentAccounts(role()), ...raised], blocks };
    if (!isInMemory(config)) beginLoading(config.home, allAtOnce(dumpOf(state, chain.config)));
    await replace(state).catch((error) => {
      onFatal(error);
      throw error;
    });
  }

  return async ({ state }) => {
    assertDevChain(role());
    await whileIdle(() => load(state));
  };
}

/** Accounts that have sent more transactions than in the dump keep their nonce: a reused nonce would repeat the hash of a transaction. */
function withoutLowerNonces(edits: readonly AccountEdit[], { chain }: ChainRole): AccountEdit[] {
  const state = chain.stateAt(chain.head().block.header.number);
  return edits.map((edit) => {
    const known = state.account(edit.address)?.nonce ?? 0n;
    return edit.nonce !== undefined && edit.nonce < known ? { ...edit, nonce: known } : edit;
  });
}

function currentAccounts({ chain, store, opened: { patches } }: ChainRole): AccountEdit[] {
  const state = chain.stateAt(chain.head().block.header.number);
  return [...accountAddresses({ chain, store, patches })].flatMap((address) => {
    const account = state.account(address);
    if (account === undefined) return [];
    const { nonce, balance, codeHash } = account;
    return [{ address, nonce, balance, code: state.code(codeHash), storage: new Map(state.storageEntries(address)) }];
  });
}
