/**
 * Verifies the header of an old block against a checkpoint, with nothing trusted but the root of its canonical hash trie:
 *
 *     node --import tsx scripts/verify-header.ts URL SECTION CHT_ROOT NUMBER
 */
import { fileURLToPath } from "node:url";
import { type Hash, parseHash } from "../src/base/primitives/hash.ts";
import { hexToBytes } from "../src/base/primitives/hex.ts";
import type { Header } from "../src/base/types/header.ts";
import { decodeHeader, headerHash } from "../src/base/types/header-codec.ts";
import { verifyCanonicalBlock } from "../src/heritage/les/checkpoints/checkpoint.ts";

export type HeaderQuestion = {
  /** JSON-RPC over HTTP, of a node that is not trusted. */
  readonly url: string;
  readonly section: number;
  /** Trusted. */
  readonly chtRoot: Hash;
  readonly number: number;
};

/**
 * The header of block `number` in the chain that `chtRoot` commits to.
 * @throws InvalidProofError, and Error where the node answers with one or with another header
 */
export async function verifiedHeader(question: HeaderQuestion): Promise<Header> {
  const { url, section, chtRoot, number } = question;
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "les_getHeaderProof",
      params: [number, section],
    }),
  });
  const { result, error } = (await response.json()) as {
    readonly result?: { readonly header: string; readonly proof: readonly string[] };
    readonly error?: { readonly message: string };
  };
  if (result === undefined) throw new Error(`the node answers: ${error?.message}`);
  const { hash } = verifyCanonicalBlock(chtRoot, number, result.proof.map(hexToBytes));
  const header = decodeHeader(hexToBytes(result.header));
  if (headerHash(header) !== hash) throw new Error("the header has another hash than the proof");
  return header;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [url, section, chtRoot, number] = process.argv.slice(2);
  if (url === undefined || chtRoot === undefined || number === undefined) {
    console.error("usage: node --import tsx scripts/verify-header.ts URL SECTION CHT_ROOT NUMBER");
    process.exit(2);
  }
  const header = await verifiedHeader({
    url,
    section: Number(section),
    chtRoot: parseHash(chtRoot),
    number: Number(number),
  });
  console.log(`block ${number} is ${headerHash(header)}, state root ${header.stateRoot}`);
}
