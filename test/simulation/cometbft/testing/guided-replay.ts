import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type AbciReply,
  type AbciRequest,
  decodeRequest,
  FrameReader,
  requestFrame,
} from "../../../../src/consensus/cometbft/abci/frames.ts";
import type { CallName, CommitInfo, Request } from "../../../../src/consensus/cometbft/abci/messages.ts";
import type { TraceEvent } from "../../traces/trace.ts";
import type { Application } from "../abci-client.ts";
import { Consensus } from "../consensus/consensus.ts";
import { STEP } from "../consensus/round-state.ts";
import type { BlockRequest } from "../contract/chain-facts.ts";
import { BlockStore } from "../disk/block-store.ts";
import { PrivateValidator } from "../disk/private-validator.ts";
import { StateStore } from "../disk/state-store.ts";
import { Wal } from "../disk/wal.ts";
import { EvidencePool } from "../evidence-pool.ts";
import { BlockExecutor } from "../executor.ts";
import { handshake } from "../handshake.ts";
import { Log } from "../log.ts";
import { type Genesis, type Settings, validatorOf } from "../settings.ts";
import { SigningKeys } from "../signing-keys.ts";
import { Block } from "../types/block.ts";
import { type ChainState, genesisState, headerFieldsOf, nextHeight } from "../types/chain-state.ts";
import type { Validator, ValidatorSet } from "../types/validator-set.ts";
import {
  ABSENT,
  type BlockId,
  type Commit,
  digitsOf,
  fromTimestamp,
  NO_COMMIT,
  proposalText,
  type VoteType,
  voteText,
} from "../types/vote.ts";
import { ProcessTime, VirtualTime } from "./virtual-time.ts";

/** A call on the consensus connection, or Info. */
type RecordedCall = { readonly request: AbciRequest; reply: AbciReply | undefined };
/** One run of an engine. */
type RecordedRun = { readonly info: RecordedCall[]; readonly consensus: RecordedCall[]; isRestored: boolean };

const FLAG_ABSENT = 1;
const FLAG_COMMIT = 2;
const NANOS_PER_MS = 1_000_000n;
/** The model has so long for each of its calls, in virtual time: rounds that fail take seconds. */
const CALL_MS = 60_000;

const SETTINGS: Settings["consensus"] = {
  commitMs: 100,
  blockTimeToleranceMs: 1e12,
  propose: { ms: 1_000, deltaMs: 500 },
  prevote: { ms: 500, deltaMs: 500 },
  precommit: { ms: 500, deltaMs: 500 },
};

/**
 * Makes the model do what the network of a recording decided: it is given the proposals and votes of that network, and must call its application as the real
 * program did, with the same fields in the same order. Times, proposers, commits and validators are its own work; only hashes of blocks differ, because
 * they cover signatures that a recording does not have.
 */
export class GuidedReplay {
  readonly #genesis: Genesis;
  /** What the network executed, by height. */
  readonly #decided = new Map<number, BlockRequest>();
  readonly #runs = new Map<number, RecordedRun[]>();
  readonly #keys = new SigningKeys();
  /** The model's and the recorded hashes of blocks, which correspond one to one. */
  readonly #recordedHashes = new Map<string, string>();
  /** The state after each block, and the commit for it, as some node had them. */
  readonly #states = new Map<number, { readonly state: ChainState; readonly commit: Commit }>();
  readonly #folder = mkdtempSync(join(tmpdir(), "guided-replay-"));
  /** Calls that the model made as the real program did. */
  calls = 0;

  constructor(events: readonly TraceEvent[]) {
    const requests = events.flatMap((event) => (event.kind === "request" ? [event.message] : []));
    const genesis = requests.find(({ call }) => call === "initChain")!.fields as Request<"initChain">;
    this.#genesis = genesisOf(genesis);
    for (const { call, fields } of requests) {
      if (call === "finalizeBlock") this.#decided.set(Number(fields.height), fields);
    }
    const nodes = new Set(events.map(({ node }) => node));
    for (const node of nodes) this.#runs.set(node, runsOf(events.filter((event) => event.node === node)));
  }

