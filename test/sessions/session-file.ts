import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, brotliDecompressSync } from "node:zlib";
import { parseAddress } from "../../src/base/primitives/address.ts";
import { createAddress } from "../../src/evm/machine/contract-creation.ts";
import type { ChainFacts } from "../differential/corpus/request.ts";
import { DEV_ADDRESSES } from "../support/accounts.ts";
import type { SessionFacts, SessionRequest } from "./requests.ts";

/** A request with its answer, and whose answer it is: geth's where geth has the method and gives the same. */
export type SessionEntry = SessionRequest & {
  readonly by: "geth" | "evmint";
  readonly answer: { readonly result?: unknown; readonly error?: unknown };
};

/** The messages of a session, each a batch. */
export type Session = readonly (readonly SessionEntry[])[];

export const SESSIONS = ["otterscan", "blockscout"] as const;
export type SessionName = (typeof SESSIONS)[number];

const fileOf = (name: SessionName) => fileURLToPath(new URL(`recordings/${name}.json.br`, import.meta.url));

export function readSession(name: SessionName): Session {
  return JSON.parse(brotliDecompressSync(readFileSync(fileOf(name))).toString()) as Session;
}

export function writeSession(name: SessionName, session: Session): void {
  writeFileSync(fileOf(name), brotliCompressSync(Buffer.from(JSON.stringify(session))));
}

/** The chain of `test/differential/scenario.ts`, whose sixth transaction deploys a token. */
export function sessionFacts({ blocks, head, sender }: ChainFacts): SessionFacts {
  return {
    head,
    sender,
    // Every block but those with dozens of programs, whose traces would be most of the recording.
    blocks: blocks.filter(({ transactions }) => transactions.length < MANY),
    token: createAddress(parseAddress(DEV_ADDRESSES[0]), 5n),
    recipient: DEV_ADDRESSES[1].toLowerCase(),
  };
}

const MANY = 30;

/** The answers to one message, in the order of the requests. */
export async function sendBatch(
  url: string,
  batch: readonly SessionRequest[],
): Promise<readonly SessionEntry["answer"][]> {
  const calls = batch.map(({ method, params }, id) => ({ jsonrpc: "2.0", id, method, params }));
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(calls.length === 1 ? calls[0] : calls),
  });
  const answers = [(await response.json()) as { id: number; result?: unknown; error?: unknown }];
  return answers
    .flat()
    .sort((a, b) => a.id - b.id)
    .map(({ result, error }) => (error === undefined ? { result } : { error }));
}
