import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, brotliDecompressSync, constants } from "node:zlib";
import {
  type AbciReply,
  type AbciRequest,
  decodeReply,
  decodeRequest,
} from "../../../src/consensus/cometbft/abci/frames.ts";

/** What happened between a node and its CometBFT: a connection opened or ended, a request went in, a reply went out. */
export type TraceEvent =
  | (TracePosition & { readonly kind: "open" })
  | (TracePosition & { readonly kind: "close" })
  | (TracePosition & { readonly kind: "request"; readonly message: AbciRequest })
  | (TracePosition & { readonly kind: "reply"; readonly message: AbciReply });

type TracePosition = {
  /** Milliseconds since the first event. */
  readonly at: number;
  /** Index of the node. */
  readonly node: number;
  /** Number of the connection, over all nodes in the order in which they opened. */
  readonly connection: number;
};

/** A line of a file: time, node, connection, kind, and the bytes of a message in base64. */
export type TraceLine = readonly [
  at: number,
  node: number,
  connection: number,
  kind: TraceEvent["kind"],
  bytes?: string,
];

export const TRACES = ["traffic", "kills", "state-sync"] as const;
export type TraceName = (typeof TRACES)[number];

/** A recording of networks of the real CometBFT v0.40.0: every call of all connections, except flushes that follow a call and reaps without transactions. */
export function readTrace(name: TraceName): readonly TraceEvent[] {
  const text = brotliDecompressSync(readFileSync(pathOf(name))).toString("utf8");
  return text
    .split("\n")
    .filter(Boolean)
    .map((line) => eventOf(JSON.parse(line) as TraceLine));
}

/** @param lines in any order: a reap is known to be worth a line once its reply is there */
export function writeTrace(name: TraceName, lines: readonly TraceLine[]): void {
  const sorted = lines.toSorted(([a], [b]) => a - b);
  const text = sorted.map((line) => `${JSON.stringify(line)}\n`).join("");
  const params = { [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS };
  writeFileSync(pathOf(name), brotliCompressSync(text, { params }));
}

function pathOf(name: TraceName): string {
  return fileURLToPath(new URL(`${name}.jsonl.br`, import.meta.url));
}

function eventOf([at, node, connection, kind, bytes = ""]: TraceLine): TraceEvent {
  const position = { at, node, connection };
  if (kind === "request") return { ...position, kind, message: decodeRequest(Buffer.from(bytes, "base64")) };
  if (kind === "reply") return { ...position, kind, message: decodeReply(Buffer.from(bytes, "base64")) };
  return { ...position, kind };
}