  get nodes(): Iterable<number> {
    return this.#runs.keys();
  }

  close(): void {
    rmSync(this.#folder, { recursive: true });
  }

  /** @throws AssertionError where the model calls otherwise than the real program */
  async replay(node: number): Promise<void> {
    const data = join(this.#folder, String(node));
    mkdirSync(data);
    writeFileSync(join(data, "priv_validator_state.json"), JSON.stringify({ height: "0", round: 0, step: 0 }));
    const runs = this.#runs.get(node)!;
    const own = this.#ownOf(runs);
    for (const [index, run] of runs.entries()) {
      const later = runs.slice(index + 1).flatMap(({ consensus }) => consensus);
      await this.#replayRun(run, { data, own, later });
    }
  }

  async #replayRun(
    run: RecordedRun,
    { data, own, later }: { readonly data: string; readonly own: Validator; readonly later: readonly RecordedCall[] },
  ): Promise<void> {
    const application = new RecordedApplication(run, {
      later,
      hashOf: (digits) => this.#recordedHashes.get(digits),
      bind: this.#bind,
    });
    const time = new VirtualTime(Number(this.#genesis.time / NANOS_PER_MS));
    const process = new ProcessTime(time);
    const log = new Log({ stdout() {} }, () => process.now());
    const [blocks, states] = [new BlockStore(data), new StateStore(data)];
    const validator = new PrivateValidator(
      join(data, "priv_validator_state.json"),
      { nodeId: "", validator: own, privateKey: privateKeyOf(own.publicKey) },
      this.#keys,
    );
    const initial = states.load() ?? genesisState(this.#genesis);
    for (const { publicKey } of initial.validators.validators) this.#keys.register(publicKey, privateKeyOf(publicKey));
    const evidence = new EvidencePool(data, initial, { blocks, states, keys: this.#keys, log });
    const executor = new BlockExecutor({
      application: application as unknown as Application,
      blocks,
      states,
      evidence,
      hostility: { txsOf: (txs) => txs },
    });
    const work = async () => {
      let state = initial;
      if (run.isRestored) {
        const height = application.next!.height - 1;
        const restored = this.#states.get(height)!;
        states.save(restored.state);
        blocks.saveSeenCommit(restored.commit);
        state = restored.state;
      } else {
        const modules = { application: application as unknown as Application, executor, blocks, states, log };
        state = await handshake(initial, { ...modules, genesis: this.#genesis });
      }
      while (application.next?.call === "finalizeBlock") {
        const block = this.#blockOf(state, this.#decided.get(nextHeight(state))!);
        blocks.save(block, this.#commitFor(state, block.id, application));
        this.#bind(block.hash, digitsOf(this.#decided.get(block.height)!.hash));
        state = await executor.apply(state, block);
        this.#remember(state, block.id);
      }
      return state;
    };
    const synced = await Promise.race([work(), application.over]);
    if (synced === undefined) return;
    const proposed: Block[] = [];
    const consensus = new Consensus(synced, {
      settings: SETTINGS,
      executor,
      validator,
      blocks,
      wal: new Wal(data),
      evidence,
      keys: this.#keys,
      system: {
        now: () => process.now(),
        after: (ms, task) => process.after(ms, task),
        connect: assert.fail,
        callRpc: assert.fail,
      },
      log: new Log({ stdout: (line) => application.note(line) }, () => process.now()),
      now: () => this.#voteTimeAt(consensus.roundState.height, application),
      events: { step() {}, added() {}, proposed: (_, block) => proposed.push(block) },
      isForgetful: () => false,
    });
    await consensus.start(synced, false);
    while (application.next !== undefined) {
      const { state, height } = consensus.roundState;
      if (!this.#decided.has(height)) break;
      await this.#guide({ consensus, application, time, own, proposed, state });
      this.#remember(consensus.roundState.state, consensus.roundState.state.lastBlockId!);
    }
    process.isEnded = true;
    this.calls += application.calls;
  }

  /** One height. */
  async #guide(parts: {
    readonly consensus: Consensus;
    readonly application: RecordedApplication;
    readonly time: VirtualTime;
    readonly own: Validator;
    readonly proposed: Block[];
    readonly state: ChainState;
  }): Promise<void> {
    const { consensus, application, time, own, proposed, state } = parts;
    const height = nextHeight(state);
    const lastRound = this.#decided.get(height + 1)?.lastCommit.round ?? 0;
    const wait = async (isDone: () => boolean) => {
      // What the guide has just said comes before any timeout.
      await new Promise((resolve) => setImmediate(resolve));
      const isReached = await time.run(CALL_MS, () => isDone() || application.failure !== undefined);
      if (application.failure) throw application.failure;
      const { round, step } = consensus.roundState;
      const { call } = application.next ?? { call: "nothing" };
      assert.ok(isReached, `the model waits in ${height}/${round}/${step}; ${call} is next (${application.lastLine})`);
    };
    const others = (type: VoteType, round: number, blockId: BlockId | undefined, flags?: CommitInfo["votes"]) => {
      for (const [index, { address, publicKey }] of state.validators.validators.entries()) {
        const flag = flags?.[index]?.blockIdFlag ?? FLAG_COMMIT;
        if (address === own.address || flag === FLAG_ABSENT) continue;
        const id = flag === FLAG_COMMIT ? blockId : undefined;
        const time = this.#voteTimeAt(height, application);
        const unsigned = { type, height, round, blockId: id, time, index, address };
        const signature = this.#keys.sign(privateKeyOf(publicKey), voteText(state.chainId, unsigned));
        consensus.receive({ kind: "vote", vote: { ...unsigned, signature }, peer: "guide" });
      }
    };
    let block: Block | undefined;
    // A node that is behind hears of the last round before it has begun with the first one.
    const firstRound = application.next?.call === "finalizeBlock" ? lastRound + 1 : 0;
    for (let round = firstRound; round <= lastRound; round++) {
      const isOpen = () => consensus.roundState.round >= round && consensus.roundState.step >= STEP.propose;
      await wait(() => isOpen() || application.next === undefined);
      const { proposer } = consensus.roundState.validators;
      if (application.next?.call === "prepareProposal" && proposer === own.address) {
        const { calls: before, refusals } = application;
        const isMade = () => application.calls >= before + 2 || application.refusals > refusals;
        await wait(() => application.next === undefined || isMade());
        if (application.refusals === refusals) block = proposed.at(-1);
      }
      const { next, calls: before } = application;
      if (next?.call === "processProposal" && digitsOf(next.fields.proposerAddress) === proposer) {
        // That of a run before, too, which peers have.
        block = this.#blockOf(state, next.fields);
        this.#propose(consensus, { state, block, round, proposer });
        await wait(() => application.next === undefined || application.calls > before);
      }
      if (application.next === undefined) return;
      if (round < lastRound) {
        others("prevote", round, undefined);
        others("precommit", round, undefined);
        await wait(() => consensus.roundState.round > round || application.next === undefined);
      }
    }
    const recorded = this.#decided.get(height)!;
    const isSeen = block !== undefined && this.#recordedHashes.get(block.hash) === digitsOf(recorded.hash);
    const decided = block !== undefined && isSeen ? block : this.#blockOf(state, recorded);
    const flags = this.#flagsAt(height, application);
    others("prevote", lastRound, decided.id);
    others("precommit", lastRound, decided.id, flags);
    // A node that was not there fetches what was decided without it.
    if (!isSeen) consensus.receive({ kind: "block", height, round: lastRound, block: decided, peer: "guide" });
    await wait(() => consensus.roundState.height > height || application.next === undefined);
  }

  #propose(
    consensus: Consensus,
    {
      state,
      block,
      round,
      proposer,
    }: { readonly state: ChainState; readonly block: Block; readonly round: number; readonly proposer: string },
  ): void {
    const { height } = block;
    const unsigned = { height, round, polRound: -1, blockId: block.id, time: block.header.time };
    const { publicKey } = state.validators.byAddress(proposer)!;
    const signature = this.#keys.sign(privateKeyOf(publicKey), proposalText(state.chainId, unsigned));
    consensus.receive({ kind: "proposal", proposal: { ...unsigned, signature }, peer: "guide" });
    consensus.receive({ kind: "block", height, round, block, peer: "guide" });
  }

  /** Votes have the time of the next block, as this node proposes it or as it was decided. */
  #voteTimeAt(height: number, application: RecordedApplication): bigint {
    const prepared = application.preparedAt(height + 1);
    return prepared ? fromTimestamp(prepared.time) : this.#timeAfter(height);
  }

  /** The votes for block `height`: as this node shows them in its next proposal, or as the next block has them. */
  #flagsAt(height: number, application: RecordedApplication): CommitInfo["votes"] | undefined {
    const prepared = application.preparedAt(height + 1);
    if (prepared) return prepared.localLastCommit.votes;
    return this.#decided.get(height + 1)?.lastCommit.votes;
  }

  /** A block with what is recorded of it; its header is the model's own work. */
  #blockOf(state: ChainState, request: BlockRequest): Block {
    const lastCommit =
      state.lastBlockHeight === 0
        ? NO_COMMIT
        : this.#commit(state, {
            height: state.lastBlockHeight,
            blockId: state.lastBlockId!,
            validators: state.lastValidators!,
            time: fromTimestamp(request.time),
            info: request.lastCommit,
          });
    const header = headerFieldsOf(state, { proposer: digitsOf(request.proposerAddress), lastCommit });
    return Block.of(header, { txs: request.txs.map((tx) => Uint8Array.from(tx)), evidence: [], lastCommit });
  }

  /** The precommits that a node has seen for a block. */
  #commitFor(state: ChainState, blockId: BlockId, application: RecordedApplication): Commit {
    const height = nextHeight(state);
    const { validators } = state;
    const info = application.preparedAt(height + 1)?.localLastCommit ?? this.#decided.get(height + 1)?.lastCommit;
    return this.#commit(state, { height, blockId, validators, time: this.#voteTimeAt(height, application), info });
  }

  #commit(
    { chainId }: ChainState,
    options: {
      readonly height: number;
      readonly blockId: BlockId;
      readonly validators: ValidatorSet;
      readonly time: bigint;
      /** All of the first round where it is not given. */
      readonly info: CommitInfo | undefined;
    },
  ): Commit {
    const { height, blockId, validators, time, info } = options;
    const { round, votes } = info ?? { round: 0, votes: [] };
    const signatures = validators.validators.map(({ address, publicKey }, index) => {
      const flag = (votes[index]?.blockIdFlag ?? FLAG_COMMIT) as Commit["signatures"][number]["flag"];
      if (flag === FLAG_ABSENT) return ABSENT;
      const id = flag === FLAG_COMMIT ? blockId : undefined;
      const unsigned = { type: "precommit", height, round, blockId: id, time, index, address } as const;
      const signature = this.#keys.sign(privateKeyOf(publicKey), voteText(chainId, unsigned));
      return { flag, address, time, signature };
    });
    return { height, round, blockId, signatures };
  }

