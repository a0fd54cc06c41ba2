import type { Application } from "./abci-client.ts";
import type { BlockStore } from "./disk/block-store.ts";
import type { StateStore } from "./disk/state-store.ts";
import type { BlockExecutor } from "./executor.ts";
import type { Log } from "./log.ts";
import type { Genesis } from "./settings.ts";
import type { ChainState } from "./types/chain-state.ts";
import { ValidatorSet } from "./types/validator-set.ts";
import { bytesOf, digitsOf, toTimestamp } from "./types/vote.ts";

/** CometBFT ends with exit status 1. */
export class HandshakeError extends Error {}
/** CometBFT ends as by a Go panic, with exit status 2. */
export class PanicError extends Error {}

export const INFO_REQUEST = { version: "0.39.0", blockVersion: 11n, p2pVersion: 8n, abciVersion: "2.0.0" } as const;

type HandshakeModules = {
  readonly application: Application;
  readonly executor: BlockExecutor;
  readonly blocks: BlockStore;
  readonly states: StateStore;
  readonly genesis: Genesis;
  readonly log: Log;
};

/**
 * Brings application, state and block store to one height: consensus/replay.go. Heights are those of the application (A), the block store (S) and the
 * state (T); S is T or T + 1.
 * @throws HandshakeError, PanicError, ApplicationGoneError
 */
export async function handshake(state: ChainState, modules: HandshakeModules): Promise<ChainState> {
  const { application, blocks, log } = modules;
  const info = await application.query.call("info", INFO_REQUEST);
  const height = Number(info.lastBlockHeight);
  const [base, stored, known] = [blocks.base, blocks.height, state.lastBlockHeight];
  log.info("consensus", "ABCI Handshake App Info", { height, hash: digitsOf(info.lastBlockAppHash).toUpperCase() });
  let appHash = digitsOf(info.lastBlockAppHash);
  let current = known === 0 ? { ...state, params: { ...state.params, appVersion: Number(info.appVersion) } } : state;
  if (height === 0) {
    appHash = await initChain(modules);
    if (known === 0) {
      if (appHash !== "") current = { ...current, appHash };
      modules.states.save(current);
    }
  }
  if (stored === 0) {
    assertAppHash(appHash, current);
    return current;
  }
  const isTooLow = height === 0 ? state.initialHeight < base : height < base - 1;
  if (isTooLow) throw new HandshakeError(`app block height (${height}) is too far below block store base (${base})`);
  if (height > stored) throw new HandshakeError(`app block height (${height}) is higher than core (${stored})`);
  if (stored < known) throw new PanicError(`StateBlockHeight (${known}) > StoreBlockHeight (${stored})`);
  // Also of a chain that begins above height 1, when its first block is stored and the state is still that of the genesis: as in the real program.
  if (stored > known + 1) {
    throw new PanicError(`StoreBlockHeight (${stored}) > StateBlockHeight + 1 (${known + 1})`);
  }
  if (stored === known) {
    if (height < stored) appHash = await replayBlocks({ from: height, to: stored, state: current }, modules);
    assertAppHash(appHash, current);
    return current;
  }
  return applyLast({ height, stored, state: current }, modules);
}

/** The state was not saved after the last block of the store. */
async function applyLast(
  { height, stored, state }: { readonly height: number; readonly stored: number; readonly state: ChainState },
  modules: HandshakeModules,
): Promise<ChainState> {
  const { blocks, states, executor, log } = modules;
  const block = blocks.block(stored)!;
  if (height === stored) {
    const reply = states.reply(stored);
    if (reply === undefined) throw new HandshakeError(`could not find results for height #${stored}`);
    log.info("consensus", "Replay last block using mock app");
    return executor.apply(state, block, reply);
  }
  if (height < state.lastBlockHeight) await replayBlocks({ from: height, to: stored - 1, state }, modules);
  else log.info("consensus", "Replay last block using real app");
  return executor.apply(state, block);
}

/** Executes blocks that the application lost. @returns its app hash after them */
async function replayBlocks(
  { from, to, state }: { readonly from: number; readonly to: number; readonly state: ChainState },
  { blocks, executor, log }: HandshakeModules,
): Promise<string> {
  let appHash = "";
  for (let height = Math.max(from + 1, state.initialHeight); height <= to; height++) {
    log.info("consensus", "Applying block", { height });
    const block = blocks.block(height)!;
    if (appHash !== "" && appHash !== block.header.appHash) {
      throw new PanicError(
        `block.AppHash does not match AppHash after replay. Got ${appHash.toUpperCase()}, expected ${block.header.appHash.toUpperCase()}.`,
      );
    }
    appHash = await executor.replay(block, state);
  }
  return appHash;
}

async function initChain({ application, genesis }: HandshakeModules): Promise<string> {
  const { params } = genesis;
  const none = undefined;
  const { appHash } = await application.consensus.call("initChain", {
    time: toTimestamp(genesis.time),
    chainId: genesis.chainId,
    initialHeight: BigInt(genesis.initialHeight),
    appStateBytes: genesis.appState,
    consensusParams: {
      block: { maxBytes: BigInt(params.maxBytes), maxGas: BigInt(params.maxGas) },
      evidence: {
        maxAgeNumBlocks: BigInt(params.evidenceAgeBlocks),
        maxAgeDuration: toTimestamp(params.evidenceAgeNanos),
        maxBytes: BigInt(params.evidenceBytesMax),
      },
      validator: { pubKeyTypes: params.publicKeyTypes },
      version: { app: BigInt(params.appVersion) },
      abci: { voteExtensionsEnableHeight: 0n },
      authority: { authority: "" },
    },
    validators: ValidatorSet.of(genesis.validators).validators.map(({ publicKey, power }) => ({
      pubKey: { ed25519: none, secp256k1: none, bls12381: none, mldsa65: none, secp256k1eth: bytesOf(publicKey) },
      power: BigInt(power),
    })),
  });
  return digitsOf(appHash);
}

function assertAppHash(appHash: string, state: ChainState): void {
  if (appHash === state.appHash) return;
  throw new PanicError(
    `state.AppHash does not match AppHash after replay. Got\n${appHash.toUpperCase()}, expected ${state.appHash.toUpperCase()}.\n\nDid you reset CometBFT without resetting your application's data?`,
  );
}
