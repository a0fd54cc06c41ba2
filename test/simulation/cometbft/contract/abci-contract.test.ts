import assert from "node:assert/strict";
import { test } from "node:test";
import type { AbciReply, AbciRequest } from "../../../../src/consensus/cometbft/abci/frames.ts";
import type { CallName } from "../../../../src/consensus/cometbft/abci/messages.ts";
import { readTrace, TRACES, type TraceEvent, type TraceName } from "../../traces/trace.ts";
import { AbciContract } from "./abci-contract.ts";
import type { BlockRequest } from "./chain-facts.ts";

const traces = new Map<TraceName, readonly TraceEvent[]>();

function trace(name: TraceName): readonly TraceEvent[] {
  const events = traces.get(name) ?? readTrace(name);
  traces.set(name, events);
  return events;
}

function firstViolation(events: readonly TraceEvent[]): string | undefined {
  const contract = new AbciContract();
  for (const event of events) {
    const violation = contract.observe(event.node, event.connection, event);
    if (violation !== undefined) return violation;
  }
  return undefined;
}

for (const name of TRACES) {
  test(`what the real CometBFT did with ${name} is within the contract`, () => {
    const events = trace(name);
    assert.equal(firstViolation(events), undefined);
    assert.ok(events.filter(({ kind }) => kind === "request").length > 300);
  });
}

type Message = AbciRequest | AbciReply;

function messageOf(event: TraceEvent): Message | undefined {
  return event.kind === "request" || event.kind === "reply" ? event.message : undefined;
}

/** Requests of consensus for a block, with what belongs to them. */
function heightOf(event: TraceEvent): number | undefined {
  const fields = messageOf(event)?.fields as { readonly height?: bigint } | undefined;
  return fields?.height === undefined ? undefined : Number(fields.height);
}

/** `events` with the fields of some messages changed. */
function withFields<Fields>(
  events: readonly TraceEvent[],
  {
    calls,
    kind,
    node,
    height,
  }: {
    readonly calls: readonly CallName[];
    readonly kind: "request" | "reply";
    readonly node?: number;
    readonly height?: number;
  },
  change: (fields: Fields) => object,
): readonly TraceEvent[] {
  let changed = 0;
  const result = events.map((event) => {
    const message = messageOf(event);
    const isMeant =
      message !== undefined &&
      event.kind === kind &&
      calls.includes(message.call as CallName) &&
      (node === undefined || event.node === node) &&
      (height === undefined || heightOf(event) === height);
    if (!isMeant) return event;
    changed++;
    return {
      ...event,
      message: { call: message.call, fields: { ...message.fields, ...change(message.fields as Fields) } },
    } as TraceEvent;
  });
  assert.ok(changed > 0, "the mutation changes nothing");
  return result;
}

/** `events` with what one node does for one block on its consensus connection replaced, from FinalizeBlock to the reply to Commit. */
function withBlock(
  events: readonly TraceEvent[],
  edit: (block: readonly TraceEvent[]) => readonly TraceEvent[],
): readonly TraceEvent[] {
  const first = events.findIndex(
    (event) => event.node === NODE && messageOf(event)?.call === "finalizeBlock" && heightOf(event) === HEIGHT,
  );
  const { connection } = events[first]!;
  const isOfBlock = (event: TraceEvent) => event.connection === connection && messageOf(event)?.call !== "flush";
  const block = events.slice(first).filter(isOfBlock).slice(0, 4);
  assert.deepEqual(
    block.map((event) => `${event.kind} ${messageOf(event)?.call}`),
    ["request finalizeBlock", "reply finalizeBlock", "request commit", "reply commit"],
  );
  const rest = events.slice(first).filter((event) => !block.includes(event));
  return [...events.slice(0, first), ...edit(block), ...rest];
}

const NODE = 1;
const HEIGHT = 6;
const BLOCK_CALLS: readonly CallName[] = ["processProposal", "finalizeBlock"];
const everywhere = { calls: BLOCK_CALLS, kind: "request", height: HEIGHT } as const;
const once = { calls: ["finalizeBlock"], kind: "request", height: HEIGHT, node: NODE } as const;
const of = (name: TraceName, edit: (events: readonly TraceEvent[]) => readonly TraceEvent[]) => () => edit(trace(name));
const traffic = (edit: (events: readonly TraceEvent[]) => readonly TraceEvent[]) => of("traffic", edit);

/** Proposer of the block after the next one. */
function otherProposer(): Uint8Array {
  const event = trace("traffic").find(
    (each) => messageOf(each)?.call === "finalizeBlock" && heightOf(each) === HEIGHT + 2,
  );
  return (messageOf(event!)!.fields as BlockRequest).proposerAddress;
}

const flipped = (bytes: Uint8Array) => Uint8Array.from(bytes, (byte, index) => (index === 0 ? byte ^ 1 : byte));

