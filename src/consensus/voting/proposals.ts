import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { addressOfCompressedKey } from "../../base/crypto/compressed-public-key.ts";
import { NodeError } from "../../base/errors.ts";
import { type Address, parseAddress } from "../../base/primitives/address.ts";
import { EMPTY_BYTES, equalBytes } from "../../base/primitives/bytes.ts";
import { bytesToHex, hexToBytes } from "../../base/primitives/hex.ts";
import { makeFolder } from "../../store/storage/make-folder.ts";
import { replaceFile } from "../../store/storage/replace-file.ts";
import { EPOCH_BLOCKS, isMeaningful, type Snapshot, type Vote } from "./snapshot.ts";

/** The maximum number of validators: nobody needs more proposals. */
export const PROPOSALS_MAX = 100;

/** Too many local proposals: one must be discarded first. */
class TooManyProposalsError extends NodeError {
  readonly code = "CLIQUE_TOO_MANY_PROPOSALS";
  constructor() {
    super(`at most ${PROPOSALS_MAX} proposals are allowed: discard one first`, { limit: PROPOSALS_MAX });
  }
}

/** The proposals file has other content. */
class ProposalsFileError extends NodeError {
  readonly code = "CLIQUE_PROPOSALS_FILE";
}

/** This node's votes, cast when it proposes blocks until they are discarded. */
export type Proposals = {
  all(): readonly Vote[];
  /** Durable when it returns. @throws TooManyProposalsError, and errors of the disk */
  propose(vote: Vote): void;
  discard(candidate: Address): void;
  /**
   * The vote for block `height`: of the proposals that would change `snapshot` and that `proposer` has not voted for in it, the one with the
   * lowest address. As in EIP-225, the first block of an epoch has none.
   */
  next(snapshot: Snapshot, proposer: Address, height: number): Vote | undefined;
};

type FileEntry = { readonly authorize: boolean; readonly publicKey: string };

/** @param path of the file, which the first proposal creates; undefined: nothing is stored */
export function openProposals(path: string | undefined): Proposals {
  let votes = path === undefined ? [] : read(path);

  function store(changed: readonly Vote[]): void {
    const sorted = [...changed].sort((a, b) => (a.candidate < b.candidate ? -1 : 1));
    if (path !== undefined) write(path, sorted);
    votes = sorted;
  }

  return {
    all: () => votes,
    propose(vote) {
      const others = votes.filter(({ candidate }) => candidate !== vote.candidate);
      if (others.length >= PROPOSALS_MAX) throw new TooManyProposalsError();
      store([...others, vote]);
    },
    discard(candidate) {
      const others = votes.filter((vote) => vote.candidate !== candidate);
      if (others.length < votes.length) store(others);
    },
    next(snapshot, proposer, height) {
      if (height % EPOCH_BLOCKS === 0) return undefined;
      const isCast = (vote: Vote) =>
        snapshot.votes.some(
          (cast) =>
            cast.signer === proposer && cast.candidate === vote.candidate && equalBytes(cast.publicKey, vote.publicKey),
        );
      return votes.find((vote) => isMeaningful(snapshot, vote) && !isCast(vote));
    },
  };
}

function write(path: string, votes: readonly Vote[]): void {
  const entries = votes.map(({ candidate, authorize, publicKey }): [string, FileEntry] => [
    candidate,
    { authorize, publicKey: bytesToHex(publicKey) },
  ]);
  makeFolder(dirname(path));
  replaceFile(path, `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`, 0o600);
}

/** @throws ProposalsFileError */
function read(path: string): readonly Vote[] {
  try {
    const entries = JSON.parse(readFileSync(path, "utf8")) as Record<string, FileEntry>;
    return Object.entries(entries).map(([address, { authorize, publicKey }]) =>
      voteOf(parseAddress(address), authorize, hexToBytes(publicKey)),
    );
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw new ProposalsFileError(`${path} does not contain proposals`, { path }, { cause });
  }
}

function voteOf(candidate: Address, authorize: boolean, publicKey: Uint8Array): Vote {
  if (!authorize) return { candidate, authorize: false, publicKey: EMPTY_BYTES };
  if (addressOfCompressedKey(publicKey) !== candidate) {
    throw new ProposalsFileError(`the public key of ${candidate} belongs to another address`);
  }
  return { candidate, authorize: true, publicKey };
}
