import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, brotliDecompressSync, constants } from "node:zlib";
import type { ChainName } from "./chains.ts";
import type { DifferentialCase } from "./corpus/request.ts";
import type { Answer } from "./difference.ts";
import type { ChainFiles } from "./scenario.ts";

export type RecordedCase = DifferentialCase & { readonly answer: Answer };

/** What a geth answered on a chain. */
export type Recording = {
  /** `Geth 1.17.10-stable` */
  readonly version: string;
  /** The chain, where it is not one of the official fixtures: a genesis file, and blocks as RLP in hex. */
  readonly chain?: { readonly genesis: string; readonly blocks: string };
  readonly cases: readonly RecordedCase[];
};

const fileOf = (name: ChainName) => join(fileURLToPath(new URL("recordings", import.meta.url)), `${name}.json.br`);

export function readRecording(name: ChainName): Recording {
  return JSON.parse(brotliDecompressSync(readFileSync(fileOf(name))).toString()) as Recording;
}

export function writeRecording(name: ChainName, recording: Recording): void {
  const text = Buffer.from(JSON.stringify(recording));
  // Cases repeat each other over megabytes.
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: 9,
    [constants.BROTLI_PARAM_LGWIN]: 24,
    [constants.BROTLI_PARAM_SIZE_HINT]: text.length,
  };
  writeFileSync(fileOf(name), brotliCompressSync(text, { params }));
}

/** The files of a chain that a recording holds, in `dir`. */
export function writeChain({ chain }: Recording, dir: string): ChainFiles {
  if (chain === undefined) throw new Error("the recording is of a chain that is kept elsewhere");
  const files = { genesisFile: join(dir, "genesis.json"), chainFile: join(dir, "chain.rlp") };
  writeFileSync(files.genesisFile, chain.genesis);
  writeFileSync(files.chainFile, Buffer.from(chain.blocks, "hex"));
  return files;
}