const MUTATIONS: Readonly<Record<string, readonly [() => readonly TraceEvent[], RegExp]>> = {
  "a missing Commit": [
    traffic((events) => withBlock(events, (block) => block.slice(0, 2))),
    /of 7 before Commit of 6$/,
  ],
  "a FinalizeBlock that is repeated": [
    traffic((events) => withBlock(events, (block) => [...block.slice(0, 2), ...block])),
    /^finalizeBlock of 6 before Commit of 6$/,
  ],
  "a Commit before FinalizeBlock": [
    traffic((events) => withBlock(events, (block) => [...block.slice(2), ...block.slice(0, 2)])),
    /^Commit without a block that is finalized$/,
  ],
  "a Commit before the reply to FinalizeBlock": [
    traffic((events) =>
      withBlock(events, ([request, reply, commit, committed]) => [request!, commit!, reply!, committed!]),
    ),
    /^commit before the reply to finalizeBlock$/,
  ],
  "a block that is left out": [traffic((events) => withBlock(events, () => [])), /of 7 where 6 is next$/],
  "a proposer whose turn it is not": [
    traffic((events) => withFields(events, everywhere, () => ({ proposerAddress: otherProposer() }))),
    /^block 6, of round 0, has another proposer than is due$/,
  ],
  "a proposer that is no validator": [
    traffic((events) => withFields(events, everywhere, () => ({ proposerAddress: new Uint8Array(20) }))),
    /^the proposer of block 6 is no validator$/,
  ],
  "a last commit of half of the validators": [
    traffic((events) =>
      withFields<BlockRequest>(events, everywhere, ({ lastCommit }) => ({
        lastCommit: {
          ...lastCommit,
          votes: lastCommit.votes.map((vote, index) => (index < 2 ? { ...vote, blockIdFlag: 1 } : vote)),
        },
      })),
    ),
    /no more than two thirds of the votes$/,
  ],
  "a last commit without one of the validators": [
    traffic((events) =>
      withFields<BlockRequest>(events, everywhere, ({ lastCommit }) => ({
        lastCommit: { ...lastCommit, votes: lastCommit.votes.slice(1) },
      })),
    ),
    /^the last commit of block 6 is not that of the validators of 5$/,
  ],
  "a time that goes back": [
    traffic((events) =>
      withFields<BlockRequest>(events, everywhere, ({ time }) => ({ time: { ...time, seconds: time.seconds - 30n } })),
    ),
    /^block 6 is not later than its parent$/,
  ],
  "a block of another hash at one node": [
    traffic((events) => withFields<BlockRequest>(events, once, ({ hash }) => ({ hash: flipped(hash) }))),
    /^block 6 differs from that of another node$/,
  ],
  "a transaction that differs at one node": [
    traffic((events) => withFields<BlockRequest>(events, once, ({ txs }) => ({ txs: txs.map(flipped) }))),
    /^block 6 differs from that of another node$/,
  ],
  "another hash of the next validators": [
    traffic((events) =>
      withFields<BlockRequest>(events, everywhere, ({ nextValidatorsHash }) => ({
        nextValidatorsHash: flipped(nextValidatorsHash),
      })),
    ),
    /^block 6 has another hash of next validators$/,
  ],
  "validator updates that have no effect": [
    traffic((events) =>
      withFields(events, { calls: ["finalizeBlock"], kind: "reply" }, () => ({ validatorUpdates: [] })),
    ),
    /has another hash of next validators$/,
  ],
  "another app hash at one node": [
    traffic((events) =>
      withFields<{ appHash: Uint8Array }>(
        events,
        { calls: ["finalizeBlock"], kind: "reply", node: NODE },
        ({ appHash }) => ({ appHash: flipped(appHash) }),
      ),
    ),
    /has another app hash than at another node$/,
  ],
  "a result that is missing": [
    traffic((events) =>
      withFields(events, { calls: ["finalizeBlock"], kind: "reply", node: NODE }, () => ({ txResults: [] })),
    ),
    /transactions with 0 results$/,
  ],
  "a proposal in the name of another": [
    traffic((events) =>
      withFields(events, { calls: ["prepareProposal"], kind: "request", height: HEIGHT + 2 }, () => ({
        proposerAddress: new Uint8Array(20),
      })),
    ),
    /^PrepareProposal for another proposer than this node$/,
  ],
  "InitChain of an application that has blocks": [
    of("kills", (events) =>
      withFields(events, { calls: ["info"], kind: "reply", node: 2 }, () => ({ lastBlockHeight: 3n })),
    ),
    /^InitChain of an application that has blocks$/,
  ],
  "a snapshot with another app hash": [
    of("state-sync", (events) =>
      withFields<{ appHash: Uint8Array }>(events, { calls: ["offerSnapshot"], kind: "request" }, ({ appHash }) => ({
        appHash: flipped(appHash),
      })),
    ),
    /^a snapshot is offered with another app hash than the chain's$/,
  ],
  "a chunk of a snapshot that was not offered": [
    of("state-sync", (events) => events.filter((event) => messageOf(event)?.call !== "offerSnapshot")),
    /^a chunk of no snapshot that was accepted$/,
  ],
};

for (const [name, [events, words]] of Object.entries(MUTATIONS)) {
  test(`the contract rejects ${name}`, () => {
    assert.match(firstViolation(events()) ?? "no violation", words);
  });
}