  #timeAfter(height: number): bigint {
    const next = this.#decided.get(height + 1);
    if (next) return fromTimestamp(next.time);
    const last = this.#decided.get(height);
    return last ? fromTimestamp(last.time) + 1_000_000_000n : this.#genesis.time;
  }

  #remember(state: ChainState, blockId: BlockId): void {
    const { lastBlockHeight: height } = state;
    for (const { publicKey } of state.nextValidators.validators)
      this.#keys.register(publicKey, privateKeyOf(publicKey));
    const commit = this.#commit(state, {
      height,
      blockId,
      validators: state.lastValidators!,
      time: this.#timeAfter(height),
      info: this.#decided.get(height + 1)?.lastCommit,
    });
    this.#states.set(height, { state, commit });
  }

  /** An own hash belongs to one recorded one. */
  readonly #bind = (own: string, recorded: string): void => {
    assert.equal(
      this.#recordedHashes.get(own) ?? recorded,
      recorded,
      "a block of the model is another recorded one than before",
    );
    this.#recordedHashes.set(own, recorded);
  };

  /** Who a node is shows in its proposals; one without any is a stranger. */
  #ownOf(runs: readonly RecordedRun[]): Validator {
    for (const { request } of runs.flatMap(({ consensus }) => consensus)) {
      if (request.call !== "prepareProposal") continue;
      const address = digitsOf(request.fields.proposerAddress);
      const found = this.#genesis.validators.find((each) => each.address === address);
      if (found) return found;
    }
    return { address: "", publicKey: "", power: 0 };
  }
}

