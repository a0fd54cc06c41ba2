import { readFileSync } from "node:fs";
import type { Keys } from "../settings.ts";
import type { SigningKeys } from "../signing-keys.ts";
import { type Proposal, proposalText, type Vote, voteText } from "../types/vote.ts";
import { replaceDurably } from "./record-file.ts";

type SignState = {
  readonly height: number;
  readonly round: number;
  readonly step: number;
  readonly signature: string;
  /** What was signed; empty before the first signature. */
  readonly text: string;
};

/** Steps in the order in which a validator signs them. */
const STEPS = { proposal: 1, prevote: 2, precommit: 3 } as const;

/** A signature was refused: it could contradict one that was given. */
export class SigningRefusedError extends Error {}

/**
 * The validator's key, which signs each step of a round once: what it signed last is on disk before the signature leaves. Asked for the same step again it
 * gives the same signature, with the time of the first one.
 */
export class PrivateValidator {
  readonly keys: Keys;
  readonly #file: string;
  readonly #signing: SigningKeys;
  #state: SignState;

  /** @param file of its signing state */
  constructor(file: string, keys: Keys, signing: SigningKeys) {
    this.keys = keys;
    this.#signing = signing;
    this.#file = file;
    signing.register(keys.validator.publicKey, keys.privateKey);
    this.#state = readSignState(this.#file);
  }

  get address(): string {
    return this.keys.validator.address;
  }

  /** @throws SigningRefusedError */
  signVote(chainId: string, vote: Omit<Vote, "signature">): Vote {
    const signed = this.#sign({ ...vote, step: STEPS[vote.type] }, (time) => voteText(chainId, { ...vote, time }));
    return { ...vote, ...signed };
  }

  /** @throws SigningRefusedError */
  signProposal(chainId: string, proposal: Omit<Proposal, "signature">): Proposal {
    const signed = this.#sign({ ...proposal, step: STEPS.proposal }, (time) =>
      proposalText(chainId, { ...proposal, time }),
    );
    return { ...proposal, ...signed };
  }

  /** @param textAt what is signed, with a time */
  #sign(
    position: { readonly height: number; readonly round: number; readonly step: number; readonly time: bigint },
    textAt: (time: bigint) => string,
  ): { readonly time: bigint; readonly signature: string } {
    const { height, round, step, time } = position;
    const last = this.#state;
    const order = height - last.height || round - last.round || step - last.step;
    if (order < 0) throw new SigningRefusedError(`regression: signed ${last.height}/${last.round}/${last.step}`);
    if (order === 0) {
      const signedAt = BigInt(last.text.slice(last.text.lastIndexOf("/") + 1) || "0");
      if (last.text !== textAt(signedAt)) throw new SigningRefusedError("conflicting data");
      return { time: signedAt, signature: last.signature };
    }
    const text = textAt(time);
    const signature = this.#signing.sign(this.keys.privateKey, text);
    this.#state = { height, round, step, signature, text };
    replaceDurably(this.#file, signStateJson(this.#state));
    return { time, signature };
  }
}

type SignStateFile = {
  readonly height: string;
  readonly round: number;
  readonly step: number;
  readonly signature?: string;
  readonly signbytes?: string;
};

function readSignState(file: string): SignState {
  const {
    height,
    round,
    step,
    signature = "",
    signbytes = "",
  } = JSON.parse(readFileSync(file, "utf8")) as SignStateFile;
  return {
    height: Number(height),
    round,
    step,
    signature: Buffer.from(signature, "base64").toString("hex"),
    text: Buffer.from(signbytes, "hex").toString("utf8"),
  };
}

function signStateJson({ height, round, step, signature, text }: SignState): string {
  const file: SignStateFile = {
    height: String(height),
    round,
    step,
    signature: Buffer.from(signature, "hex").toString("base64"),
    signbytes: Buffer.from(text).toString("hex").toUpperCase(),
  };
  return JSON.stringify(file, null, 2);
}
