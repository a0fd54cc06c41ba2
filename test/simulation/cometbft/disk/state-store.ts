import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { decodeReply, FrameReader, replyFrame } from "../../../../src/consensus/cometbft/abci/frames.ts";
import type { Reply } from "../../../../src/consensus/cometbft/abci/messages.ts";
import { type ChainState, fromStored, type StoredState, toStored } from "../types/chain-state.ts";
import { type StoredValidators, ValidatorSet } from "../types/validator-set.ts";
import { RecordFile } from "./record-file.ts";

type StateRecord =
  | { readonly kind: "state"; readonly state: StoredState }
  /** The validators from this height on. */
  | { readonly kind: "validators"; readonly from: number; readonly set: StoredValidators }
  /** The reply to FinalizeBlock of a block, before it is committed: a frame in base64. */
  | { readonly kind: "reply"; readonly height: number; readonly frame: string };

/** The file is written anew beyond this size: only the last of its states is needed. */
const FILE_BYTES_MAX = 1 << 20;

/** A node's state after its last block, the validators of each height, and the last reply of the application. */
export class StateStore {
  readonly #file: RecordFile;
  #stored: StoredState | undefined;
  /** `#stored` decoded, once it was used. */
  #state: ChainState | undefined;
  #reply: Extract<StateRecord, { readonly kind: "reply" }> | undefined;
  /** By the height from which they decide. */
  readonly #validators = new Map<number, StoredValidators>();

  /** @param data the `data` directory of a home */
  constructor(data: string) {
    const directory = join(data, "state.db");
    mkdirSync(directory, { recursive: true });
    this.#file = new RecordFile(join(directory, "000001.log"), (body) =>
      this.#see(JSON.parse(Buffer.from(body).toString("utf8")) as StateRecord),
    );
  }

  load(): ChainState | undefined {
    this.#state ??= this.#stored && fromStored(this.#stored);
    return this.#state;
  }

  /** Durable when it returns. */
  save(state: ChainState): void {
    const { lastBlockHeight, initialHeight } = state;
    const height = lastBlockHeight === 0 ? initialHeight : lastBlockHeight + 1;
    const records: StateRecord[] = [];
    if (this.#validators.size === 0) {
      const { lastValidators } = state;
      if (lastValidators) records.push({ kind: "validators", from: height - 1, set: lastValidators.stored() });
      records.push({ kind: "validators", from: height, set: state.validators.stored() });
    }
    if (this.#validators.size === 0 || state.nextValidators.hash() !== state.validators.hash()) {
      records.push({ kind: "validators", from: height + 1, set: state.nextValidators.stored() });
    }
    records.push({ kind: "state", state: toStored(state) });
    for (const record of records) this.#see(record);
    this.#state = state;
    if (this.#file.size > FILE_BYTES_MAX) this.#file.replace(this.#records().map(encode));
    else {
      this.#file.append(...records.map(encode));
      this.#file.sync();
    }
  }

  /** Durable when it returns. */
  saveReply(height: number, reply: Reply<"finalizeBlock">): void {
    const frame = Buffer.from(replyFrame("finalizeBlock", reply)).toString("base64");
    const record: StateRecord = { kind: "reply", height, frame };
    this.#see(record);
    this.#file.append(encode(record));
    this.#file.sync();
  }

  /** undefined where the last reply is that of another block. */
  reply(height: number): Reply<"finalizeBlock"> | undefined {
    if (this.#reply?.height !== height) return undefined;
    const [body] = new FrameReader().push(Buffer.from(this.#reply.frame, "base64"));
    return decodeReply(body!).fields as Reply<"finalizeBlock">;
  }

  /** The validators that decide block `height`; undefined where they are not known. */
  validatorsAt(height: number): ValidatorSet | undefined {
    const from = [...this.#validators.keys()].filter((each) => each <= height).sort((a, b) => b - a)[0];
    if (from === undefined) return undefined;
    const set = ValidatorSet.fromStored(this.#validators.get(from)!);
    if (height > from) set.increment(height - from);
    return set;
  }

  #see(record: StateRecord): void {
    if (record.kind === "state") this.#stored = record.state;
    else if (record.kind === "reply") this.#reply = record;
    else this.#validators.set(record.from, record.set);
  }

  #records(): readonly StateRecord[] {
    const validators = [...this.#validators].map(([from, set]): StateRecord => ({ kind: "validators", from, set }));
    const reply = this.#reply ? [this.#reply] : [];
    return [...validators, ...reply, { kind: "state", state: this.#stored! }];
  }
}

function encode(record: StateRecord): Uint8Array {
  return Buffer.from(JSON.stringify(record));
}