/** Answers as the recorded application did, and compares each call with the recorded one. */
class RecordedApplication {
  readonly #calls: readonly RecordedCall[];
  readonly #later: readonly RecordedCall[];
  readonly #info: readonly RecordedCall[];
  readonly #hashOf: (own: string) => string | undefined;
  readonly #bind: (own: string, recorded: string) => void;
  #at = 0;
  #infoAt = 0;
  #log = "";
  /** Proposals that were not signed, because this validator has signed a later step. */
  refusals = 0;
  failure: Error | undefined;
  #end: () => void = () => {};
  /** The recorded run ended: nothing of it answers any more. */
  readonly over = new Promise<undefined>((resolve) => {
    this.#end = () => resolve(undefined);
  });

  constructor(
    run: RecordedRun,
    {
      later,
      hashOf,
      bind,
    }: {
      /** Calls of the runs after this one. */
      readonly later: readonly RecordedCall[];
      readonly hashOf: (own: string) => string | undefined;
      readonly bind: (own: string, recorded: string) => void;
    },
  ) {
    this.#later = later;
    this.#calls = run.consensus;
    this.#info = run.info;
    this.#hashOf = hashOf;
    this.#bind = bind;
  }

  get calls(): number {
    return this.#at;
  }

  /** The recorded call that is due. */
  get next(): (AbciRequest & { readonly height: number }) | undefined {
    const request = this.#calls[this.#at]?.request;
    const { height = 0n } = (request?.fields ?? {}) as { readonly height?: bigint };
    return request && ({ ...request, height: Number(height) } as AbciRequest & { readonly height: number });
  }

