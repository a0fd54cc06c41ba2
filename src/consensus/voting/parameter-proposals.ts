import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { NodeError } from "../../base/errors.ts";
import type { ChainConfig } from "../../base/params/chain-config.ts";
import type { Address } from "../../base/primitives/address.ts";
import type { Agreement, Parameter } from "../../chain/agreement/agreement.ts";
import { makeFolder } from "../../store/storage/make-folder.ts";
import { replaceFile } from "../../store/storage/replace-file.ts";
import { isKnownParameter, whyRefused } from "./parameters.ts";
import { EPOCH_BLOCKS, VOTES_PER_SIGNER_MAX } from "./snapshot.ts";

/** Too many local proposals: one must be discarded first. */
class TooManyParameterProposalsError extends NodeError {
  readonly code = "CLIQUE_TOO_MANY_PROPOSALS";
  constructor() {
    const limit = VOTES_PER_SIGNER_MAX;
    super(`at most ${limit} proposals on rules are allowed: discard one first`, { limit });
  }
}

/** The proposals file has other content. */
class ParameterProposalsFileError extends NodeError {
  readonly code = "CLIQUE_PROPOSALS_FILE";
}

/** This node's votes about rules, cast when it proposes blocks until they are discarded. Rejects more than a validator may have open. */
export class ParameterProposals {
  readonly #path: string | undefined;
  #parameters: readonly Parameter[];

  /**
   * @param path of the file, which the first proposal creates; undefined: nothing is stored
   * @throws ParameterProposalsFileError
   */
  constructor(path: string | undefined) {
    this.#path = path;
    this.#parameters = path === undefined ? [] : read(path);
  }

  /** By name. */
  all(): readonly Parameter[] {
    return this.#parameters;
  }

  /** Durable when it returns. @throws TooManyParameterProposalsError, and errors of the disk */
  propose(parameter: Parameter): void {
    const others = this.#parameters.filter(({ name }) => name !== parameter.name);
    if (others.length >= VOTES_PER_SIGNER_MAX) throw new TooManyParameterProposalsError();
    this.#store([...others, parameter]);
  }

  /** Does nothing if there is no proposal on `name`. */
  discard(name: string): void {
    const others = this.#parameters.filter((parameter) => parameter.name !== name);
    if (others.length < this.#parameters.length) this.#store(others);
  }

  /** The vote for a block: the first proposal that would count and that `proposer` has not voted for. The first block of an epoch has none. */
  next(
    agreement: Pick<Agreement, "values" | "votes">,
    block: {
      readonly proposer: Address;
      readonly height: number;
      readonly timestamp: number;
      readonly config: ChainConfig;
    },
  ): Parameter | undefined {
    if (block.height % EPOCH_BLOCKS === 0) return undefined;
    const isCast = ({ name, value }: Parameter) =>
      agreement.votes.some((cast) => cast.signer === block.proposer && cast.name === name && cast.value === value);
    return this.#parameters.find(
      (parameter) => whyRefused(agreement, parameter, block) === undefined && !isCast(parameter),
    );
  }

  #store(parameters: readonly Parameter[]): void {
    const sorted = [...parameters].sort((a, b) => (a.name < b.name ? -1 : 1));
    if (this.#path !== undefined) write(this.#path, sorted);
    this.#parameters = sorted;
  }
}

/** Decimal text by name: values have up to 64 bits. */
function write(path: string, parameters: readonly Parameter[]): void {
  const entries = parameters.map(({ name, value }) => [name, String(value)]);
  makeFolder(dirname(path));
  replaceFile(path, `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`, 0o600);
}

function read(path: string): readonly Parameter[] {
  let entries: [string, unknown][];
  try {
    entries = Object.entries(JSON.parse(readFileSync(path, "utf8")) as object);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw new ParameterProposalsFileError(`${path} does not contain proposals`, { path }, { cause });
  }
  return entries.map(([name, value]) => {
    if (!isKnownParameter(name) || typeof value !== "string" || !/^\d{1,19}$/.test(value)) {
      throw new ParameterProposalsFileError(`${path}: ${name} is not a proposal on a rule`, { path, name });
    }
    return { name, value: BigInt(value) };
  });
}
