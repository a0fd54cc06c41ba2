import type { Settings } from "../settings.ts";
import type { SigningKeys } from "../signing-keys.ts";
import { type Header, headerHash } from "../types/block.ts";
import type { ChainState } from "../types/chain-state.ts";
import { ValidatorSet } from "../types/validator-set.ts";
import {
  type BlockId,
  type Commit,
  type CommitSignature,
  digitsOf,
  parseTime,
  votesOf,
  voteText,
} from "../types/vote.ts";
import { faultOfCommit } from "../validate-block.ts";
import type { System } from "../world.ts";

/** A header with the proof that it was decided. */
export type LightBlock = { readonly header: Header; readonly commit: Commit; readonly validators: ValidatorSet };

/** What a server says cannot be believed, or none answers. */
export class LightClientError extends Error {}

type LightClientModules = { readonly system: System; readonly keys: SigningKeys; readonly chainId: string };

/** A light client that begins with a block that the operator trusts: light/client.go. The first server is asked, and the others must agree with it. */
export class LightClient {
  readonly #settings: Settings["stateSync"];
  readonly #modules: LightClientModules;
  readonly #trusted = new Map<number, LightBlock>();

  constructor(settings: Settings["stateSync"], modules: LightClientModules) {
    this.#settings = settings;
    this.#modules = modules;
  }

  /** @throws LightClientError where the servers do not have the trusted block */
  async start(): Promise<void> {
    const { trustHeight, trustHash, rpcServers } = this.#settings;
    if (rpcServers.length < 2)
      throw new LightClientError(`at least 2 RPC servers are required, got ${rpcServers.length}`);
    const block = await this.#fetch(0, trustHeight);
    const hash = headerHash(block.header);
    if (hash !== trustHash) {
      throw new LightClientError(`expected header's hash ${trustHash.toUpperCase()}, but got ${hash.toUpperCase()}`);
    }
    this.#assertDecided(block);
    await this.#compare(block);
    this.#trusted.set(trustHeight, block);
  }

  /** @throws LightClientError */
  async verified(height: number): Promise<LightBlock> {
    const known = this.#trusted.get(height);
    if (known) return known;
    const block = await this.#fetch(0, height);
    await this.#trust(block);
    await this.#compare(block);
    return block;
  }

  /** The state after block `height`, as the two blocks after it prove it. @throws LightClientError */
  async stateAt(height: number, genesis: ChainState): Promise<ChainState> {
    const last = await this.verified(height);
    const current = await this.verified(height + 1);
    const next = await this.verified(height + 2);
    const { appHash, lastResultsHash, appVersion } = current.header;
    return {
      ...genesis,
      params: { ...genesis.params, appVersion },
      lastBlockHeight: height,
      lastBlockTime: last.header.time,
      lastBlockId: last.commit.blockId,
      appHash,
      lastResultsHash,
      lastValidators: last.validators,
      validators: current.validators,
      nextValidators: next.validators,
    };
  }

  /** From the nearest trusted block below: by its validators where enough of them signed, or by blocks between. */
  async #trust(block: LightBlock): Promise<void> {
    this.#assertDecided(block);
    const { height } = block.header;
    const below = [...this.#trusted.keys()].filter((each) => each < height);
    if (below.length === 0) throw new LightClientError(`height ${height} is below the trusted one`);
    const base = this.#trusted.get(Math.max(...below))!;
    const isNext = base.header.height + 1 === height;
    if (isNext && base.header.nextValidatorsHash !== block.header.validatorsHash) {
      throw new LightClientError("expected old header's next validators to match those from new header");
    }
    if (!isNext && !this.#isSignedByThird(base.validators, block.commit)) {
      await this.verified(Math.floor((base.header.height + height) / 2));
      return this.#trust(block);
    }
    this.#trusted.set(height, block);
  }