  /** The proposal that this node makes at `height` later on, in this run or after it. */
  preparedAt(height: number): Request<"prepareProposal"> | undefined {
    const ownCalls = this.#calls.length;
    for (let at = this.#at; at < ownCalls + this.#later.length; at++) {
      const { call, fields } = (at < ownCalls ? this.#calls[at]! : this.#later[at - ownCalls]!).request;
      if (call === "prepareProposal" && Number(fields.height) >= height) {
        return Number(fields.height) === height ? fields : undefined;
      }
    }
    return undefined;
  }

  get lastLine(): string {
    return this.#log;
  }

  note(line: string): void {
    if (line.includes("failed signing proposal")) this.refusals++;
    if (line.includes("CONSENSUS FAILURE")) this.failure ??= new Error(line);
    this.#log = line;
  }

  readonly query = { call: () => this.#answer(this.#info[this.#infoAt++]) };
  readonly mempool = { flush: async () => {} };
  readonly consensus = {
    call: (name: CallName, fields: object) => {
      const recorded = this.#calls[this.#at];
      if (recorded === undefined) return this.#answer(undefined);
      this.#at++;
      try {
        this.#compare(recorded.request, name, fields);
      } catch (error) {
        this.failure ??= error as Error;
        return new Promise<never>(() => {});
      }
      return this.#answer(recorded);
    },
  };

  #compare({ call, fields: recorded }: AbciRequest, name: CallName, fields: object): void {
    const { height } = recorded as { readonly height?: bigint };
    assert.equal(
      name,
      call,
      `the model calls ${name} where the real program calls ${call} of ${height} (${this.#log})`,
    );
    const [body] = new FrameReader().push(requestFrame(name, fields as never));
    const own = plain(decodeRequest(body!).fields);
    const real = plain(recorded);
    if ("hash" in own) {
      const known = this.#hashOf(own["hash"] as string);
      if (known === undefined) this.#bind(own["hash"] as string, real["hash"] as string);
      own["hash"] = known ?? real["hash"];
    }
    assert.deepEqual(own, real, `${name}: the fields differ`);
  }

  #answer(recorded: RecordedCall | undefined): Promise<unknown> {
    if (recorded?.reply) return Promise.resolve(recorded.reply.fields);
    this.#end();
    return new Promise(() => {});
  }
}

