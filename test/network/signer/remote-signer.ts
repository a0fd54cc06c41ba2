import { connect, type Socket } from "node:net";
import { compressPublicKey } from "../../../src/base/crypto/compressed-public-key.ts";
import { publicKeyFromPrivate, sign } from "../../../src/base/crypto/secp256k1.ts";
import { bigintToFixedBytes, concatBytes } from "../../../src/base/primitives/bytes.ts";
import { keccak256 } from "../../../src/base/primitives/keccak.ts";
import {
  decodeMessage,
  encodeMessage,
  encodeVarint,
  type MessageOf,
  message,
  optional,
  single,
} from "../../../src/consensus/cometbft/abci/protobuf.ts";
import { blockId } from "../../../src/consensus/cometbft/rpc/block.ts";
import { comparePositions, type SigningPosition } from "../../../src/consensus/cometbft/signing/signing-state.ts";
import { type MessageStream, plainMessages, secretMessages } from "./secret-connection.ts";

const timestamp = message({ seconds: single(1, "int64"), nanos: single(2, "int32") });
const vote = message({
  type: single(1, "int32"),
  height: single(2, "int64"),
  round: single(3, "int32"),
  blockId: single(4, blockId),
  time: single(5, timestamp),
  validator: single(6, "bytes"),
  index: single(7, "int32"),
  signature: single(8, "bytes"),
  extension: single(9, "bytes"),
});
const proposal = message({
  type: single(1, "int32"),
  height: single(2, "int64"),
  round: single(3, "int32"),
  polRound: single(4, "int32"),
  blockId: single(5, blockId),
  time: single(6, timestamp),
  signature: single(7, "bytes"),
});
/** What is signed: proto/tendermint/types/canonical.proto. */
const canonicalVote = message({
  type: single(1, "int32"),
  height: single(2, "sfixed64"),
  round: single(3, "sfixed64"),
  blockId: optional(4, blockId),
  time: single(5, timestamp),
  chainId: single(6, "string"),
});
const canonicalProposal = message({
  type: single(1, "int32"),
  height: single(2, "sfixed64"),
  round: single(3, "sfixed64"),
  polRound: single(4, "int64"),
  blockId: optional(5, blockId),
  time: single(6, timestamp),
  chainId: single(7, "string"),
});

const error = message({ code: single(1, "int32"), description: single(2, "string") });
const publicKey = message({ secp256k1eth: single(5, "bytes") });
/** proto/tendermint/privval/types.proto */
const envelope = message({
  publicKeyRequest: optional(1, message({ chainId: single(1, "string") })),
  publicKeyReply: optional(2, message({ publicKey: single(1, publicKey) })),
  voteRequest: optional(3, message({ vote: single(1, vote), chainId: single(2, "string") })),
  voteReply: optional(4, message({ vote: single(1, vote), error: optional(2, error) })),
  proposalRequest: optional(5, message({ proposal: single(1, proposal), chainId: single(2, "string") })),
  proposalReply: optional(6, message({ proposal: single(1, proposal), error: optional(2, error) })),
  pingRequest: optional(7, message({})),
  pingReply: optional(8, message({})),
});
type Envelope = Partial<MessageOf<typeof envelope>>;
type SignedFields = Pick<MessageOf<typeof vote>, "type" | "height" | "round" | "blockId" | "time">;

const PREVOTE = 1;
const RETRY_MS = 200;

/** A signer of CometBFT's protocol in this process, which holds a validator's key and signs each step of a round once. */
export class RemoteSigner {
  readonly #privateKey: Uint8Array;
  readonly #address: string;
  #last: SigningPosition = { height: 0, round: 0, step: 0 };
  #socket: Socket | undefined;
  #retry: NodeJS.Timeout | undefined;
  #isClosed = false;
  /** Signatures given. */
  votes = 0;
  proposals = 0;
  pings = 0;

  /** @param address unix://path or tcp://host:port, where CometBFT listens; tried until it does */
  constructor(address: string, privateKey: Uint8Array) {
    this.#address = address;
    this.#privateKey = privateKey;
    this.#connect();
  }

  /** compressed, 33 bytes */
  get publicKey(): Uint8Array {
    return compressPublicKey(publicKeyFromPrivate(this.#privateKey));
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    this.#socket?.destroy();
  }

  #connect(): void {
    const path = /^unix:\/\/(.*)$/.exec(this.#address)?.[1];
    const { hostname, port } = new URL(this.#address.replace(/^tcp:/, "http:"));
    const socket = path === undefined ? connect(Number(port), hostname) : connect(path);
    this.#socket = socket;
    const stream: { current?: MessageStream } = {};
    const onMessage = (bytes: Uint8Array) => stream.current!.send(this.#answer(bytes));
    socket.once("connect", () => {
      stream.current =
        path === undefined ? secretMessages(socket, { onReady() {}, onMessage }) : plainMessages(socket, onMessage);
    });
    socket.on("error", () => {});
    socket.once("close", () => {
      if (!this.#isClosed) this.#retry = setTimeout(() => this.#connect(), RETRY_MS);
    });
  }

  #answer(bytes: Uint8Array): Uint8Array {
    return encodeMessage(envelope, this.#replyTo(decodeMessage(envelope, bytes)));
  }

  #replyTo({ publicKeyRequest, voteRequest, proposalRequest }: Envelope): Envelope {
    if (publicKeyRequest) return { publicKeyReply: { publicKey: { secp256k1eth: this.publicKey } } };
    if (voteRequest) {
      const asked = voteRequest.vote;
      const step = asked.type === PREVOTE ? 2 : 3;
      if (!this.#advance(asked, step)) return { voteReply: { vote: asked, error: REFUSED } };
      this.votes++;
      const signed = encodeMessage(canonicalVote, { ...canonical(asked), chainId: voteRequest.chainId });
      return { voteReply: { vote: { ...asked, signature: this.#sign(signed) }, error: undefined } };
    }
    if (proposalRequest) {
      const asked = proposalRequest.proposal;
      if (!this.#advance(asked, 1)) return { proposalReply: { proposal: asked, error: REFUSED } };
      this.proposals++;
      const signed = encodeMessage(canonicalProposal, {
        ...canonical(asked),
        polRound: BigInt(asked.polRound),
        chainId: proposalRequest.chainId,
      });
      return { proposalReply: { proposal: { ...asked, signature: this.#sign(signed) }, error: undefined } };
    }
    this.pings++;
    return { pingReply: {} };
  }

  /** @returns false where that, or something after it, was signed already */
  #advance({ height, round }: Pick<SignedFields, "height" | "round">, step: number): boolean {
    const position = { height: Number(height), round, step };
    if (comparePositions(position, this.#last) <= 0) return false;
    this.#last = position;
    return true;
  }

  /** r ‖ s ‖ v over the message after its length. */
  #sign(signed: Uint8Array): Uint8Array {
    const digest = keccak256(concatBytes(encodeVarint(signed.length), signed));
    const { r, s, yParity } = sign(digest, this.#privateKey);
    return concatBytes(bigintToFixedBytes(r, 32), bigintToFixedBytes(s, 32), Uint8Array.of(yParity));
  }
}

const REFUSED = { code: 1, description: "signed already" };

function canonical({ type, height, round, blockId, time }: SignedFields) {
  return { type, height, round: BigInt(round), time, ...(blockId.hash.length > 0 && { blockId }) };
}