  #isSignedByThird(validators: ValidatorSet, commit: Commit): boolean {
    const { keys, chainId } = this.#modules;
    let power = 0;
    for (const vote of votesOf(commit)) {
      const validator = validators.byAddress(vote.address);
      if (validator === undefined || vote.blockId === undefined) continue;
      if (keys.isSignedBy(validator.publicKey, voteText(chainId, vote), vote.signature)) power += validator.power;
    }
    return power > Math.floor(validators.totalPower / 3);
  }

  #assertDecided({ header, commit, validators }: LightBlock): void {
    const { chainId, keys } = this.#modules;
    const hash = headerHash(header);
    const blockId = { ...commit.blockId, hash };
    const fault =
      (header.chainId === chainId ? undefined : `header belongs to another chain ${header.chainId}`) ??
      (validators.hash() === header.validatorsHash ? undefined : "validators do not match those of the header") ??
      faultOfCommit(commit, { chainId, height: header.height, blockId, validators, keys });
    if (fault !== undefined) throw new LightClientError(fault);
  }

  /** Others can be away; one that contradicts ends it. */
  async #compare({ header }: LightBlock): Promise<void> {
    const { rpcServers } = this.#settings;
    let agreeing = 0;
    for (let server = 1; server < rpcServers.length; server++) {
      const other = await this.#fetch(server, header.height).catch((error: unknown) => {
        if (!(error instanceof LightClientError)) throw error;
        return undefined;
      });
      if (other === undefined) continue;
      if (headerHash(other.header) !== headerHash(header)) {
        throw new LightClientError("a witness has a conflicting header; supply a new set of witnesses");
      }
      agreeing++;
    }
    if (agreeing === 0) throw new LightClientError("no witnesses connected. please reset light client");
  }

  /** @throws LightClientError */
  async #fetch(server: number, height: number): Promise<LightBlock> {
    const { system } = this.#modules;
    const address = this.#settings.rpcServers[server]!;
    try {
      const params = { height: String(height) };
      const commit = (await system.callRpc(address, "commit", params)) as CommitAnswer;
      const { validators } = (await system.callRpc(address, "validators", {
        ...params,
        per_page: "100",
      })) as ValidatorsAnswer;
      const block = lightBlockOf(commit, validators);
      if (block.header.height !== height) throw new LightClientError("another block than was asked for");
      return block;
    } catch (cause) {
      throw new LightClientError(`${address}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    }
  }
}

type BlockIdAnswer = { readonly hash: string; readonly parts: { readonly total: number; readonly hash: string } };
type CommitAnswer = {
  readonly signed_header: {
    readonly header: Readonly<Record<string, string>> & {
      readonly version: { readonly app: string };
      readonly last_block_id: BlockIdAnswer;
    };
    readonly commit: {
      readonly height: string;
      readonly round: number;
      readonly block_id: BlockIdAnswer;
      readonly signatures: readonly {
        readonly block_id_flag: CommitSignature["flag"];
        readonly validator_address: string;
        readonly timestamp: string;
        readonly signature: string | null;
      }[];
    };
  };
};
type ValidatorsAnswer = {
  readonly validators: readonly {
    readonly address: string;
    readonly pub_key: { readonly value: string };
    readonly voting_power: string;
    readonly proposer_priority: string;
  }[];
};

function lightBlockOf({ signed_header }: CommitAnswer, validators: ValidatorsAnswer["validators"]): LightBlock {
  const { header, commit } = signed_header;
  const digits = (name: string) => (header[name] as unknown as string).toLowerCase();
  const entries = validators.map(({ address, pub_key, voting_power, proposer_priority }) => ({
    address: address.toLowerCase(),
    publicKey: digitsOf(Buffer.from(pub_key.value, "base64")),
    power: Number(voting_power),
    priority: Number(proposer_priority),
  }));
  return {
    header: {
      appVersion: Number(header.version.app ?? "0"),
      chainId: header["chain_id"] as unknown as string,
      height: Number(header["height"]),
      time: parseTime(header["time"] as unknown as string),
      lastBlockId: blockIdOf(header.last_block_id),
      lastCommitHash: digits("last_commit_hash"),
      dataHash: digits("data_hash"),
      validatorsHash: digits("validators_hash"),
      nextValidatorsHash: digits("next_validators_hash"),
      consensusHash: digits("consensus_hash"),
      appHash: digits("app_hash"),
      lastResultsHash: digits("last_results_hash"),
      evidenceHash: digits("evidence_hash"),
      proposer: digits("proposer_address"),
    },
    commit: {
      height: Number(commit.height),
      round: commit.round,
      blockId: blockIdOf(commit.block_id)!,
      signatures: commit.signatures.map(({ block_id_flag, validator_address, timestamp, signature }) => ({
        flag: block_id_flag,
        address: validator_address.toLowerCase(),
        time: parseTime(timestamp),
        signature: digitsOf(Buffer.from(signature ?? "", "base64")),
      })),
    },
    // An answer has no proposer: the real program takes the validator of lowest priority, which proposed last.
    validators: ValidatorSet.fromStored({ validators: entries, proposer: lastProposerOf(entries) }),
  };
}

function lastProposerOf(entries: readonly { readonly address: string; readonly priority: number }[]): string {
  return entries.reduce((a, b) => {
    const isBefore = a.priority === b.priority ? a.address < b.address : a.priority > b.priority;
    return isBefore ? b : a;
  }).address;
}

function blockIdOf({ hash, parts }: BlockIdAnswer): BlockId | undefined {
  if (hash === "") return undefined;
  return { hash: hash.toLowerCase(), parts: { total: parts.total, hash: parts.hash.toLowerCase() } };
}