/** Bytes as hexadecimal digits, and bigints as decimal ones. */
function plain(fields: object): Record<string, unknown> {
  const text = JSON.stringify(fields, (_, value: unknown) => {
    if (typeof value === "bigint") return String(value);
    if (value instanceof Uint8Array) return digitsOf(value);
    // A buffer has become this by the time it gets here.
    const { type, data } = (value ?? {}) as { readonly type?: string; readonly data?: number[] };
    return type === "Buffer" && Array.isArray(data) ? Buffer.from(data).toString("hex") : value;
  });
  return JSON.parse(text) as Record<string, unknown>;
}

function runsOf(events: readonly TraceEvent[]): RecordedRun[] {
  const runs: RecordedRun[] = [];
  const names = new Map<number, number>();
  const waiting = new Map<number, RecordedCall[]>();
  let opened = 0;
  for (const event of events) {
    if (event.kind === "open") {
      if (opened % 4 === 0) runs.push({ info: [], consensus: [], isRestored: false });
      names.set(event.connection, opened++ % 4);
    } else if (event.kind === "request" && event.message.call !== "flush") {
      const run = runs.at(-1)!;
      const call: RecordedCall = { request: event.message, reply: undefined };
      waiting.set(event.connection, [...(waiting.get(event.connection) ?? []), call]);
      if (names.get(event.connection) === 3) run.consensus.push(call);
      else if (event.message.call === "info") run.info.push(call);
      else if (event.message.call === "applySnapshotChunk") run.isRestored = true;
    } else if (event.kind === "reply" && event.message.call !== "flush") {
      const call = waiting.get(event.connection)!.shift()!;
      call.reply = event.message;
    }
  }
  return runs;
}

function genesisOf({
  chainId,
  time,
  initialHeight,
  consensusParams,
  validators,
  appStateBytes,
}: Request<"initChain">): Genesis {
  const { block, evidence, validator, version } = consensusParams!;
  return {
    time: fromTimestamp(time),
    chainId,
    initialHeight: Number(initialHeight),
    params: {
      maxBytes: Number(block!.maxBytes),
      maxGas: Number(block!.maxGas),
      evidenceAgeBlocks: Number(evidence!.maxAgeNumBlocks),
      evidenceAgeNanos: fromTimestamp(evidence!.maxAgeDuration!),
      evidenceBytesMax: Number(evidence!.maxBytes),
      publicKeyTypes: validator!.pubKeyTypes,
      appVersion: Number(version!.app),
    },
    validators: validators.map(({ pubKey, power }) => validatorOf(pubKey.secp256k1eth!, Number(power))),
    appState: appStateBytes,
  };
}

/** Of the guide, which signs for everyone. */
function privateKeyOf(publicKey: string): string {
  return `key of ${publicKey}`;
}
